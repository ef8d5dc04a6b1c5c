"""The methods for one machine by name: what `solver=` and `--solver` take, and the options of each."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, final

from partwise.algorithms.single.alternating import Alternating, Penalty
from partwise.algorithms.single.extrapolated import Extrapolated
from partwise.algorithms.single.multiplicative import Multiplicative
from partwise.algorithms.single.optimality import Optimality
from partwise.algorithms.single.randomized import Randomized
from partwise.algorithms.single.sanls import Damping, Sanls, sketch_sizes
from partwise.errors import OptionError
from partwise.protocols import Iteration, Update
from partwise.sketches import KINDS
from partwise.updates import Admm, AsRatio, BallHals, Bpp, Fixed, Hals, Mu, Nesterov, Palm, Penalised, Pgd
from partwise.updates.ball import Ball, ball
from partwise.updates.gradient import orthant, simplex
from partwise.updates.mu import exponent_for

MOST_SWEEPS = 20


@final
@dataclass(frozen=True)
class Problem:
    """What is to be factorized, apart from the numbers themselves."""

    shape: tuple[int, int]
    nnz: int
    k: int
    beta: float = 2.0
    penalty: Penalty = field(default_factory=Penalty)
    fixed: int = 0  # the first components of H that stay as they are
    rows_sum_to_one: bool = False  # W on the simplex
    seed: int = 0

    @property
    def bounded(self) -> str:
        """The factor whose components must stay in the unit ball, because only the other one is penalised: 'W', 'H' or ''."""
        on_W, on_H = bool(self.penalty.l1_W or self.penalty.l2_W), bool(self.penalty.l1_H or self.penalty.l2_H)
        return "" if on_W == on_H else "H" if on_W else "W"

    def dress(self, update_W: Update, update_H: Update) -> tuple[Update, Update]:
        """The updates with what the user wants of every method: penalties and fixed components."""
        p = self.penalty
        if p.l1_W or p.l2_W:
            update_W = Penalised(update_W, p.l1_W, p.l2_W)
        if p.l1_H or p.l2_H:
            update_H = Penalised(update_H, p.l1_H, p.l2_H)
        return update_W, Fixed(update_H, self.fixed) if self.fixed else update_H

    def alternating(self, update_W: Update, update_H: Update) -> Alternating:
        """The alternation of two dressed updates."""
        return self.pair(*self.dress(update_W, update_H))

    def pair(self, update_W: Update, update_H: Update) -> Alternating:
        """The alternation of two updates that are dressed already."""
        p = self.penalty
        on_W = Optimality(
            p.l1_W, p.l2_W, 0, "simplex" if self.rows_sum_to_one else "ball" if self.bounded == "W" else ""
        )
        on_H = Optimality(p.l1_H, p.l2_H, self.fixed, "ball" if self.bounded == "H" else "")
        return Alternating(update_W, update_H, p, self.bounded == "W", on_W, on_H)

    def projections(self) -> tuple[Callable, Callable]:
        """What gradient steps of W and of H project on."""
        on_W = simplex if self.rows_sum_to_one else ball if self.bounded == "W" else orthant
        return on_W, ball if self.bounded == "H" else orthant


def hals(problem: Problem, *, acceleration: int | str = "auto", extrapolate: bool | str = "auto") -> Iteration:
    """HALS; `acceleration` sweeps a pair ("auto": as many as are cheap beside the pair), `extrapolate`: Ang & Gillis."""
    sweeps = sweeps_beside_pair(problem) if acceleration == "auto" else (whole(acceleration, "acceleration"),) * 2
    update_W: Update = Nesterov(project=simplex) if problem.rows_sum_to_one else Hals(sweeps[0])
    method = problem.alternating(
        BallHals() if problem.bounded == "W" else update_W, BallHals() if problem.bounded == "H" else Hals(sweeps[1])
    )
    return extrapolated(problem, method, extrapolate)


def extrapolated(problem: Problem, method: Alternating, extrapolate: bool | str) -> Iteration:
    """The method pushed ahead (Ang & Gillis), where that is wished and leaves neither the ball nor the simplex."""
    if extrapolate not in (True, False, "auto"):
        raise OptionError(f"extrapolate={extrapolate!r}; expected True, False or 'auto'.")
    free = not problem.bounded and not problem.rows_sum_to_one
    if extrapolate is True and not free:
        raise OptionError(
            "extrapolate=True cannot be had with rows that sum to one or a penalty on one factor only; leave it 'auto'."
        )
    return Extrapolated(method) if free and extrapolate else method


def sweeps_beside_pair(problem: Problem) -> tuple[int, int]:
    """(for W, for H): 1 + half the cost of a pair in sweeps, at most MOST_SWEEPS (Gillis & Glineur 2012, α = ½)."""
    n, m = problem.shape
    pair = problem.nnz + min(n, m) * problem.k
    return tuple(min(MOST_SWEEPS, 1 + pair // (2 * r * problem.k)) for r in (n, m))  # type: ignore[return-value]


def bpp(problem: Problem, *, extrapolate: bool | str = False) -> Iteration:
    """Alternating exact nonnegative least squares by block principal pivoting; `extrapolate`: Ang & Gillis."""
    return extrapolated(problem, problem.alternating(Bpp(), Bpp()), extrapolate)


def mu(problem: Problem) -> Iteration:
    """Multiplicative updates, for any β-divergence."""
    step = Mu(exponent_for(problem.beta))
    updates = (Ball(step) if problem.bounded == side else step for side in "WH")
    update_W, update_H = problem.dress(*updates)
    if problem.beta == 2:
        return problem.pair(AsRatio(update_W), AsRatio(update_H))
    return Multiplicative(update_W, update_H, problem.beta, problem.penalty)


def pgd(problem: Problem, *, steps: int = 1) -> Iteration:
    """Projected gradient, `steps` on each pair."""
    return problem.alternating(*(Pgd(whole(steps, "steps"), project=p) for p in problem.projections()))


def nesterov(problem: Problem, *, steps: int = 10) -> Iteration:
    """NeNMF: Nesterov's method, `steps` on each pair."""
    return problem.alternating(*(Nesterov(whole(steps, "steps"), project=p) for p in problem.projections()))


