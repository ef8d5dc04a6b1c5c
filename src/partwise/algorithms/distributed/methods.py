"""The methods for a cluster by name: what `--algorithm` takes, the options of each, how it cuts X, and what it says an iteration.

    cut = layout_for("did", problem, comm.size)                   # then read this rank's part of X
    step = method("did", problem, cut, options)
    X = Spread(Shard(cut, comm.rank, ...), comm)
    state, trace = begin(step, X, Wt, H, relative=True)           # with Wt and H cut by cut.part_W(rank) and cut.part_H(rank)
    iterate(step, X, state, trace, rules, observers, comm)

Neither the layout nor the method knows a communicator: so a plan, or a choice between methods, asks them without one,
`Network().of(step.messages(t), itemsize).seconds`.

To add a method: a file with a frozen dataclass that is a `Distributed`, a function (problem, layout, *, options…) here, and its entry
in METHODS with the kind of layout that it needs (`data.ownership`), and its work in `model.WORK`. The laws (tests/distributed) run over
METHODS.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from partwise.algorithms.distributed.d_hals import DHals
from partwise.algorithms.distributed.dadmm import Dadmm
from partwise.algorithms.distributed.dbcd import Dbcd
from partwise.algorithms.distributed.did import Did
from partwise.algorithms.distributed.dsanls import Dsanls
from partwise.algorithms.distributed.hpc_anls import HpcAnls
from partwise.algorithms.distributed.maxios import Maxios
from partwise.algorithms.distributed.sketched import SketchedDid
from partwise.algorithms.distributed.spread import Spread
from partwise.algorithms.distributed.turned import Turned
from partwise.algorithms.single import methods as single
from partwise.algorithms.single.alternating import Alternating, Penalty
from partwise.algorithms.single.extrapolated import Extrapolated
from partwise.algorithms.single.problem import Problem
from partwise.currency import Message
from partwise.data import Layout, layout
from partwise.data.ownership import Kind, best_grid
from partwise.errors import OptionError
from partwise.protocols import Iteration
from partwise.updates import Bpp


class Distributed(Iteration[Spread], Protocol):
    """A method for a cluster: an iteration over what each rank holds of X, which says beforehand what it will send."""

    @property
    def layout(self) -> Layout:
        """How X, W and H are cut."""
        ...

    def messages(self, t: int, rank: int = 0) -> Sequence[Message]:
        """Every collective of iteration t that this rank takes part in, in order. (Where the parts are even, rank 0 has most.)

        Beside them: one number once, in `init` or when a resumed run begins (‖X‖²); one number an iteration where the error is so
        small that the trace trick has lost its digits; and what the loop itself says (`drivers.agreement`).
        """
        ...


class Entry(NamedTuple):
    """A method by its name."""

    build: Callable[..., Distributed]  # (problem, layout, *, options…)
    kind: Kind  # of layout
    like: str | None  # the solver for one machine whose wishes it can fulfil
    window: int | None = None  # measures no KKT residual: stops when the objective stands still over so many iterations
    turns: bool = False  # where X is wide it is given Xᵀ, cut by columns instead of rows: then what it sends is short

    def kind_for(self, problem: Problem) -> Kind:
        """The kind of layout, for an X of this shape and what is wished of its factors."""
        n, m = problem.shape
        one_sided = problem.fixed or problem.rows_sum_to_one or problem.bounded
        return "columns" if self.turns and m > n and not one_sided else self.kind


def did(problem: Problem, cut: Layout, *, acceleration: int | str = 1, extrapolate: bool | str = False) -> Distributed:
    """DID; `acceleration` sweeps on each pair and `extrapolate` as for solver "hals" (the paper: one sweep, no extrapolation)."""
    inner = single.sweeping(problem, acceleration=acceleration, extrapolate=extrapolate)
    assert isinstance(inner, Alternating | Extrapolated)
    return Did(inner, problem.k, cut)


def dsanls(
    problem: Problem, cut: Layout, *, sketch: str = "count", sketch_size: float | str = "auto", inner: str = "pcd",
    damping: tuple[float, float] = (0.1, 0.003), relative_damping: bool = True, bounded: bool = False,
) -> Distributed:  # fmt: skip
    """DSANLS; all options as for solver "sanls"."""
    one = single.sanls(
        problem, sketch=sketch, sketch_size=sketch_size, inner=inner, damping=damping, relative_damping=relative_damping, bounded=bounded
    )  # fmt: skip
    return Dsanls(one, problem.k, cut, problem.nnz // cut.ranks)


def dbcd(problem: Problem, cut: Layout) -> Distributed:
    """DBCD: DID's iterates, a message for each component."""
    inner = single.sweeping(problem, acceleration=1, extrapolate=False)
    assert isinstance(inner, Alternating)
    return Dbcd(inner, cut, range(problem.fixed, problem.k))


def dadmm(problem: Problem, cut: Layout) -> Distributed:
    """DADMM with ρ = 1."""
    return Dadmm(problem.alternating(Bpp(), Bpp()), problem.k, cut)


def hpc_anls_bpp(problem: Problem, cut: Layout) -> Distributed:
    """HPC-ANLS with exact least squares by block principal pivoting."""
    return HpcAnls(problem.alternating(Bpp(), Bpp()), problem.k, cut)


def hpc_anls_hals(problem: Problem, cut: Layout, *, acceleration: int | str = 1) -> Distributed:
    """HPC-ANLS with HALS; `acceleration` sweeps on each pair as for solver "hals"."""
    inner = single.sweeping(problem, acceleration=acceleration, extrapolate=False)
    assert isinstance(inner, Alternating)
    return HpcAnls(inner, problem.k, cut)


