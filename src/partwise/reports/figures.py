"""Figures, all of one style: what is to be seen is a value (`Figure`), and `draw` makes an SVG and a PNG of it.

The only door to matplotlib, which is loaded when a figure is drawn. Lines differ by colour (Okabe & Ito, which colour-blind people
tell apart), by dash and by marker; the same values give the same bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any, final

import numpy as np

from partwise.errors import MissingExtraError

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#E69F00", "#56B4E9", "#882255", "#999933", "#44AA99")
DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (3, 1)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*")
ACROSS = 3  # panels in a row, at most
LETTER, HANDLE = 0.075, 0.6  # inches of a legend's entry, about: for each letter of its name, for its line
STYLE = {
    "font.family": "DejaVu Sans",
    "font.size": 9.0,
    "axes.titlesize": 9.0,
    "axes.labelsize": 8.5,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": "0.9",
    "grid.linewidth": 0.6,
    "legend.fontsize": 8.0,
    "legend.frameon": False,
    "lines.linewidth": 1.5,
    "lines.markersize": 4.0,
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5,
    "svg.fonttype": "none",  # text stays text: small, and can be searched
    "svg.hashsalt": "partwise",
}


@final
@dataclass(frozen=True)
class Line:
    """One curve, with a band from `low` to `high` where these are given."""

    label: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()


@final
@dataclass(frozen=True)
class Panel:
    """Curves over one pair of axes; `levels` are horizontal lines with a name."""

    title: str
    lines: Sequence[Line]
    x_label: str
    y_label: str
    x_scale: str = "linear"  # or "log"
    y_scale: str = "linear"
    levels: Sequence[tuple[str, float]] = ()


@final
@dataclass(frozen=True)
class Bars:
    """Groups of bars: the values of each label, one for each group."""

    title: str
    groups: Sequence[str]
    heights: dict[str, Sequence[float]]
    y_label: str
    y_scale: str = "linear"


@final
@dataclass(frozen=True)
class Tile:
    """A picture."""

    title: str
    pixels: Any  # (height, width), or several pictures of one size: (count, height, width)


@final
@dataclass(frozen=True)
class Figure:
    """Panels side by side, at most ACROSS in a row (four: two and two), below them the lines' names."""

    panels: Sequence[Panel | Bars | Tile]
    title: str = ""
    order: Sequence[str] = field(default=())  # labels in the order in which they get their styles; else as they appear


def can_draw() -> bool:
    """Whether matplotlib is installed."""
    return find_spec("matplotlib") is not None


