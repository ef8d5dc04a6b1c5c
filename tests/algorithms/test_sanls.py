"""SANLS: its limits, its rule for sizes, its refusals."""

import numpy as np
import pytest
import scipy.sparse as sp

from partwise.algorithms.single.methods import Problem, method
from partwise.algorithms.single.sanls import Damping, sketch_sizes
from partwise.data import as_matrix
from partwise.errors import OptionError
from partwise.sketches import KINDS

SHAPE, K = (60, 40), 4


def problem(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.gamma(0.7, 1, (SHAPE[0], K)) @ rng.gamma(0.7, 1, (K, SHAPE[1])) + 0.05 * rng.random(SHAPE)
    return X, rng.uniform(0.1, 1, (K, SHAPE[0])), rng.uniform(0.1, 1, (K, SHAPE[1]))


def run(solver, X, Wt, H, iterations=20, seed=0, **options):
    held = as_matrix(X)
    step = method(solver, Problem(held.shape, held.nnz, len(H), seed=seed), options)
    states = [step.init(held, Wt, H)]
    for t in range(1, iterations + 1):
        states.append(step.step(held, states[-1], t))
    return states


@pytest.mark.parametrize("kind", KINDS)
def test_without_a_sketch_and_without_damping_it_is_hals(kind):
    start = problem()
    sketched = run("sanls", *start, sketch=kind, sketch_size=1.0, damping=(0, 0))
    plain = run("hals", *start, acceleration=1, extrapolate=False)
    for mine, theirs in zip(sketched, plain, strict=True):
        np.testing.assert_allclose(mine.Wt, theirs.Wt, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(mine.H, theirs.H, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("inner", ["pcd", "pgd"])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_the_error_falls_whatever_the_unit_of_the_data(kind, inner, scale):
    X, Wt, H = problem()
    states = run("sanls", scale * X, scale**0.5 * Wt, scale**0.5 * H, 100, sketch=kind, sketch_size=0.5, inner=inner)
    measured = [state.loss for state in states if not np.isnan(state.loss)]
    assert len(measured) == 11
    assert measured[-1] < 0.1 * measured[0]


@pytest.mark.parametrize("kind", KINDS)
def test_dense_and_sparse_meet_the_same_sketch(kind, monkeypatch):
    X, Wt, H = problem()
    X[np.median(X) > X] = 0
    plain = run("sanls", X, Wt, H, 5, sketch=kind, sketch_size=0.3)[-1]
    monkeypatch.setattr("partwise.data.dense.BLOCK_BYTES", 1)
    monkeypatch.setattr("partwise.data.dense.GRAIN", 16)  # several panels
    for held in (sp.csr_array(X), sp.csc_array(X)):
        there = run("sanls", held, Wt, H, 5, sketch=kind, sketch_size=0.3)[-1]
        np.testing.assert_allclose(there.Wt, plain.Wt, rtol=1e-8, atol=1e-11)
        np.testing.assert_allclose(there.H, plain.H, rtol=1e-8, atol=1e-11)


@pytest.mark.parametrize("every", [1, 3])
def test_the_loss_is_measured_as_often_as_is_asked_and_changes_nothing_else(every):
    start = problem()
    states, seldom = run("sanls", *start, measured=every), run("sanls", *start)
    assert [t for t, state in enumerate(states) if np.isfinite(state.loss)] == list(range(0, 21, every))
    np.testing.assert_array_equal(states[-1].H, seldom[-1].H)
    with pytest.raises(OptionError, match="measured=0; expected a positive whole number"):
        run("sanls", *start, measured=0)


def test_another_seed_is_another_run():
    start = problem()
    one, two = (run("sanls", *start, 3, seed=seed, sketch_size=0.3)[-1].H for seed in (1, 2))
    assert not np.allclose(one, two)


@pytest.mark.parametrize("inner", ["pcd", "pgd"])
def test_entries_may_be_bounded_as_theorem_1_wants(inner):
    X, Wt, H = problem()
    X, H = X / (20 * np.linalg.norm(X)), 1e-4 * H  # so W must grow
    most = np.sqrt(2 * np.linalg.norm(X))
    damping = {"damping": (0, 0), "sketch_size": 0.2, "inner": inner}
    free = run("sanls", X, Wt, H, **damping)
    held = run("sanls", X, Wt, H, bounded=True, **damping)
    assert max(state.Wt.max() for state in free[1:]) > 1.01 * most
    assert max(max(state.Wt.max(), state.H.max()) for state in held[1:]) <= most * (1 + 1e-12)


def test_sizes_follow_the_papers_rule():
    assert sketch_sizes((5000, 4000), 10, "auto") == (400, 500)
    assert sketch_sizes((200_000, 400_000), 10, "auto") == (4000, 2000)
    assert sketch_sizes((70_000, 784), 10, "auto") == (784, 7000)  # the short side stays whole
    assert sketch_sizes((300, 200), 40, "auto") == (80, 80)  # at least 2 k
    assert sketch_sizes((20, 20), 40, "auto") == (20, 20)
    assert sketch_sizes((70_000, 784), 10, 0.01) == (8, 700)  # what is asked for is done


def test_damping_grows_and_has_the_units_of_the_gram():
    gram = np.diag([1.0, 3.0])
    assert Damping(0.1, 0.5).weight(gram, 1) == pytest.approx(0.2)
    assert Damping(0.1, 0.5).weight(gram, 3) == pytest.approx(2.2)
    assert Damping(0.1, 0.5, relative=False).weight(gram, 3) == pytest.approx(1.1)
    assert Damping(1, 0.5).step(gram, 3) == pytest.approx(1 / 9)
    assert Damping(1, 0.5, relative=False).step(gram, 3) == pytest.approx(1)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"sketch": "fft"}, "expected one of: subsample, gaussian, count, srht"),
        ({"inner": "hals"}, "expected 'pcd' or 'pgd'"),
        ({"sketch_size": 0}, "a fraction of the sides"),
        ({"sketch_size": 12}, "a fraction of the sides"),
        ({"damping": 3}, "expected two numbers"),
        ({"damping": (-1, 1)}, "expected two numbers"),
        ({"damping": (0, 1), "relative_damping": False, "inner": "pgd"}, "the first gradient step would be endless"),
    ],
)
def test_options_are_checked(options, says):
    with pytest.raises(OptionError, match=says):
        method("sanls", Problem(SHAPE, 2400, K), options)


@pytest.mark.parametrize("solver", ["sanls", "randomized", "sketched"])
def test_missing_entries_and_weights_are_refused(solver):
    X, Wt, H = problem()
    step = method(solver, Problem(SHAPE, X.size, K), {})
    with pytest.raises(OptionError, match="neither missing entries nor sample weights"):
        step.init(as_matrix(X, mask=X > 0.1), Wt, H)
    with pytest.raises(OptionError, match="neither missing entries nor sample weights"):
        step.init(as_matrix(X, sample_weight=np.arange(SHAPE[0]) + 1.0), Wt, H)
