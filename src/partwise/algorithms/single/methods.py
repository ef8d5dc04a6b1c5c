"""The methods for one machine by name: what `solver=` and `--solver` take, and the options of each."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from partwise.algorithms.single.alternating import Alternating
from partwise.algorithms.single.extrapolated import Extrapolated
from partwise.algorithms.single.halved import Halved
from partwise.algorithms.single.multiplicative import Multiplicative
from partwise.algorithms.single.problem import Problem, sweeps_beside_pair
from partwise.algorithms.single.randomized import Randomized
from partwise.algorithms.single.sanls import Damping, Sanls, measure_every, sketch_sizes
from partwise.algorithms.single.sketched import Sketched, sample_sizes
from partwise.errors import OptionError
from partwise.protocols import Iteration, Passes, Update
from partwise.sketches import KINDS
from partwise.updates import Admm, AsRatio, BallHals, Bpp, Hals, Mu, Nesterov, Palm, Pgd, Refit
from partwise.updates.ball import Ball
from partwise.updates.gradient import simplex
from partwise.updates.mu import exponent_for


def hals(
    problem: Problem, *, acceleration: int | str = "auto", extrapolate: bool | str = "auto", halve: bool | str = "auto"
) -> Iteration:
    """HALS; options as for `sweeping`, and `halve`: sparse float64 data with factors in float32 while its digits suffice."""
    if halve not in (True, False, "auto"):
        raise OptionError(f"halve={halve!r}; expected True, False or 'auto'.")
    method = sweeping(problem, acceleration=acceleration, extrapolate=extrapolate)
    free = problem.sparse and problem.complete and not (problem.fixed or problem.rows_sum_to_one or problem.bounded)
    if halve is True and not free:
        raise OptionError(
            "halve=True is for sparse data without missing entries, weights, fixed components, rows that sum to one or a penalty on one "
            "factor only; leave it 'auto'."
        )
    return Halved(method) if free and halve else method


def sweeping(
    problem: Problem, *, acceleration: int | str = "auto", extrapolate: bool | str = "auto"
) -> Alternating | Extrapolated:
    """HALS; `acceleration` sweeps a pair ("auto": as many as are cheap beside the pair), `extrapolate`: Ang & Gillis."""
    sweeps = sweeps_wished(problem, acceleration)
    update_W: Update = Nesterov(project=simplex) if problem.rows_sum_to_one else Hals(sweeps[0])
    method = problem.alternating(
        BallHals() if problem.bounded == "W" else update_W, BallHals() if problem.bounded == "H" else Hals(sweeps[1])
    )
    return extrapolated(problem, method, extrapolate)


def sweeps_wished(problem: Problem, acceleration: int | str) -> tuple[int, int]:
    """(of W, of H) on a pair."""
    if acceleration == "auto":
        return sweeps_beside_pair(problem)
    sweeps = whole(acceleration, "acceleration")
    return sweeps, sweeps


def extrapolated(problem: Problem, method: Alternating, extrapolate: bool | str) -> Alternating | Extrapolated:
    """The method pushed ahead (Ang & Gillis), where that is wished and leaves neither the ball nor the simplex."""
    if extrapolate not in (True, False, "auto"):
        raise OptionError(f"extrapolate={extrapolate!r}; expected True, False or 'auto'.")
    free = not problem.bounded and not problem.rows_sum_to_one
    if extrapolate is True and not free:
        raise OptionError(
            "extrapolate=True cannot be had with rows that sum to one or a penalty on one factor only; leave it 'auto'."
        )
    return Extrapolated(method) if free and extrapolate else method


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
    measured: int | str = "auto",
) -> Sanls:  # fmt: skip
    """SANLS: each pair from a sketch of X; `sketch_size` is a fraction of either side, `damping` (α, β) of μ_t = α + β t.

    The loss is measured every `measured` iterations; "auto": as seldom as it takes for that to cost less than the iterations.
    """
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
    every = measure_every(problem.shape, sizes) if measured == "auto" else whole(measured, "measured")
    return Sanls(sketch, sizes, careful, problem.dress, inner, bounded, problem.penalty, problem.seed, every)


def randomized(
    problem: Problem, *, oversampling: int = 20, power_iterations: int = 2,
    acceleration: int | str = "auto", extrapolate: bool | str = "auto",
) -> Iteration:  # fmt: skip
    """HALS on a compressed X, then on X itself; `oversampling` columns beside k, the other options as for "hals"."""
    exact = sweeping(problem, acceleration=acceleration, extrapolate=extrapolate)
    width = problem.k + whole(oversampling, "oversampling")
    if width >= min(problem.shape):
        return exact  # nothing to be compressed
    if isinstance(power_iterations, bool) or not isinstance(power_iterations, int) or power_iterations < 0:
        raise OptionError(f"power_iterations={power_iterations!r}; expected a whole number ≥ 0.")
    small = replace(problem, nnz=width * sum(problem.shape), sparse=False)
    compressed = sweeping(small, acceleration=acceleration, extrapolate=extrapolate)
    return Randomized(compressed, exact, width, power_iterations, seed=problem.seed)


def sketched(
    problem: Problem, *, sample: tuple[float, float] = (4, 128),
    acceleration: int | str = "auto", extrapolate: bool | str = "auto",
) -> Sketched:  # fmt: skip
    """HALS on growing samples of X, then on X; `sample`: rows in the first and the last for each component."""
    first, last = numbers(sample, "sample")
    if not 0 < first <= last:
        raise OptionError(f"sample={sample!r}; expected two positive numbers, the first at most the second.")
    turned = problem.shape[1] > problem.shape[0] and not problem.fixed
    seen = problem.T if turned else problem
    refitting = seen.alternating(Refit(), Hals(sweeps_wished(seen, acceleration)[1]))

    def small(X: Passes) -> Iteration[Passes]:
        own = replace(seen, shape=X.shape, nnz=X.nnz)
        on_W, on_H = sweeps_wished(own, acceleration)
        share = seen.shape[0] / X.shape[0]  # a row stands for so many: so it pays their penalties in the objective
        paid = replace(seen.penalty, l1_W=share * seen.penalty.l1_W, l2_W=share * seen.penalty.l2_W)
        return extrapolated(own, replace(own.alternating(Hals(on_W), Hals(on_H)), penalty=paid), extrapolate)

    exact = sweeping(problem, acceleration=acceleration, extrapolate=extrapolate)
    sizes = sample_sizes(seen.shape[0], problem.k, first, last)
    return Sketched(sizes, small, refitting, exact, turned, problem.seed)


SOLVERS: Mapping[str, Callable[..., Iteration]] = {
    "hals": hals, "bpp": bpp, "mu": mu, "pgd": pgd, "nesterov": nesterov, "ipalm": ipalm, "admm": admm,
    "sanls": sanls, "randomized": randomized, "sketched": sketched,
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


def lasting(method: Iteration) -> Iteration:
    """What a method does in the long run: the exact iterations of those that begin with less than X."""
    return method.exact if isinstance(method, Randomized | Sketched | Halved) else method


def sampled_share(method: Iteration, shape: tuple[int, int]) -> float:
    """How much of X (n, m) a method holds a second time, at the most."""
    return method.sizes[-1] / max(shape) if isinstance(method, Sketched) and method.sizes else 0.0


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
