"""Parts beside what bounds them: sweeps beside GEMM, exact solves beside SciPy's, sparse products beside SciPy's, iterations beside
their two large products and beside scikit-learn's, imports."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import scipy.optimize
import scipy.sparse as sp

from benchmarks.workloads import WORKLOADS, given
from partwise.compare import peers
from partwise.compare.clock import clock, pinned
from partwise.currency import State
from partwise.data import as_matrix
from partwise.data.simulate import planted, spectra, topics
from partwise.drivers.iterate import one_iteration
from partwise.estimators.factorize import prepare
from partwise.estimators.settings import Settings
from partwise.kernels.bpp import bpp
from partwise.kernels.hals import hals_sweeps
from partwise.kernels.sparse import gather, scatter

Rows = Iterator[dict[str, Any]]
Task = Callable[[], Any]
PLAIN = {"acceleration": 1, "extrapolate": False, "halve": False}
# ms per iteration on the machine that the goals were set on: scikit-learn, PLANC
KNOWN = {
    "dense k=20": (93, 73),
    "dense k=100": (304, 222),
    "tall k=50": (448, 379),
    "sparse k=20": (52, 111),
    "sparse k=100": (728, 3175),
}


def fastest(*tasks: Task, seconds: float = 0.6, least: int = 3, clock: Callable[[], float] = clock) -> list[float]:
    """The shortest time of each task, all of them in turn, for so many seconds together and `least` times at least."""
    for task in tasks:
        task()
    times: list[list[float]] = [[] for _ in tasks]
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times[0]) < least:
        for task, taken in zip(tasks, times, strict=True):
            began = clock()
            task()
            taken.append(clock() - began)
    return [min(taken) for taken in times]


def row(
    what: str, case: str, ours: float, other: float, against: str, goal: float | str = "", unit: str = "ms"
) -> dict[str, Any]:
    """One line: times in `unit`, ours / other, and what that should be at most."""
    scale = {"ms": 1e3, "µs": 1e6, "s": 1.0}[unit]
    return {
        "what": what, "case": case, "ours": ours * scale, "against": against, "other": other * scale, "unit": unit,
        "ratio": ours / other, "goal": goal,
    }  # fmt: skip


def sweeps(quick: bool) -> Rows:
    """A HALS sweep beside the GEMM of the same flops, gram F."""
    rng = np.random.default_rng(0)
    for dtype in ("float32", "float64"):
        for r in (2048,) if quick else (2048, 100_000):
            for k in (20, 100) if quick else (10, 20, 50, 100, 200):
                A = rng.random((k, 2 * k), dtype=np.float64).astype(dtype)
                gram, F = A @ A.T, rng.random((k, r)).astype(dtype)
                cross, out = gram @ F, np.empty_like(F)
                ours, gemm = fastest(lambda: hals_sweeps(F, gram, cross), lambda: np.matmul(gram, F, out=out))  # noqa: B023
                goal = 1.6 if k >= 50 and dtype == "float32" else ""
                yield row("HALS sweep / GEMM", f"{dtype} r={r} k={k}", ours, gemm, "GEMM", goal)


def exact(quick: bool) -> Rows:
    """Block principal pivoting, µs a row, beside scipy.optimize.nnls on the same problems (made square by QR)."""
    goals, rows = {20: 2.7, 50: 20, 100: 156}, 2048
    for k in (20,) if quick else (20, 50, 100):
        problem = planted(rows, 3 * k, k, seed=0, noise=0.5)
        H, X = problem.H, problem.X
        Q, R = np.linalg.qr(H.T)
        gram, cross, right = H @ H.T, H @ X.T, X @ Q
        solution = bpp(np.zeros((k, rows)), gram, cross)
        near = solution * np.random.default_rng(0).uniform(0.9, 1.1, solution.shape)
        some = range(0, rows, 32)
        cold, warm, scipys = fastest(
            lambda: bpp(np.zeros((k, rows)), gram, cross),  # noqa: B023
            lambda: bpp(near, gram, cross),  # noqa: B023
            lambda: [scipy.optimize.nnls(R, right[i]) for i in some],  # noqa: B023
        )
        for name, ours in (("from zeros", cold), ("from near by", warm)):
            goal = f"{goals[k]} µs" if name == "from zeros" else ""
            yield row("BPP a row", f"k={k} {name}", ours / rows, scipys / len(some), "scipy nnls", goal, "µs")


def sparse_products(quick: bool) -> Rows:
    """H Xᵀ and Wᵀ X for CSR, beside SciPy's X Hᵀ and Xᵀ W."""
    shape = (5_000, 4_000) if quick else (50_000, 20_000)
    for dtype in ("float32", "float64"):
        X = topics(*shape, 100, seed=0, length=44).X.astype(dtype)
        for k in (20,) if quick else (20, 50, 100):
            _, W, H = given(X, k, 0, dtype)
            Wt, Ht = np.ascontiguousarray(W.T), np.ascontiguousarray(H.T)
            for name, ours, scipys in (
                ("X Hᵀ", lambda: gather(X.indptr, X.indices, X.data, H), lambda: X @ Ht),  # noqa: B023
                ("XᵀW", lambda: scatter(X.indptr, X.indices, X.data, Wt, shape[1]), lambda: X.T @ W),  # noqa: B023
            ):
                yield row("sparse product", f"{dtype} k={k} {name}", *fastest(ours, scipys), "scipy")


