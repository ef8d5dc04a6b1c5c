"""Draw docs/parts.png: the 16 parts of the digits, and three digits as sums of them.

python docs/make_picture.py          needs matplotlib, which the extra [report] brings
"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_digits

from partwise import factorize

PICTURE = Path(__file__).resolve().parent / "parts.png"
COMPONENTS, SHOWN = 16, 3  # parts in all, and those that a sum shows


def main() -> None:
    """Factorize and draw; the same call as `partwise fit digits -k 16 --seed 0`."""
    X = load_digits().data
    found = factorize(X, COMPONENTS, seed=0)
    with mpl.rc_context({"font.size": 8}):
        figure = Figure(figsize=(7.2, 2.9), layout="constrained")
        parts, sums = figure.subfigures(1, 2, width_ratios=[1, 1.35])
        draw_parts(parts, found.H)
        draw_sums(sums, X, found.W, found.H)
        figure.savefig(PICTURE, dpi=150)


def draw_parts(figure, H: np.ndarray) -> None:
    """H (16, 64), each row as a picture of 8 × 8 pixels."""
    figure.suptitle("The 16 parts (rows of H)")
    for axes, part in zip(figure.subplots(4, 4).flat, H, strict=True):
        show(axes, part)


def draw_sums(figure, X: np.ndarray, W: np.ndarray, H: np.ndarray) -> None:
    """Some rows of X, the parts that weigh most in them, and what all parts add up to."""
    figure.suptitle("Digits as sums of parts")
    rows = figure.subplots(3, SHOWN + 2)
    for axes, i in zip(rows, (0, 3, 8), strict=True):
        weights = W[i] * np.linalg.norm(H, axis=1)
        heaviest = np.argsort(weights)[::-1][:SHOWN]
        show(axes[0], X[i], "digit" if i == 0 else "")
        for place, (at, j) in enumerate(zip(axes[1:], heaviest, strict=False)):
            show(at, W[i, j] * H[j], "its three heaviest parts" if (i, place) == (0, 1) else "", high=X[i].max())
        show(axes[-1], W[i] @ H, "all parts" if i == 0 else "")


def show(axes, values: np.ndarray, title: str = "", high: float | None = None) -> None:
    """One picture of 8 × 8 pixels."""
    axes.imshow(values.reshape(8, 8), cmap="Greys", vmin=0, vmax=high)
    axes.set_title(title, fontsize=7)
    axes.set_xticks([])
    axes.set_yticks([])


if __name__ == "__main__":
    main()
