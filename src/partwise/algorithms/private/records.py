"""What single records contribute. Everything here is a function of one record and of what is public, never of other records.

Rows are scaled, not copied: to length one, or to at most `row_norm`, and in units of it; so ‖x‖ ≤ 1 below.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from partwise.algorithms.private.query import Knowledge
from partwise.algorithms.single.robust import exact_robust_W
from partwise.currency import Array, NormalEq
from partwise.data import Entries, as_matrix
from partwise.data.dense import row_slices
from partwise.data.moments import weighted_mean
from partwise.data.outliers import dense_rows, outliers
from partwise.kernels.threads import side_by_side
from partwise.privacy.clip import clip_scales
from partwise.randomness import Purpose, columns
from partwise.updates import Bpp

SAFE = 1 - 1e-12  # no norm ends above its clip by rounding


def row_scales(X: Entries, known: Knowledge) -> Array:
    """(n,): the factors by which rows are brought to length one, or to at most `row_norm` in units of it."""
    norms = np.sqrt(X.row_sq_norms())
    if known.row_norm is not None:
        return clip_scales(norms, known.row_norm) / known.row_norm * SAFE
    return np.divide(SAFE, norms, out=np.zeros_like(norms), where=norms > 0)


def mean(X: Entries, known: Knowledge) -> Array:
    """(m,): Σ x / n."""
    return weighted_mean(X, row_scales(X, known)) / known.n


def group_sums(X: Entries, known: Knowledge) -> Array:
    """(k, m): Σ x / n over the records of each group. A record's group is the public random direction that it points along most."""
    directions = columns(
        lambda rng, size: rng.standard_normal((size, known.k)), (known.k, known.m), known.seed, Purpose.LOCAL_START
    )
    scales = row_scales(X, known)
    group = np.argmax(X.times(directions), axis=0)
    members = np.zeros((known.k, X.shape[0]))
    members[group, np.arange(X.shape[0])] = scales
    return X.T.times(members) / known.n


class Clips(NamedTuple):
    """Of w, and of the residual where there is one."""

    w: float
    residual: float | None = None


class Parts(NamedTuple):
    """Sums over records, divided by n."""

    pair: NormalEq  # (Σ w wᵀ, Σ w yᵀ), y = x or the residual x − w H
    inside: float  # the share of records whose residual is within its clip


def statistics(X: Entries, known: Knowledge, H: Array, clips: Clips) -> Parts:
    """W by exact nonnegative least squares, row by row; then w and y clipped, each on its own, and summed."""
    gram = H @ H.T
    parts = side_by_side(lambda place: _of_block(place[1], known, H, gram, clips), X.blocks())
    total = Parts(NormalEq(np.zeros_like(gram), np.zeros_like(H)), 0.0)
    for part in parts:
        total = Parts(total.pair.plus(part.pair), total.inside + part.inside)
    return Parts(NormalEq(total.pair.gram / known.n, total.pair.cross / known.n), total.inside / known.n)


class Outlying(NamedTuple):
    """When an entry of a scaled row is an outlier, and how large one may be."""

    penalty: float  # λ
    bound: float  # M


def cleaned_statistics(X: Entries, known: Knowledge, H: Array, outlying: Outlying) -> NormalEq:
    """(Σ w wᵀ, Σ w yᵀ) / n with y = x − r: the exact w and outliers r of each row; w and y clipped to length one.

    For x ≥ 0 an entry of y lies between x and w H, so it is not negative.
    """
    gram, cross = np.zeros((len(H), len(H))), np.zeros_like(H)
    find = partial(outliers, penalty=outlying.penalty, bound=outlying.bound)
    for part in row_slices(X.shape[0], X.shape[1] * 8):
        block = X.rows(part)
        rows = as_matrix(dense_rows(block) * row_scales(block, known)[:, None])
        W = exact_robust_W(rows, H, find)
        Y = dense_rows(rows) - find(rows, W, H).matrix.toarray()
        W = W * clip_scales(np.linalg.norm(W, axis=0), SAFE)
        Y = Y * clip_scales(np.linalg.norm(Y, axis=1), SAFE)[:, None]
        gram, cross = gram + W @ W.T, cross + W @ Y
    return NormalEq(gram / known.n, cross / known.n)


def exact_rows(X: Entries, scales: Array, H: Array, gram: Array) -> tuple[Array, Array]:
    """(W, cross), (k, n) each: the exact w of each scaled row, from nothing but that row and H, and H x."""
    cross = X.normal_eq(H, np.empty((len(H), 0)), gram=gram).cross * scales
    W, _ = Bpp()(np.zeros_like(cross), NormalEq(gram, cross), ())
    return W, cross


def _of_block(X: Entries, known: Knowledge, H: Array, gram: Array, clips: Clips) -> Parts:
    scales = row_scales(X, known)
    W, cross = exact_rows(X, scales, H, gram)
    clipped = W * clip_scales(np.linalg.norm(W, axis=0), clips.w * SAFE)
    if clips.residual is None:
        return Parts(NormalEq(clipped @ clipped.T, X.T.times(clipped * scales)), 0.0)
    lengths = (
        np.sqrt(np.maximum(_sq_residuals(X, scales, W, cross, gram), 0.0)) + 1e-7
    )  # a difference of squares near zero: rounding may not shorten it
    weighted = clipped * clip_scales(lengths, clips.residual * SAFE)
    E = X.T.times(weighted * scales) - (weighted @ W.T) @ H
    return Parts(NormalEq(clipped @ clipped.T, E), float((lengths <= clips.residual).sum()))


def mean_sq_error(X: Entries, known: Knowledge, H: Array) -> float:
    """Σ ‖x − w H‖² / n of the exact w, each at most 1: a row is no longer than that, and w = 0 was possible."""
    gram, total = H @ H.T, 0.0
    for _, block in X.blocks():
        scales = row_scales(block, known)
        W, cross = exact_rows(block, scales, H, gram)
        total += float(np.clip(_sq_residuals(block, scales, W, cross, gram), 0.0, 1.0).sum())
    return total / known.n


def _sq_residuals(X: Entries, scales: Array, W: Array, cross: Array, gram: Array) -> Array:
    """(n,): ‖x − w H‖²."""
    return X.row_sq_norms() * scales**2 - 2 * (cross * W).sum(axis=0) + ((gram @ W) * W).sum(axis=0)