def hpc_anls_mu(problem: Problem, cut: Layout) -> Distributed:
    """HPC-ANLS with multiplicative updates."""
    inner = single.mu(problem)
    assert isinstance(inner, Alternating)
    return HpcAnls(inner, problem.k, cut)


def d_hals(problem: Problem, cut: Layout, *, acceleration: int | str = 1) -> Distributed:
    """D-HALS; `acceleration` sweeps on each pair as for solver "hals"."""
    inner = single.sweeping(problem, acceleration=acceleration, extrapolate=False)
    assert isinstance(inner, Alternating)
    return DHals(inner, problem.k, cut)


def maxios(problem: Problem, cut: Layout, *, rho: float = 1.0) -> Distributed:
    """Maxios; `rho`: the penalty of ADMM (the paper's comparison: 1)."""
    if isinstance(rho, bool) or not isinstance(rho, (int, float)) or not 0 < rho < float("inf"):
        raise OptionError(f"rho={rho!r}; expected a positive number.")
    return Maxios(float(rho), problem.k, cut)


def sketched(
    problem: Problem, cut: Layout, *, sample: tuple[float, float] = (4, 128),
    acceleration: int | str = "auto", extrapolate: bool | str = "auto",
) -> Distributed:  # fmt: skip
    """Samples, then all rows; all options as for solver "sketched"."""
    inner = single.sketched(problem, sample=sample, acceleration=acceleration, extrapolate=extrapolate)
    if inner.turned:
        raise OptionError(
            "algorithm='sketched' samples the longer side of X, so a wide X must be cut by columns, not by rows; take 'did'."
        )
    return SketchedDid(inner, problem.k, cut)


METHODS: Mapping[str, Entry] = {
    "did": Entry(did, "rows", "hals", turns=True),
    "dsanls": Entry(dsanls, "both", "sanls", single.WINDOWS["sanls"]),
    "dbcd": Entry(dbcd, "rows", "hals"),
    "dadmm": Entry(dadmm, "rows", "bpp"),
    "hpc-anls-bpp": Entry(hpc_anls_bpp, "grid", "bpp"),
    "hpc-anls-hals": Entry(hpc_anls_hals, "grid", "hals"),
    "hpc-anls-mu": Entry(hpc_anls_mu, "grid", "mu"),
    "d-hals": Entry(d_hals, "shared", "hals"),
    "maxios": Entry(maxios, "whole", None, window=100),
    "sketched": Entry(sketched, "rows", "sketched", turns=True),
}


def method(name: str, problem: Problem, cut: Layout, options: Mapping[str, Any]) -> Distributed:
    """The named method for a problem on a layout of its kind, or the sentence why not."""
    entry = entry_of(name)
    known = [p.name for p in inspect.signature(entry.build).parameters.values() if p.kind is p.KEYWORD_ONLY]
    unknown = sorted(set(options) - set(known))
    if unknown:
        can = f"its options are: {', '.join(known)}" if known else "it has no options"
        raise OptionError(f"algorithm={name!r} does not know {', '.join(unknown)}; {can}.")
    if cut.kind not in (entry.kind, entry.kind_for(problem)):
        raise OptionError(f"algorithm={name!r} needs X cut as {entry.kind_for(problem)!r}, not as {cut.kind!r}.")
    refuse_unfit(name, problem)
    if cut.kind == "columns":
        return Turned(entry.build(problem.T, cut.T, **options))
    return entry.build(problem, cut, **options)


def layout_for(name: str, problem: Problem, ranks: int, grid: tuple[int, int] | None = None) -> Layout:
    """How X is cut for a method on so many ranks, as evenly as can be; `grid` (pr, pc) where it can be chosen."""
    kind = entry_of(name).kind_for(problem)
    if grid is not None and kind not in ("grid", "shared"):
        raise OptionError(f"algorithm={name!r} has no grid to be chosen: X is cut as {kind!r}. Leave --grid out.")
    return layout(kind, problem.shape, ranks, grid=grid or best_grid(problem.shape, ranks))


def entry_of(name: str) -> Entry:
    """The entry, or a sentence."""
    if name not in METHODS:
        raise OptionError(f"algorithm={name!r} is not known; expected one of: {', '.join(METHODS)}.")
    return METHODS[name]


def refuse_unfit(name: str, problem: Problem) -> None:
    """Not every method can do everything: say so, and which can."""
    like = METHODS[name].like
    if problem.beta != 2:
        raise OptionError(f"algorithm={name!r} minimises the Frobenius loss only, not beta_loss = {problem.beta!r}; factorize on one "
                          "machine with solver='mu'.")  # fmt: skip
    if not problem.complete:
        raise OptionError(
            f"algorithm={name!r} takes neither missing entries nor sample weights; factorize on one machine."
        )
    if name == "dbcd" and problem.fixed >= problem.k:
        raise OptionError("algorithm='dbcd' has no components to update where all are fixed; use 'did'.")
    if problem.bounded and name != "d-hals" and (name, problem.bounded) != ("did", "H"):
        others = "'d-hals', or 'did' with a penalty on W" if problem.bounded == "H" else "'d-hals'"
        raise OptionError(f"algorithm={name!r} cannot penalise one factor only (the other would have to be bounded, and no rank has whole "
                          f"components of it); penalise both, or use {others}.")  # fmt: skip
    if problem.rows_sum_to_one and like != "hals":
        raise OptionError(
            f"algorithm={name!r} cannot keep rows that sum to one; use 'did', 'hpc-anls-hals' or 'd-hals'."
        )
    if problem.rows_sum_to_one and problem.bounded == "W":
        raise OptionError(
            "Rows of W that sum to one and a penalty on H alone cannot be had together; penalise both or none."
        )
    if like is None and (problem.penalty != Penalty() or problem.fixed):
        raise OptionError(f"algorithm={name!r} knows neither penalties nor fixed components; use 'did'.")