def ipalm(problem: Problem, *, inertia: float = 0.5, steps: int = 1) -> Iteration:
    """iPALM: proximal gradient steps with inertia in [0, 1)."""
    if not 0 <= inertia < 1:
        raise OptionError(f"inertia={inertia!r}; expected a number in [0, 1).")
    return problem.alternating(*(Palm(inertia, whole(steps, "steps"), project=p) for p in problem.projections()))


def admm(problem: Problem, *, rho: float | str = "auto", steps: int = 5) -> Iteration:
    """ADMM with penalty `rho` ("auto": trace(gram)/k), `steps` on each pair."""
    if rho != "auto" and not (isinstance(rho, (int, float)) and rho > 0):
        raise OptionError(f"rho={rho!r}; expected 'auto' or a positive number.")
    step = Admm(None if rho == "auto" else float(rho), whole(steps, "steps"))
    return problem.alternating(step, step)


def sanls(
    problem: Problem, *, sketch: str = "count", sketch_size: float | str = "auto", inner: str = "pcd",
    damping: tuple[float, float] = (0.1, 0.003), relative_damping: bool = True, bounded: bool = False,
) -> Iteration:  # fmt: skip
    """SANLS: each pair from a sketch of X; `sketch_size` is a fraction of either side, `damping` (α, β) of μ_t = α + β t."""
    if sketch not in KINDS:
        raise OptionError(f"sketch={sketch!r} is not known; expected one of: {', '.join(KINDS)}.")
    if inner not in ("pcd", "pgd"):
        raise OptionError(f"inner={inner!r} is not known; expected 'pcd' or 'pgd'.")
    if sketch_size != "auto" and not (isinstance(sketch_size, (int, float)) and 0 < sketch_size <= 1):
        raise OptionError(f"sketch_size={sketch_size!r}; expected 'auto' or a fraction of the sides, in (0, 1].")
    sizes = sketch_sizes(problem.shape, problem.k, sketch_size)
    careful = Damping(*numbers(damping, "damping"), relative_damping)
    if inner == "pgd" and not relative_damping and careful.alpha == 0:
        raise OptionError(
            "damping starts at 0, so the first gradient step would be endless; begin with a positive number."
        )
    return Sanls(sketch, sizes, careful, problem.dress, inner, bounded, problem.penalty, problem.seed)


