"""The last step of a fit on ranks: what `factorize.finish` and `divergence` are on one machine, each rank for its part."""

from __future__ import annotations

import numpy as np

from partwise.algorithms.distributed.spread import Spread
from partwise.algorithms.single.exact import exact_update
from partwise.algorithms.single.problem import Problem
from partwise.currency import Array
from partwise.estimators.settings import NORMS
from partwise.start import Products


def finish(sides: Products, Wt: Array, H: Array, normalize: str | None, problem: Problem) -> tuple[Array, Array]:
    """(Wt, H): components of the wished norm, and W exactly for them. A collective call, of one pass over X."""
    if normalize is not None:
        H, Wt = rescaled(sides, H, Wt, NORMS[normalize], 0)
    Wt, _ = exact_update(problem)(np.zeros_like(Wt), sides.pair(H, Wt), ())
    return Wt, H


def rescaled(sides: Products, H: Array, Wt: Array, order: int, fixed: int) -> tuple[Array, Array]:
    """Rows of H of norm one over all their columns, their lengths given to W; rows of zeros and the first `fixed` stay."""
    lengths = sides.columns.sum((H.astype(np.float64) ** order).sum(axis=1, keepdims=True)) ** (1 / order)
    lengths[:fixed] = 1
    lengths[lengths == 0] = 1
    scale = lengths.astype(H.dtype)
    return H / scale, Wt * scale


def sq_error(X: Spread, sides: Products, Wt: Array, H: Array) -> float:
    """‖X − WH‖², from the residual: one more pass over X, and every digit. A collective call."""
    return X.total(_residual(X, sides, Wt, H))


def _residual(X: Spread, sides: Products, Wt: Array, H: Array) -> float:
    """‖X − WH‖² over the entries that this rank counts as its own."""
    cut, own = X.layout, X.here
    if cut.kind == "both":
        return sum(_against(X, sides, Wt, H, other) for other in range(cut.ranks))
    if cut.kind == "grid":
        (pr, pc), (i, j) = cut.grid, cut.place(X.shard.rank)
        Wt = X.grid.row.gather(Wt, [sides.rows.widths[i * pc + other] for other in range(pc)])
        H = X.grid.column.gather(H, [sides.columns.widths[other * pc + j] for other in range(pr)])
    elif cut.kind == "shared":
        of_row, of_column = cut.block(X.shard.rank) or (slice(0), slice(0))
        Wt, H = np.ascontiguousarray(Wt[:, of_row]), np.ascontiguousarray(H[:, of_column])
    return 2 * own.divergence(Wt, H, 2)


def _against(X: Spread, sides: Products, Wt: Array, H: Array, other: int) -> float:
    """This rank's rows, in the columns of which another has H."""
    part = X.layout.part_H(other)
    theirs = H if other == X.shard.rank else np.empty((len(H), sides.columns.widths[other]), H.dtype)
    return 2 * X.here.T.rows(part).T.divergence(Wt, X.comm.broadcast(theirs, other), 2)
