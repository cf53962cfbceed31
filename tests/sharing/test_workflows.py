"""The workflows that test, publish and watch the book, read as GitHub reads them."""

import json
import os
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent.parent
FILES = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
WORKFLOWS = {path.stem: yaml.safe_load(path.read_text("utf8")) for path in FILES}
JOBS = {f"{name}/{job}": given for name, flow in WORKFLOWS.items() for job, given in flow["jobs"].items()}
STEPS = [(name, step) for name, job in JOBS.items() for step in job.get("steps", [])]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf8"))["project"]
# What a job may do beyond reading; anything else needs a reason here.
MAY_WRITE = {
    "publish/notebooks": {"contents": "write"},
    "publish/deploy": {"pages": "write", "id-token": "write"},
    "weekly/report": {"issues": "write"},
}


def version(text):
    return tuple(map(int, re.search(r"\d+(\.\d+)+", text)[0].split(".")))


def test_there_are_workflows_to_test_publish_and_watch():
    assert set(WORKFLOWS) == {"test", "publish", "weekly"}
    triggers = {name: flow[True] for name, flow in WORKFLOWS.items()}  # YAML reads a bare "on" as true
    assert "pull_request" in triggers["test"]
    assert triggers["publish"]["push"] == {"branches": ["main"]}
    assert re.fullmatch(r"\d+ \d+ \* \* \d", triggers["weekly"]["schedule"][0]["cron"])


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_each_action_is_pinned_to_a_commit_with_its_version_beside_it(path):
    used = re.findall(r"uses: (\S+)(.*)", path.read_text("utf8"))
    outside = [(action, rest) for action, rest in used if not action.startswith("./")]
    assert used
    for action, rest in outside:
        assert re.fullmatch(r"actions/[\w-]+@[0-9a-f]{40}", action), action
        assert re.fullmatch(r"  # v\d+\.\d+\.\d+", rest), f"{action} has no version beside it"


def test_an_action_has_one_version_in_all_workflows():
    used = {line for path in FILES for line in re.findall(r"uses: (actions/\S+  # \S+)", path.read_text("utf8"))}
    names = [line.partition("@")[0] for line in used]
    assert len(names) == len(set(names)), sorted(used)


@pytest.mark.parametrize("name", WORKFLOWS)
def test_a_workflow_starts_from_reading_at_most_and_does_not_run_beside_itself(name):
    flow = WORKFLOWS[name]
    assert flow["permissions"] in ({}, {"contents": "read"})
    assert flow["concurrency"]["group"]


@pytest.mark.parametrize("name", JOBS)
def test_a_job_may_do_what_it_needs_and_ends_in_time(name):
    job = JOBS[name]
    granted = job.get("permissions", WORKFLOWS[name.partition("/")[0]]["permissions"])
    writes = {scope: right for scope, right in granted.items() if right != "read"}
    assert writes == MAY_WRITE.get(name, {})
    assert "uses" in job or 0 < job["timeout-minutes"] <= 60


@pytest.mark.parametrize("name", [name for name in JOBS if "uses" not in JOBS[name]])
def test_a_job_that_checks_out_can_do_so_and_keeps_the_token_only_to_push(name):
    steps = [step for step in JOBS[name]["steps"] if "checkout" in step.get("uses", "")]
    granted = JOBS[name].get("permissions", WORKFLOWS[name.partition("/")[0]]["permissions"])
    for step in steps:
        assert granted["contents"] in {"read", "write"}
        kept = step.get("with", {}).get("persist-credentials", True)
        assert kept == (name == "publish/notebooks")


def test_pages_are_built_with_the_whole_history_for_their_dates():
    for name, step in STEPS:
        if name in {"publish/build", "weekly/cold"} and "checkout" in step.get("uses", ""):
            assert step["with"]["fetch-depth"] == 0


def test_the_job_that_may_write_to_the_repository_installs_nothing():
    said = json.dumps(JOBS["publish/notebooks"]["steps"])
    assert not re.search(r"\bpip\b|\bmake\b|setup-python|npm", said)


def test_no_text_from_outside_is_pasted_into_a_script():
    """An expression inside a script is run as code; in the environment it is text."""
    for name, step in STEPS:
        for expression in re.findall(r"\$\{\{\s*(.*?)\s*\}\}", step.get("run", "")):
            assert expression.startswith("matrix."), f"{name}: {expression}"


