"""The library as a wheel, installed elsewhere: with all that the explorables need beside their Python."""

import shutil
import subprocess
import sys
from pathlib import Path

from attention_lib import explorables
from attention_lib.explorables._web import bundle

ROOT = Path(__file__).resolve().parent.parent
SHOW = """
import attention_lib, sys
from pathlib import Path
from attention_lib import explorables
from attention_lib.explorables._web import bundle
assert Path(attention_lib.__file__).is_relative_to(sys.argv[1]), attention_lib.__file__
for module in explorables.modules():
    it = explorables.load(module)()
    assert it._esm == bundle(module) and ".ex-plane" in it._css and "<table>" in it.to_html()
    print(module, len(it._esm))
"""


def run(*command, **options):
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_an_installed_wheel_has_every_explorable(tmp_path):
    """Built from a copy, without a network: pip leaves things in the folder that it builds in."""
    copy, wheels, there = tmp_path / "copy", tmp_path / "wheels", tmp_path / "installed"
    for name in ("attention_lib", "LICENSES"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copyfile(ROOT / name, copy / name)
    pip = ["-m", "pip", "--disable-pip-version-check", "--no-input"]
    run(*pip, "wheel", "--no-index", "--no-deps", "--no-build-isolation", "--wheel-dir", wheels, copy)
    run(*pip, "install", "--no-index", "--no-deps", "--target", there, *wheels.glob("*.whl"))
    printed = run("-W", "error", "-c", SHOW, there, cwd=tmp_path, env={"PYTHONPATH": str(there)})
    assert printed.split() == [word for each in explorables.modules() for word in (each, str(len(bundle(each))))]
