"""Figures: the same bytes for the same values, and readable."""

from __future__ import annotations

import pytest

from partwise.errors import MissingExtraError
from partwise.reports import figures
from partwise.reports.figures import Bars, Figure, Line, Panel, Tile, draw

EVERYTHING = Figure(
    [
        Panel("curves", [Line("a", [1, 10, 100], [1, 0.5, 0.3], [0.9, 0.4, 0.2], [1.1, 0.6, 0.4]), Line("b", [1, 9], [2, 1])],
              "seconds", "error", "log", "log", [("goal", 0.4)]),
        Bars("bars", ["one", "two"], {"a": [1, 2], "c": [2, 1]}, "times"),
        Tile("pictures", [[[0, 1], [1, 0]], [[1, 1], [0, 0]], [[0, 0], [0, 0]]]),
        Panel("nothing", [], "x", "y"),
    ],
    "everything",
)  # fmt: skip


def test_the_same_values_make_the_same_bytes(tmp_path):
    first = [path.read_bytes() for path in draw(EVERYTHING, tmp_path / "one")]
    second = [path.read_bytes() for path in draw(EVERYTHING, tmp_path / "two")]
    assert first == second
    svg = first[0].decode()
    for word in ("seconds", "error", "goal", "everything", ">a<", ">c<"):
        assert word in svg
    assert "<dc:date>" not in svg


def test_a_label_has_one_style_in_all_panels():
    styles = figures._styles(EVERYTHING)
    assert list(styles) == ["a", "b", "c"]
    for look in ("color", "linestyle", "marker"):
        assert len({str(style[look]) for style in styles.values()}) == 3


def test_without_matplotlib_there_is_a_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(figures, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"partwise\[report\]"):
        draw(EVERYTHING, tmp_path / "none")
    assert list(tmp_path.iterdir()) == []


def test_pictures_are_laid_out_with_a_margin():
    whole = figures.mosaic([[[0, 1], [2, 4]]] * 3)
    assert whole.shape == (5, 5)
    assert whole[0].tolist() == [0, 0.25, 0, 0, 0.25]
