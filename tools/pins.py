"""Write constraints.txt: the exact version of every package that the requirement files lead to.

After changing a pin in a requirement file: install it (``make test`` does), run this, look at the diff.
Versions come from the packages in .venv; those that only another system needs keep the version they had.
"""

import re
from importlib import metadata
from itertools import product
from pathlib import Path

from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
CONSTRAINTS = ROOT / "constraints.txt"
REQUIREMENTS = [ROOT / "requirements.txt", ROOT / "requirements-test.txt"]
SYSTEMS = [("Linux", "linux", "posix"), ("Darwin", "darwin", "posix"), ("Windows", "win32", "nt")]
MACHINES = [
    default_environment()
    | {"python_version": version, "python_full_version": f"{version}.0"}
    | dict(zip(("platform_system", "sys_platform", "os_name"), system, strict=True))
    for version, system in product(["3.11", "3.12", "3.13"], SYSTEMS)
]
LIBRARY = "attention-lib"  # installed from this folder
HEAD = "# Written by tools/pins.py: every package that requirements.txt and requirements-test.txt lead to.\n"


def asked_for():
    """Return what the requirement files name."""
    lines = [
        re.sub(r"(^|\s)#.*", "", line).strip() for path in REQUIREMENTS for line in path.read_text("utf8").splitlines()
    ]
    return [Requirement(line) for line in lines if line and not line.startswith("-")] + [
        Requirement(f"{LIBRARY}[plot,explore]")
    ]


def needed():
    """Return the names of all packages these lead to, on any of the machines."""
    found, todo = {}, asked_for()
    while todo:
        requirement = todo.pop()
        name, extras = canonicalize_name(requirement.name), requirement.extras or {""}
        if extras <= found.get(name, set()):
            continue
        found.setdefault(name, set()).update(extras)
        try:
            lines = metadata.requires(name) or []
        except metadata.PackageNotFoundError:  # needed on another system only; it needs nothing itself
            continue
        for each in map(Requirement, lines):
            if each.marker is None or any(
                each.marker.evaluate(machine | {"extra": extra}) for machine in MACHINES for extra in extras
            ):
                todo.append(each)
    return set(found) - {LIBRARY}


def constraints():
    """Return what constraints.txt should say."""
    held = dict(line.split("==") for line in CONSTRAINTS.read_text("utf8").splitlines() if "==" in line)
    versions = {}
    for name in sorted(needed()):
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            versions[name] = held.get(name) or "?"
    return HEAD + "".join(f"{name}=={version}\n" for name, version in versions.items())


if __name__ == "__main__":
    CONSTRAINTS.write_text(constraints(), "utf8")