def randomized(
    problem: Problem, *, oversampling: int = 20, power_iterations: int = 2,
    acceleration: int | str = "auto", extrapolate: bool | str = "auto",
) -> Iteration:  # fmt: skip
    """HALS on a compressed X, then on X itself; `oversampling` columns beside k, the other options as for "hals"."""
    exact = hals(problem, acceleration=acceleration, extrapolate=extrapolate)
    width = problem.k + whole(oversampling, "oversampling")
    if width >= min(problem.shape):
        return exact  # nothing to be compressed
    if isinstance(power_iterations, bool) or not isinstance(power_iterations, int) or power_iterations < 0:
        raise OptionError(f"power_iterations={power_iterations!r}; expected a whole number ≥ 0.")
    small = replace(problem, nnz=width * sum(problem.shape))
    compressed = hals(small, acceleration=acceleration, extrapolate=extrapolate)
    return Randomized(compressed, exact, width, power_iterations, seed=problem.seed)


SOLVERS: Mapping[str, Callable[..., Iteration]] = {
    "hals": hals, "bpp": bpp, "mu": mu, "pgd": pgd, "nesterov": nesterov, "ipalm": ipalm, "admm": admm,
    "sanls": sanls, "randomized": randomized,
}  # fmt: skip
# measure no KKT residual: they stop when the objective stands still over so many iterations
WINDOWS = {"mu": 10, "sanls": 30}
ALIASES = {"cd": "hals"}  # scikit-learn's name


def method(solver: str, problem: Problem, options: Mapping[str, Any]) -> Iteration:
    """The named method for a problem, or the sentence why not."""
    name = ALIASES.get(solver, solver)
    if name not in SOLVERS:
        raise OptionError(f"solver={solver!r} is not known; expected one of: auto, {', '.join([*SOLVERS, *ALIASES])}.")
    build = SOLVERS[name]
    known = [p.name for p in inspect.signature(build).parameters.values() if p.kind is p.KEYWORD_ONLY]
    unknown = sorted(set(options) - set(known))
    if unknown:
        can = f"its options are: {', '.join(known)}" if known else "it has no options"
        raise OptionError(f"solver={solver!r} does not know {', '.join(unknown)}; {can}.")
    refuse_unfit(name, problem, solver)
    return build(problem, **options)


def refuse_unfit(name: str, problem: Problem, solver: str) -> None:
    """Not every method can do everything: say so, and which can."""
    if problem.beta != 2 and name != "mu":
        raise OptionError(
            f"Invalid beta_loss parameter: solver {solver!r} does not handle beta_loss = {problem.beta!r}, it minimises the Frobenius "
            "loss only; use solver='mu' or 'auto'."
        )
    if problem.rows_sum_to_one and name not in ("hals", "pgd", "nesterov", "ipalm", "randomized"):
        raise OptionError(
            f"solver={name!r} cannot keep rows that sum to one; use solver='hals', 'nesterov', 'pgd' or 'ipalm'."
        )
    if problem.rows_sum_to_one and problem.bounded == "W":
        raise OptionError(
            "Rows of W that sum to one and a penalty on H alone cannot be had together; penalise both or none."
        )
    if problem.bounded and name not in ("hals", "mu", "pgd", "nesterov", "ipalm", "randomized"):
        raise OptionError(f"solver={name!r} cannot penalise one factor only (the other would have to be bounded, or the penalty is "
                          "escaped by rescaling); penalise both, or use solver='hals'.")  # fmt: skip


def whole(value: Any, name: str) -> int:
    """A positive whole number, or a sentence."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise OptionError(f"{name}={value!r}; expected a positive whole number.")
    return value


def numbers(value: Any, name: str) -> tuple[float, float]:
    """Two numbers ≥ 0, or a sentence."""
    pair = tuple(value) if isinstance(value, (tuple, list)) else ()
    if len(pair) != 2 or not all(isinstance(part, (int, float)) and 0 <= part < float("inf") for part in pair):
        raise OptionError(f"{name}={value!r}; expected two numbers ≥ 0.")
    return float(pair[0]), float(pair[1])
