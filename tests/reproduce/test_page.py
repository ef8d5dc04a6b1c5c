"""docs/reproduced.md is what docs/build_reproduced.py makes of the stored results, and these are judged as they were."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from partwise.reproduce.checking import stored_folder
from partwise.reproduce.experiment import verdict

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def page():
    spec = importlib.util.spec_from_file_location("build_reproduced", ROOT / "docs" / "build_reproduced.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_up_to_date(page):
    assert (ROOT / "docs" / "reproduced.md").read_text("utf-8") == page.rendered(), (
        "run: python docs/build_reproduced.py"
    )


def test_every_experiment_has_a_stored_result(page):
    assert stored_folder() == page.RESULTS
    missing = [experiment.key for experiment in page.EXPERIMENTS if not page.is_stored(experiment)]
    assert not missing
    assert {path.name for path in page.RESULTS.iterdir()} == {experiment.key for experiment in page.EXPERIMENTS}


def test_stored_results_are_judged_as_they_were(page):
    for experiment in filter(page.is_stored, page.EXPERIMENTS):
        facts, _, found = page.stored(experiment)
        assert facts["verdict"] == verdict(found), experiment.key


def test_what_ships_is_small(page):
    assert sum(path.stat().st_size for path in page.RESULTS.rglob("*") if path.is_file()) < 2_000_000