def test_each_make_target_exists():
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text("utf8"), re.MULTILINE)
    asked = [target for _, step in STEPS for target in re.findall(r"\bmake ([\w-]+)", step.get("run", ""))]
    assert {"test", "test-library", "site", "offline", "links"} == set(asked)
    assert set(asked) <= set(targets)


def test_publishing_waits_for_the_tests_and_for_what_the_pages_link_to():
    jobs = WORKFLOWS["publish"]["jobs"]
    assert jobs["test"]["uses"] == "./.github/workflows/test.yml"
    assert "workflow_call" in WORKFLOWS["test"][True]
    assert jobs["build"]["needs"] == jobs["notebooks"]["needs"] == "test"
    assert set(jobs["deploy"]["needs"]) == {"build", "notebooks"}
    upload = [step["with"]["path"] for step in jobs["build"]["steps"] if "upload-pages" in step.get("uses", "")]
    assert upload == ["dist/site"]


def test_the_oldest_and_the_newest_python_and_numpy_are_tested():
    everything = JOBS["test/everything"]["strategy"]["matrix"]["python"]
    pairs = JOBS["test/library"]["strategy"]["matrix"]["include"]
    oldest = version(PROJECT["requires-python"])
    assert min(map(version, everything)) == oldest
    assert min(version(pair["python"]) for pair in pairs) == oldest
    numpy = next(name for name in PROJECT["dependencies"] if name.startswith("numpy"))
    lowest = next(pair["numpy"] for pair in pairs if version(pair["python"]) == oldest)
    assert lowest == f"=={'.'.join(map(str, version(numpy)))}.0"
    newest = max(pairs, key=lambda pair: version(pair["python"]))
    assert version(newest["python"]) >= max(map(version, everything))
    assert newest["numpy"].startswith(">=")
    # The Makefile's own limits are the ones that are tested.
    limits = re.search(r"\((3, \d+)\) <= .* <= \((3, \d+)\)", (ROOT / "Makefile").read_text("utf8")).groups()
    assert [tuple(map(int, limit.split(", "))) for limit in limits] == sorted(map(version, everything))


@pytest.mark.skipif(os.name == "nt", reason="the workflow runs on Linux")
def test_the_push_for_colab_replaces_the_branch_with_the_copies_and_touches_nothing_else(clone, git, push, tmp_path):
    """The workflow's own script, run here against a repository on this machine."""
    names = ["_ext/ready.py", "_ext/repository.py", "tools/colab.py", "_config.yml"]
    files = {name: (ROOT / name).read_text("utf8") for name in names}
    notebook = {"cells": [{"cell_type": "code", "source": ["1 + 1"]}], "nbformat": 4}
    files |= {"chapters/01-one.ipynb": json.dumps(notebook), ".gitignore": "*.ipynb\n"}
    book = clone("https://github.com/reader/book", files=files)
    git(book, "add", "--force", ".")
    git(book, "commit", "--quiet", "--message=chapters")
    push(book, "main")
    git(tmp_path, "init", "--quiet", "--bare", "hub")
    git(book, "config", f"url.{(tmp_path / 'hub').as_uri()}.insteadOf", "https://github.com/reader/book")
    step = JOBS["publish/notebooks"]["steps"][-1]
    given = step["env"] | {"RUNNER_TEMP": str(tmp_path)}
    for _ in range(2):  # the first time there is no branch; later there is an older one
        script = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        done = subprocess.run(script, cwd=book, env=os.environ | given, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr

    def hub(*arguments):
        done = subprocess.run(["git", "-C", tmp_path / "hub", *arguments], check=True, capture_output=True, text=True)
        return done.stdout.split()

    assert hub("ls-tree", "-r", "--name-only", "colab") == ["chapters/01-one.ipynb"]
    assert "https://github.com/reader/book/archive/main.zip" in " ".join(hub("show", "colab:chapters/01-one.ipynb"))
    assert hub("rev-list", "--count", "colab") == ["1"]
    assert hub("for-each-ref", "--format=%(refname)") == ["refs/heads/colab"]
    left = subprocess.run(["git", "-C", book, "status", "--porcelain"], capture_output=True, text=True, check=True)
    assert left.stdout == ""
