"""W for a given H, exactly: what `transform` does, and the last step of a fit, so that the two agree.

Least squares: the nonnegative least-squares solution of every row by block principal pivoting. Other losses: multiplicative
updates of W until it stands still (they have no finite exact method).
"""

from __future__ import annotations

import numpy as np

from partwise.algorithms.single.methods import Problem
from partwise.currency import Array
from partwise.protocols import Matrix, Update
from partwise.updates import Bpp, Mu, Nesterov, Penalised
from partwise.updates.gradient import simplex
from partwise.updates.mu import exponent_for

SIMPLEX_STEPS = 200  # of Nesterov's method, for rows that sum to one


def exact_W(
    X: Matrix, H: Array, problem: Problem, *, first: Array | None = None, steps: int = 200, tol: float = 1e-4
) -> Array:
    """(k, n): argmin over W ≥ 0 of the objective, H (k, m) being held; `first` is a guess that saves time.

    `steps` and `tol` bound the search where the loss is another one.
    """
    if problem.beta != 2:
        return _by_ratios(X, H, problem, steps, tol)
    update = exact_update(problem)
    Wt = np.zeros((len(H), X.shape[0]), H.dtype) if first is None else first.copy()
    gram = H @ H.T
    for rows, block in X.blocks():
        F = np.ascontiguousarray(Wt[:, rows])
        if X.traceable:
            Wt[:, rows], _ = update(F, block.normal_eq(H, F, gram=gram), ())
        else:  # every row has seen other features, so it has a gram of its own
            solved = [update(F[:, [i]], eq, ())[0] for i, eq in enumerate(block.row_pairs(H))]
            Wt[:, rows] = np.concatenate(solved, axis=1)
    return Wt


def exact_update(problem: Problem) -> Update:
    """Solves a pair of W exactly, from any guess: least squares only."""
    return _penalised(Nesterov(SIMPLEX_STEPS, project=simplex) if problem.rows_sum_to_one else Bpp(), problem)


def _penalised(update: Update, problem: Problem) -> Update:
    p = problem.penalty
    return Penalised(update, p.l1_W, p.l2_W) if p.l1_W or p.l2_W else update


def _by_ratios(X: Matrix, H: Array, problem: Problem, steps: int, tol: float) -> Array:
    """From a constant start, as scikit-learn does; each block of rows until its factor moves less than `tol`."""
    update = _penalised(Mu(exponent_for(problem.beta)), problem)
    level = np.sqrt(max(X.mean(), np.finfo(H.dtype).tiny) / len(H))
    Wt = np.full((len(H), X.shape[0]), level, H.dtype)
    for rows, block in X.blocks():
        F = np.ascontiguousarray(Wt[:, rows])
        for _ in range(steps):
            before = F
            F, _ = update(F, block.ratio_eq(H, F, problem.beta), ())
            if np.abs(F - before).sum() <= tol * np.abs(F).sum():
                break
        Wt[:, rows] = F
    return Wt
