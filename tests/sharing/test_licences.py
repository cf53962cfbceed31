"""What the repository says of itself: who made it, what others may do with it, how to cite it."""

import hashlib
import re
import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf8"))["project"]
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf8"))


def test_the_licence_says_what_it_covers_and_where_its_text_is():
    said = (ROOT / "LICENSE").read_text("utf8")
    named = re.findall(r"LICENSES/\S+\.txt", said)
    assert sorted(set(named)) == ["LICENSES/CC-BY-4.0.txt", "LICENSES/MIT.txt"]
    assert sorted(f"LICENSES/{path.name}" for path in (ROOT / "LICENSES").iterdir()) == sorted(set(named))


def test_each_folder_of_code_is_named_in_the_licence():
    said = (ROOT / "LICENSE").read_text("utf8")
    folders = {path.relative_to(ROOT).parts[0] for pattern in ("*/*.py", "*/*/*.py") for path in ROOT.glob(pattern)}
    ours = {name for name in folders if not name.startswith((".", "_build")) and name not in {"dist", "build"}}
    assert "attention_lib" in ours
    assert [name for name in sorted(ours) if name not in said] == []


def test_the_texts_of_the_licences_are_whole():
    """Of the second, the text as Creative Commons publishes it, to the byte."""
    mit = (ROOT / "LICENSES" / "MIT.txt").read_text("utf8")
    for words in ("Permission is hereby granted, free of charge", "shall be included in all", 'PROVIDED "AS IS"'):
        assert words in mit
    text = (ROOT / "LICENSES" / "CC-BY-4.0.txt").read_bytes()
    assert hashlib.sha256(text).hexdigest() == "fd3a263fe19ed8faa9068b43abaebafc02c77897b0c6fc09abc04bb592e5f16e"


def test_the_package_carries_the_licence_of_its_code():
    assert PROJECT["license"] == "MIT"
    assert "LICENSES/MIT.txt" in PROJECT["license-files"]


def test_the_citation_names_this_version_and_invents_no_owner():
    assert {"cff-version", "message", "title", "authors", "version", "date-released", "license"} <= CITATION.keys()
    assert str(CITATION["version"]) == PROJECT["version"]
    assert CITATION["title"] == yaml.safe_load((ROOT / "_config.yml").read_text("utf8"))["title"]
    assert CITATION["license"] == ["MIT", "CC-BY-4.0"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", CITATION["date-released"])
    assert [set(author) for author in CITATION["authors"]] == [{"name"}]
    assert not re.search(r"url|repository|orcid|email", " ".join(CITATION))
