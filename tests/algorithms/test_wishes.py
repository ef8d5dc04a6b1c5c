"""What may be wished of every method: penalties that are not escaped, fixed components, rows that sum to one."""

import numpy as np
import pytest

from partwise.algorithms.single.alternating import Penalty
from partwise.algorithms.single.methods import SOLVERS, Problem, method
from partwise.data import as_matrix
from partwise.errors import OptionError
from partwise.updates.ball import ball
from partwise.updates.gradient import simplex

SHAPE, K = (60, 45), 4
BALLS = ["hals", "mu", "pgd", "nesterov", "ipalm", "randomized"]
SIMPLEX = ["hals", "pgd", "nesterov", "ipalm", "randomized"]
OPTIONS = {
    "randomized": {"oversampling": 4},
    "sketched": {"sample": (0.5, 128)},
    "sanls": {"sketch_size": 0.5},
    "ipalm": {"inertia": 0.2},
}
CARELESS = ["ipalm", "admm", "sanls", "randomized", "sketched"]  # their objective may rise


def problem(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.gamma(0.7, 1, (SHAPE[0], K)) @ rng.gamma(0.7, 1, (K, SHAPE[1])) + 0.1 * rng.random(SHAPE)
    return X, rng.uniform(0.1, 1, (K, SHAPE[0])), rng.uniform(0.1, 1, (K, SHAPE[1]))


def run(solver, X, Wt, H, iterations, **wishes):
    held = as_matrix(X)
    step = method(solver, Problem(held.shape, held.nnz, K, **wishes), OPTIONS.get(solver, {}))
    states = [step.init(held, Wt, H)]
    for t in range(1, iterations + 1):
        states.append(step.step(held, states[-1], t))
    return states


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_objective_falls(solver):
    states = run(solver, *problem(), 40)
    measured = [state.objective for state in states if not np.isnan(state.loss)]
    assert measured[-1] < 0.2 * measured[0]


@pytest.mark.parametrize("solver", BALLS)
@pytest.mark.parametrize("side", ["W", "H"])
def test_a_penalty_on_one_factor_is_not_escaped_by_rescaling(solver, side):
    X, Wt, H = problem()
    penalty = Penalty(l1_W=2.0) if side == "W" else Penalty(l1_H=2.0)
    if side == "W":
        H = ball(H.copy())
    else:
        Wt = ball(Wt.copy())
    states = run(solver, X, Wt, H, 60, penalty=penalty)
    for state in states:
        assert np.linalg.norm(state.H if side == "W" else state.Wt, axis=1).max() <= 1 + 1e-9
    objective = np.array([state.objective for state in states if not np.isnan(state.loss)])
    if solver not in (*CARELESS, "mu"):  # MU is followed by a projection, which may cost something
        assert (np.diff(objective) <= 1e-10 * objective[0]).all()
    assert objective[-1] < 0.5 * objective[0]
    assert states[-1].penalty > 0.01 * X.sum() ** 0.5  # in an escape it goes to zero


@pytest.mark.parametrize("solver", [name for name in SOLVERS if name not in BALLS])
def test_who_cannot_hold_a_factor_in_the_ball_refuses(solver):
    with pytest.raises(OptionError, match="cannot penalise one factor only"):
        run(solver, *problem(), 1, penalty=Penalty(l2_W=1.0))


@pytest.mark.parametrize("solver", [name for name in SOLVERS if name != "randomized"])
def test_penalties_on_both_factors_are_paid(solver):
    start = problem()
    free = run(solver, *start, 40)[-1]
    states = run(solver, *start, 40, penalty=Penalty(l1_W=5.0, l2_H=2.0))
    assert states[-1].Wt.sum() < free.Wt.sum()
    assert states[-1].penalty == pytest.approx(5 * states[-1].Wt.sum() + np.sum(states[-1].H ** 2))
    objective = np.array([state.objective for state in states if not np.isnan(state.loss)])
    if solver not in CARELESS:
        assert (np.diff(objective) <= 1e-10 * objective[0]).all()


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("count", [1, K - 1, K])
def test_fixed_components_stay_to_the_bit(solver, count):
    X, Wt, H = problem()
    states = run(solver, X, Wt, H, 25, fixed=count)
    for state in states:
        np.testing.assert_array_equal(state.H[:count], H[:count])
    if count < K:
        assert not np.allclose(states[-1].H[count:], H[count:])
    assert not np.allclose(states[-1].Wt, Wt)
    objective = np.array([state.objective for state in states if not np.isnan(state.loss)])
    if solver not in CARELESS:  # the others are updated against what the fixed ones leave over
        assert (np.diff(objective) <= 1e-10 * objective[0]).all()


@pytest.mark.parametrize("solver", SIMPLEX)
def test_rows_sum_to_one(solver):
    X, Wt, H = problem()
    states = run(solver, X, simplex(Wt), H, 40, rows_sum_to_one=True)
    for state in states:
        np.testing.assert_allclose(state.Wt.sum(axis=0), 1, rtol=1e-12)
        assert (state.Wt >= 0).all()
    measured = [state.loss for state in states if not np.isnan(state.loss)]
    assert measured[-1] < 0.5 * measured[0]


@pytest.mark.parametrize("solver", [name for name in SOLVERS if name not in SIMPLEX])
def test_who_cannot_keep_rows_on_the_simplex_refuses(solver):
    with pytest.raises(OptionError, match="cannot keep rows that sum to one"):
        run(solver, *problem(), 1, rows_sum_to_one=True)
