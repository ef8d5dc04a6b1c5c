"""docs/reproduced.md is what docs/build_reproduced.py makes of the stored results, and these are judged as they were."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from partwise.reproduce.experiment import Size, verdict
from partwise.reproduce.stored import is_stored, shipped, stored

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
    known = {experiment.key for experiment in page.EXPERIMENTS}
    for size in page.FORMS:
        assert shipped(size) == page.RESULTS / size
        assert {path.name for path in shipped(size).iterdir()} <= known
    missing = [experiment.key for experiment in page.EXPERIMENTS if not is_stored(experiment, Size.QUICK)]
    assert not missing


def test_stored_results_are_judged_as_they_were(page):
    for size in page.FORMS:
        for experiment in page.EXPERIMENTS:
            if is_stored(experiment, size):
                assert stored(experiment, size)[0]["verdict"] == verdict(page.findings(experiment, size)), (
                    experiment.key
                )


def test_the_page_says_where_the_forms_differ(page):
    one = next(experiment for experiment in page.EXPERIMENTS if is_stored(experiment, Size.QUICK))
    quick = page.findings(one, Size.QUICK)
    assert page.otherwise(quick, quick) == "The quick form finds the same."
    turned = [found._replace(met=not found.met) for found in quick[:1]] + quick[1:]
    assert quick[0].seen in page.otherwise(turned, quick)


def test_what_ships_is_small(page):
    assert sum(path.stat().st_size for path in page.RESULTS.rglob("*") if path.is_file()) < 3_000_000