def _cases(quick: bool) -> Iterator[tuple[str, Any, int]]:
    """(name, X, k) for the iterations."""
    if quick:
        yield "dense k=20", spectra(2_000, 500, 40, seed=0).X, 20
        yield "sparse k=20", topics(5_000, 4_000, 50, seed=0, length=44).X, 20
        return
    makers = {w.name: w.make for w in WORKLOADS}
    for name, workload, ks in (
        ("dense", "correlated", (20, 100)),
        ("tall", "tall", (50,)),
        ("sparse", "topics", (20, 100)),
    ):
        X = makers[workload](0)
        yield from ((f"{name} k={k}", X, k) for k in ks)


def iterations(quick: bool) -> Rows:
    """One plain HALS iteration beside scikit-learn's, beside its own two large products, and beside NumPy's or SciPy's."""
    for dtype in ("float64", "float32"):
        for name, made, k in _cases(quick):
            X, W, H = given(made, k, 0, dtype)
            matrix, Wt = as_matrix(X), np.ascontiguousarray(W.T)
            other = peers.sklearn_cd(X, W, H)
            next(other)
            ours, sklearns, own, theirs = fastest(
                _stepper(matrix, Wt, H, PLAIN),
                lambda: next(other),  # noqa: B023
                lambda: (matrix.times(H), matrix.T.times(Wt)),  # noqa: B023
                _products(X, W, H, Wt),
                seconds=1.0 if quick else 4.0,
            )
            known = KNOWN[name] if dtype == "float64" and not quick else ("", "")
            case = f"{dtype} {name}"
            yield row("HALS iteration", case, ours, sklearns, "scikit-learn cd", "", "ms") | {
                "known": known[0],
                "planc": known[1],
            }
            yield row("iteration / its products", case, ours, own, "own products", 1.6 if sp.issparse(X) else 1.25)
            if sp.issparse(X):
                yield row("iteration / scipy's products", case, ours, theirs, "scipy products", 1.6)
            (default,) = fastest(_stepper(matrix, Wt, H, {}), seconds=0.5)
            yield row("default iteration / products", case, default, own, "own products")


def _stepper(matrix: Any, Wt: Any, H: Any, options: dict[str, Any]) -> Task:
    """Each call is one iteration, going on from the last."""
    method = prepare(matrix, Settings(len(H), solver="hals", options=options)).method
    at: list[Any] = [method.init(matrix, Wt, H), 0]

    def step() -> State:
        at[1] += 1
        at[0] = one_iteration(method, matrix, at[0], at[1])
        return at[0]

    return step


def _products(X: Any, W: Any, H: Any, Wt: Any) -> Task:
    if sp.issparse(X):
        Ht = np.ascontiguousarray(H.T)
        return lambda: (X @ Ht, X.T @ W)
    return lambda: (H @ X.T, Wt @ X)


def imports(quick: bool) -> Rows:
    """What partwise adds to a process that has imported scikit-learn's NMF."""
    theirs, both = (
        "from sklearn.decomposition import NMF",
        "from sklearn.decomposition import NMF; from partwise import NMF",
    )
    tasks = [lambda code=code: subprocess.run([sys.executable, "-c", code], check=True) for code in (theirs, both)]
    alone, together = fastest(*tasks, seconds=0, least=3 if quick else 7, clock=time.perf_counter)
    yield row("import beyond scikit-learn", "", together - alone, alone, "scikit-learn", "1 s", "s")


PARTS = {"sweeps": sweeps, "bpp": exact, "sparse": sparse_products, "iterations": iterations, "imports": imports}


def run(parts: Sequence[str], threads: int, quick: bool) -> Rows:
    """The named parts, in order."""
    with pinned(threads):
        for part in parts:
            for line in PARTS[part](quick):
                yield {"part": part, "threads": threads, "known": "", "planc": "", **line}
