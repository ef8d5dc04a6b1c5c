"""The examples of the pages run, and their links lead somewhere."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from partwise.cli import app

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
DOCS = ROOT / "docs"
GUIDES = [
    ROOT / "README.md",
    DOCS / "data.md",
    DOCS / "scikit-learn.md",
    DOCS / "privacy.md",
    DOCS / "cluster.md",
    DOCS / "federated.md",
]  # whose blocks of Python run, in order
SESSIONS = [ROOT / "README.md", DOCS / "cli.md", DOCS / "privacy.md"]  # whose commands are run
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
ERROR = re.compile(r"^(.*)relative error +([\d.]+)", re.MULTILINE)


def name(page):
    return str(page.relative_to(ROOT))


def blocks(page, language):
    """The fenced blocks of one language."""
    return [body for kind, body in FENCE.findall(page.read_text(encoding="utf-8")) if kind == language]


def commands(page):
    """(words after `partwise`, what is shown below) of each command in the page's console blocks."""
    for session in blocks(page, "console"):
        for part in re.split(r"^\$ ", session, flags=re.MULTILINE)[1:]:
            line, _, shown = part.partition("\n")
            program, *words = shlex.split(line, comments=True)
            assert program == "partwise", f"{line!r} in {name(page)} is not a call of partwise"
            yield words, shown


@pytest.fixture
def empty(tmp_path, monkeypatch):
    """An empty folder to work in, and a cache that is not the user's."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PARTWISE_DATA", raising=False)
    monkeypatch.setenv("PARTWISE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path


@pytest.mark.parametrize("page", GUIDES, ids=name)
def test_blocks_of_python_run(page, empty):
    found = blocks(page, "python")
    assert found
    names = {"__name__": "guide"}
    for number, code in enumerate(found, start=1):
        exec(compile(code, f"{name(page)}, block {number}", "exec"), names)


@pytest.mark.parametrize("page", SESSIONS, ids=name)
def test_commands_run_and_print_what_is_shown(page, empty, monkeypatch):
    found = list(commands(page))
    assert found
    for words, shown in found:
        monkeypatch.setattr(sys, "argv", ["partwise", *words])
        result = CliRunner().invoke(app, words, prog_name="partwise")
        assert result.exit_code == 0, f"partwise {shlex.join(words)}: {result.stderr}"
        if shown:
            assert_alike(result.output, shown)


def assert_alike(printed, shown):
    """The same words in the same order, numbers apart; and the same relative errors, nearly, at each iteration that is shown."""
    assert words_of(printed) == words_of(shown)
    told, wanted = (
        dict(ERROR.findall(text)) for text in (printed, shown)
    )  # a slow first iteration has a line of its own
    assert wanted
    for where, error in wanted.items():
        assert float(told[where]) == pytest.approx(float(error), rel=0.02)


def words_of(text):
    """Without numbers and their units; a compilation may have been announced, and lines of progress come as they come."""
    lines = [line for line in text.splitlines() if not line.startswith(("iteration ", "partwise: compiling"))]
    return [word for line in lines for word in line.split() if not re.search(r"\d|^(ms|s|min)$", word)]


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page):
    prose = FENCE.sub("", page.read_text(encoding="utf-8"))
    for target in LINK.findall(prose):
        if not target.startswith(("https://", "#")):
            assert (page.parent / target.partition("#")[0]).exists(), f"{target} in {name(page)}"


def test_every_decision_is_a_short_page_of_one_form():
    pages = sorted((ROOT / "docs" / "decisions").glob("*.md"))
    for number, page in enumerate(pages, start=1):
        text = page.read_text(encoding="utf-8")
        assert page.name.startswith(f"{number:04d}-")
        assert text.startswith(f"# {number}. ")
        assert len(text.splitlines()) < 60
        for part in ("Context", "Decision", "Measured", "Consequences"):
            assert f"**{part}.**" in text, f"{part} is missing in {page.name}"


def test_pages_named_in_the_code_exist():
    named = {
        path
        for file in (ROOT / "src").rglob("*.py")
        for path in re.findall(r"docs/[\w/.-]+\.md", file.read_text("utf-8"))
    }
    assert named
    assert {path for path in named if not (ROOT / path).exists()} == set()
