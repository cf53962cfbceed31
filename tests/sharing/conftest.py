"""Repositories made for a test, out of reach of the reader's own git."""

import os
import subprocess

import pytest


@pytest.fixture(autouse=True)
def clean(monkeypatch):
    """Keep the reader's own git settings, and a git that called this test, out of it."""
    for name in [name for name in os.environ if name.startswith(("GIT_", "BOOK_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "A Reader")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "reader@example.org")
        monkeypatch.setenv(f"GIT_{name}_DATE", "2026-01-31T23:30:00+0000")


@pytest.fixture
def git(clean):
    """Return a function that runs git in a folder; what fails there fails the test."""

    def run(folder, *arguments):
        subprocess.run(["git", "-C", folder, *arguments], check=True, capture_output=True)

    return run


@pytest.fixture
def clone(git, tmp_path):
    """Return a function that makes a repository with a book in it, and a remote called origin."""

    def make(remote, folder="", branch="main", files={"_config.yml": "title: a book\n"}):
        top = tmp_path / "clone"
        for name, text in files.items():
            file = top / folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, "utf8")
        git(top, "init", "--quiet", f"--initial-branch={branch}")
        git(top, "add", ".")
        git(top, "commit", "--quiet", "--message=start")
        if remote:
            git(top, "remote", "add", "origin", remote)
        return top / folder

    return make


@pytest.fixture
def push(git):
    """Return a function that leaves what a push of `branch` leaves, and what a clone knows of the main branch."""

    def mark(folder, branch, main="main"):
        git(folder, "update-ref", f"refs/remotes/origin/{branch}", "HEAD")
        git(folder, "symbolic-ref", "refs/remotes/origin/HEAD", f"refs/remotes/origin/{main}")

    return mark
