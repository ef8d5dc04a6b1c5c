"""What holds for every method for a cluster, on simulated ranks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from distributed.runs import SHAPE, common_start, one_machine, parts, problem, run, whole, wished
from partwise.algorithms.distributed.methods import METHODS, layout_for, method
from partwise.algorithms.distributed.spread import Spread
from partwise.algorithms.single.alternating import Penalty
from partwise.comm import grids, simulate
from partwise.data import Layout, as_matrix, layout, shard_of
from partwise.drivers import checkpoint
from partwise.drivers.checkpoint_parts import Part
from partwise.drivers.iterate import begin, iterate
from partwise.drivers.stopping import MaxIterations
from partwise.errors import OptionError

N, M = SHAPE
PENALTY = Penalty(0.02, 0.1, 0.03, 0.05)
RANKS = (1, 2, 3, 4, 5, 6, 7)
HALS = ("hals", {"acceleration": 1, "extrapolate": False})


@dataclass(frozen=True)
class Case:
    """A method, and what it claims."""

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)
    like: tuple[str, Mapping[str, Any]] | None = None  # the solver for one machine whose iterates it has
    descends: bool = True
    stationary: int | None = None  # iterations after which nothing moves any more on the little problem
    loss_every: int = 1

    def __str__(self) -> str:
        return " ".join([self.name, *map(str, self.options.values())])

    def run(self, X, ranks, iterations, **rest):
        return run(self.name, X, ranks, iterations, options=self.options, **rest)


EXTRAPOLATED = {"acceleration": 3, "extrapolate": True}
CASES = [
    Case("did", like=HALS, stationary=300),
    Case("did", EXTRAPOLATED, like=("hals", EXTRAPOLATED), stationary=150),
    Case("dbcd", like=HALS, stationary=300),
    Case("dadmm", descends=False, stationary=150),
    Case("hpc-anls-bpp", like=("bpp", {}), stationary=150),
    Case("hpc-anls-hals", like=HALS, stationary=300),
    Case("hpc-anls-hals", {"acceleration": 3}, like=("hals", {"acceleration": 3, "extrapolate": False})),
    Case("hpc-anls-mu", like=("mu", {})),
    Case("d-hals", like=HALS, stationary=300),
    Case("maxios", descends=False, loss_every=5),
]
every = pytest.mark.parametrize("case", CASES, ids=str)


def uneven(name: str, ranks: int) -> Layout:
    """Cuts of one's own: a rank with one row, ranks with none, the rest for the last."""
    kind = METHODS[name].kind
    if kind == "whole":
        return layout(kind, SHAPE, ranks)
    pr = ranks if kind == "rows" else max(pr for pr, pc in grids(ranks) if pr <= pc or pc == 1)
    pc = ranks // pr
    row_cuts = [0, *(1 + 9 * (i // 3) for i in range(1, pr)), N]
    column_cuts = None if kind == "rows" else [0, *(2 * (j // 2) for j in range(1, pc)), M]
    return layout(kind, SHAPE, ranks, grid=(pr, pc), row_cuts=row_cuts, column_cuts=column_cuts)


@cache
def alone(case_name: str, iterations: int = 20):
    """A method's run on one rank."""
    case = next(case for case in CASES if str(case) == case_name)
    return case.run(problem(), 1, iterations)


@pytest.mark.parametrize("case", [case for case in CASES if case.like], ids=str)
@pytest.mark.parametrize("ranks", RANKS)
def test_it_has_the_iterates_of_one_machine(case, ranks):
    assert case.like is not None
    solver, options = case.like
    X = problem()
    one = one_machine(solver, X, 20, options=options)
    for cut in (layout_for(case.name, wished(as_matrix(X)), ranks), uneven(case.name, ranks)):
        many = case.run(X, ranks, 20, cut=cut)
        np.testing.assert_allclose(many.Wt, one.state.Wt, rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(many.H, one.state.H, rtol=1e-8, atol=1e-10)
        for mine, theirs in zip(many.trace.points, one.trace.points, strict=True):
            np.testing.assert_allclose(mine.loss, theirs.loss, rtol=1e-9)
            if case.name != "dbcd":  # meets its gradients on the way
                np.testing.assert_allclose(mine.violation, theirs.violation, rtol=1e-7)


@every
@pytest.mark.parametrize("ranks", [2, 3, 7, 40])
def test_any_number_of_ranks_gives_the_result_of_one(case, ranks):
    one, many = alone(str(case)), case.run(problem(), ranks, 20)
    np.testing.assert_allclose(many.Wt, one.Wt, rtol=1e-7, atol=1e-10)
    np.testing.assert_allclose(many.H, one.H, rtol=1e-7, atol=1e-10)
    for mine, theirs in zip(many.trace.points, one.trace.points, strict=True):
        np.testing.assert_allclose(mine[:4], theirs[:4], rtol=1e-7)


@pytest.mark.parametrize("case", [case for case in CASES if METHODS[case.name].kind in ("grid", "shared")], ids=str)
@pytest.mark.parametrize("grid", [(1, 6), (2, 3), (3, 2), (6, 1)])
def test_any_grid_gives_the_same(case, grid):
    one, many = alone(str(case)), case.run(problem(), 6, 20, grid=grid)
    np.testing.assert_allclose(many.product, one.product, rtol=1e-7, atol=1e-10)


@every
@pytest.mark.parametrize("ranks", [1, 2, 6, 7])
@pytest.mark.parametrize("cutting", ["even", "uneven"])
def test_what_was_declared_is_what_was_sent(case, ranks, cutting):
    X, iterations = problem(), 12
    cut = uneven(case.name, ranks) if cutting == "uneven" else layout_for(case.name, wished(as_matrix(X)), ranks)
    wishes = {} if case.name == "maxios" else {"penalty": PENALTY}
    for wish in ({}, wishes):
        found = case.run(X, ranks, iterations, cut=cut, **wish)
        step = method(case.name, wished(as_matrix(X), **wish), cut, case.options)
        for rank in range(ranks):
            for t, counts in enumerate(found.sent[rank], start=1):
                calls, numbers = Counter(), Counter()
                for message in step.messages(t, rank):
                    calls[message.kind] += 1
                    numbers[message.kind] += message.numbers
                assert {kind: (count.calls, count.numbers) for kind, count in counts.items()} == {
                    kind: (calls[kind], numbers[kind]) for kind in calls
                }, f"rank {rank}, iteration {t}"


@every
def test_the_bytes_declared_are_those_sent_in_single_precision(case):
    X = problem(dtype=np.float32)
    found = case.run(X, 4, 6)
    step = method(case.name, wished(as_matrix(X)), found.cut, case.options)
    for t, counts in enumerate(found.sent[0], start=1):
        declared = sum(message.numbers * (8 if message.wide else 4) for message in step.messages(t))
        assert sum(count.payload for count in counts.values()) == declared


WISHES: dict[str, dict[str, Any]] = {
    "penalties": {"penalty": PENALTY},
    "a penalty on W alone": {"penalty": Penalty(l1_W=0.05)},
    "a penalty on H alone": {"penalty": Penalty(l2_H=0.05)},
    "fixed components": {"fixed": 2},
    "rows that sum to one": {"rows_sum_to_one": True},
}


def refused(case, wish) -> bool:
    """What each method cannot do; all else it must do."""
    return {
        "penalties": case.name == "maxios",
        "a penalty on W alone": case.name not in ("did", "d-hals") or bool(case.options),  # of extrapolation
        "a penalty on H alone": case.name != "d-hals",
        "fixed components": case.name == "maxios",
        "rows that sum to one": case.like is None or case.like[0] != "hals" or "extrapolate" in case.options,
    }[wish]


@pytest.mark.parametrize("wish", WISHES)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_wish_is_fulfilled_as_on_one_machine_or_refused(case, wish):
    X, wishes = problem(), WISHES[wish]
    if refused(case, wish):
        with pytest.raises(OptionError, match=r"use |leave it"):
            case.run(X, 3, 1, **wishes)
        return
    if case.like is None:  # DADMM: no solver for one machine has its iterates
        met = [p.violation for p in case.run(X, 3, 202, **wishes).trace.points if not np.isnan(p.violation)]
        assert met[-1] < 1e-2 * met[0]
        return
    solver, options = case.like
    one, many = one_machine(solver, X, 15, options=options, **wishes), case.run(X, 3, 15, **wishes)
    np.testing.assert_allclose(many.Wt, one.state.Wt, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(many.H, one.state.H, rtol=1e-6, atol=1e-9)
    for mine, theirs in zip(many.trace.points, one.trace.points, strict=True):
        np.testing.assert_allclose(mine.objective, theirs.objective, rtol=1e-8)


@pytest.mark.parametrize("wish", [{"beta": 1.0}, {"complete": False}], ids=str)
@every
def test_other_losses_and_missing_entries_are_refused(case, wish):
    with pytest.raises(OptionError, match="factorize on one machine"):
        case.run(problem(), 2, 1, **wish)


@every
def test_factors_are_nonnegative_and_finite_and_the_trace_tells_the_truth(case):
    X = problem()
    found = case.run(X, 4, 20)
    for F in (found.Wt, found.H):
        assert np.isfinite(F).all()
        assert (F >= 0).all()
    known = found.trace.measured()
    assert [point.t for point in known] == list(range(0, 21, case.loss_every))
    assert known[-1].loss == pytest.approx(0.5 * np.sum((X - found.product) ** 2), rel=1e-9)
    assert found.trace.relative_error() == pytest.approx(
        np.linalg.norm(X - found.product) / np.linalg.norm(X), rel=1e-9
    )


@pytest.mark.parametrize("case", [case for case in CASES if case.descends], ids=str)
def test_the_objective_never_rises(case):
    values = np.array([point.objective for point in case.run(problem(1), 3, 60).trace.measured()])
    assert (np.diff(values) <= 1e-12 * values[0]).all()
    assert values[-1] < 0.7 * values[0]


@pytest.mark.parametrize("case", [case for case in CASES if case.stationary], ids=str)
def test_the_kkt_residual_is_small_at_convergence(case):
    assert case.stationary is not None
    X = problem()
    found = case.run(X, 2, case.stationary)
    R = found.product - X
    for F, gradient in ((found.Wt, found.H @ R.T), (found.H, found.Wt @ R)):
        projected = np.where(F > 0, gradient, np.minimum(gradient, 0))
        scale = np.abs(gradient).max() + np.abs(found.H @ X.T).max()
        assert np.abs(projected * np.minimum(1, F + (gradient < 0))).max() < 2e-3 * scale
    met = [point.violation for point in found.trace.points if not np.isnan(point.violation)]
    assert met[-1] < 1e-2 * met[0]


@every
@pytest.mark.parametrize("holding", [sp.csr_array, sp.csc_array, np.asfortranarray], ids=lambda held: held.__name__)
def test_sparse_data_gives_what_dense_data_gives(case, holding):
    X = problem(zeros=0.5)
    dense, other = case.run(X, 4, 15), case.run(holding(X), 4, 15)
    np.testing.assert_allclose(other.product, dense.product, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(other.trace.last.loss, dense.trace.last.loss, rtol=1e-8)


@every
def test_single_precision_is_kept_and_agrees(case):
    single, double = case.run(problem(dtype=np.float32), 3, 10), case.run(problem(), 3, 10)
    assert {array.dtype for state in single.states for array in (state.Wt, state.H, *state.carry_W)} == {
        np.dtype(np.float32)
    }
    assert {array.dtype for state in double.states for array in (state.Wt, state.H)} == {np.dtype(np.float64)}
    np.testing.assert_allclose(single.product, double.product, rtol=0.02, atol=0.02)
    assert single.trace.relative_error() == pytest.approx(double.trace.relative_error(), rel=1e-3)


@every
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_an_error_too_small_for_the_trace_trick_is_measured(case, dtype):
    Wt, H = common_start(dtype=dtype)
    X = Wt.T @ H
    if case.loss_every > 1 or case.name == "hpc-anls-mu":
        pytest.skip("leaves a solution by rounding, or measures it seldom")
    found = case.run(X, 3, 3, start=(Wt, H))
    truth = np.linalg.norm(X.astype(np.float64) - found.Wt.T.astype(np.float64) @ found.H)
    told = np.sqrt(2 * found.trace.last.loss)
    assert truth < 1e-5 * np.linalg.norm(X)
    rounding = {np.float32: 3e-7, np.float64: 1e-14}[dtype] * float(np.linalg.norm(X))
    assert told == pytest.approx(truth, abs=rounding)


@every
@pytest.mark.parametrize("again", [3, 2])
def test_stop_and_resume_is_never_stopped(case, again, tmp_path):
    X, first = as_matrix(problem()), 3
    wish = wished(X)

    def leg(ranks, resume, until):
        cut = layout_for(case.name, wish, ranks)

        def body(comm):
            step, mine = method(case.name, wish, cut, case.options), Spread(shard_of(X, cut, comm.rank), comm)
            part = Part(cut.part_W(comm.rank), cut.part_H(comm.rank))
            if resume:
                state, trace = checkpoint.load(tmp_path, {"run": 1}, comm.rank, part)
            else:
                state, trace = begin(step, mine, *parts(cut, comm.rank, *common_start()), relative=True)
            outcome = iterate(step, mine, state, trace, [MaxIterations(until)], comm=comm)
            if until == 8:
                checkpoint.save(tmp_path, outcome.state, outcome.trace, {"run": 1}, comm, part)
            return outcome.state, outcome.trace

        found = simulate(body, ranks).results
        return *whole(cut, [state for state, _ in found]), found[0][1]

    Wt, H, trace = leg(first, False, 17)
    leg(first, False, 8)
    Wt_again, H_again, trace_again = leg(again, True, 17)
    same = np.testing.assert_array_equal if again == first else _to_rounding
    same(Wt_again, Wt)
    same(H_again, H)
    for mine, theirs in zip(trace_again.points, trace.points, strict=True):
        same(mine[:4], theirs[:4])


def _to_rounding(mine, theirs):
    np.testing.assert_allclose(mine, theirs, rtol=1e-8, atol=1e-10)


@every
def test_one_component_more_components_than_columns_and_tiny_data(case):
    for shape, k, ranks in (((37, 23), 1, 3), ((37, 23), 30, 3), ((1, 1), 2, 2), ((1, 9), 2, 3), ((9, 1), 2, 3)):
        X = problem(shape=shape)
        found = case.run(X, ranks, 8, k=k, start=common_start(shape, k))
        assert np.isfinite(found.product).all()


@every
def test_rows_and_columns_of_zeros_and_dead_components_stay_harmless(case):
    X = problem()
    X[3], X[:, 5] = 0, 0
    Wt, H = common_start()
    Wt[1], H[1] = 0, 0
    assert np.isfinite(case.run(X, 3, 8, start=(Wt, H)).product).all()
    zeros = case.run(np.zeros((6, 5)), 2, 6, k=2)
    assert np.isfinite(zeros.product).all()
    assert zeros.trace.relative_error() == 0


@every
def test_inputs_are_not_written_to(case):
    X, (Wt, H) = problem(), common_start()
    before = X.copy(), Wt.copy(), H.copy()
    for array in (X, Wt, H):
        array.flags.writeable = False
    case.run(X, 2, 6, start=(Wt, H))
    for array, kept in zip((X, Wt, H), before, strict=True):
        np.testing.assert_array_equal(array, kept)


def test_every_method_meets_the_laws():
    sketching = {"sanls", "sketched"}  # those that see X through sketches have laws of their own: test_dsanls.py
    assert {case.name for case in CASES} == {name for name, entry in METHODS.items() if entry.like not in sketching}