def draw(figure: Figure, stem: Path) -> list[Path]:
    """Write `stem`.svg and `stem`.png; where they are."""
    if not can_draw():
        raise MissingExtraError("Drawing a figure", "matplotlib", "report")
    from matplotlib import rc_context, rcParamsDefault
    from matplotlib.figure import Figure as Canvas

    style: Any = {**rcParamsDefault, "backend": "agg", **STYLE}
    with rc_context(style):  # the user's own style does not matter
        across = 2 if len(figure.panels) == 4 else min(ACROSS, len(figure.panels))
        down = -(-len(figure.panels) // across)
        picture = Canvas(figsize=(max(3.5 * across, 4.6), 2.8 * down + 0.5), layout="constrained")
        grid = picture.subplots(down, across, squeeze=False).ravel()
        styles = _styles(figure)
        for axes, panel in zip(grid, figure.panels, strict=False):
            _panel(axes, panel, styles)
        for axes in grid[len(figure.panels) :]:
            axes.set_visible(False)
        _legend(picture, grid, across)
        if figure.title:
            picture.suptitle(figure.title, fontsize=10)
        paths = [stem.with_name(f"{stem.name}.{kind}") for kind in ("svg", "png")]
        for path, metadata in zip(paths, ({"Date": None}, {"Software": None}), strict=True):
            picture.savefig(path, dpi=120, metadata=metadata)
    return paths


def _styles(figure: Figure) -> dict[str, dict[str, Any]]:
    """The colour, dash and marker of each label: the same in all panels."""
    labels = list(dict.fromkeys([*figure.order, *(label for panel in figure.panels for label in _labels(panel))]))
    return {
        label: {
            "color": COLOURS[at % len(COLOURS)],
            "linestyle": DASHES[at % len(DASHES)],
            "marker": MARKERS[at % len(MARKERS)],
        }
        for at, label in enumerate(labels)
    }


def _labels(panel: Panel | Bars | Tile) -> list[str]:
    if isinstance(panel, Panel):
        return [line.label for line in panel.lines]
    return list(panel.heights) if isinstance(panel, Bars) else []


def _panel(axes: Any, panel: Panel | Bars | Tile, styles: dict[str, dict[str, Any]]) -> None:
    if isinstance(panel, Panel):
        _curves(axes, panel, styles)
    elif isinstance(panel, Bars):
        _bars(axes, panel, styles)
    else:
        axes.imshow(mosaic(panel.pixels), cmap="gray_r", interpolation="nearest")
        axes.set_xticks([])
        axes.set_yticks([])
        axes.grid(visible=False)
        axes.set_frame_on(False)
    axes.set_title(panel.title)


def _curves(axes: Any, panel: Panel, styles: dict[str, dict[str, Any]]) -> None:
    for name, level in panel.levels:
        axes.axhline(level, color="0.55", linewidth=0.9, linestyle=(0, (1, 1)))
        axes.annotate(
            name, (0.99, level), xycoords=("axes fraction", "data"), ha="right", va="bottom", fontsize=7, color="0.4"
        )
    for line in panel.lines:
        style = styles[line.label]
        axes.plot(line.x, line.y, label=line.label, markevery=max(1, len(line.x) // 8), **style)
        if len(line.low):
            axes.fill_between(line.x, line.low, line.high, color=style["color"], alpha=0.15, linewidth=0)
    axes.set(xscale=panel.x_scale, yscale=panel.y_scale, xlabel=panel.x_label, ylabel=panel.y_label)
    for axis in (axes.xaxis, axes.yaxis):
        _plain_numbers(axis)


def _plain_numbers(axis: Any) -> None:
    """On a logarithmic axis of less than two decades 0.3 rather than 3 × 10⁻¹, and between the decades too; evenly on a short one."""
    low, high = sorted(axis.get_view_interval())
    if axis.get_scale() != "log" or low <= 0 or high / low > 100:
        return
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

    wide = LogLocator(subs=(1.0, 2.0, 3.0, 5.0))
    axis.set_major_locator(wide if high / low > 2.5 else MaxNLocator(5))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def _bars(axes: Any, panel: Bars, styles: dict[str, dict[str, Any]]) -> None:
    places, width = np.arange(len(panel.groups)), 0.8 / max(len(panel.heights), 1)
    hatches = ("", "//", "..", "xx", "\\\\", "--")
    for at, (label, heights) in enumerate(panel.heights.items()):
        left = places - 0.4 + width * (at + 0.5)
        look = {"color": styles[label]["color"], "hatch": hatches[at % len(hatches)], "edgecolor": "white"}
        axes.bar(left, heights, width, label=label, linewidth=0.4, **look)
    axes.set_xticks(places, panel.groups, rotation=30 if max(map(len, panel.groups)) > 8 else 0)
    axes.set(yscale=panel.y_scale, ylabel=panel.y_label)
    axes.grid(visible=False, axis="x")


def _legend(picture: Any, grid: Any, across: int) -> None:
    """All names once, below, in as many columns as there is room for."""
    handles = {label: line for axes in grid for line, label in zip(*axes.get_legend_handles_labels(), strict=True)}
    if handles:
        widest = LETTER * max(map(len, handles)) + HANDLE
        columns = max(1, min(len(handles), 2 * across, int(picture.get_figwidth() / widest)))
        picture.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=columns)


def mosaic(pixels: Any) -> np.ndarray:
    """Several pictures (count, height, width) as one, with a margin, each from its own least to its own most."""
    pixels = np.asarray(pixels, np.float64)
    if pixels.ndim == 2:
        return pixels
    count, height, width = pixels.shape
    across = int(np.ceil(count**0.5))
    down = -(-count // across)
    whole = np.zeros((down * (height + 1) - 1, across * (width + 1) - 1))
    for at, picture in enumerate(pixels):
        top, left = (at // across) * (height + 1), (at % across) * (width + 1)
        spread = float(picture.max() - picture.min()) or 1.0
        whole[top : top + height, left : left + width] = (picture - picture.min()) / spread
    return whole
