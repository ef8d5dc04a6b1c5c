"""What the methods for a cluster cost: time and bytes of an iteration on 1 to 1,024 ranks, time to an error, two ranks on MPI.

`python -m benchmarks.cluster -h`. One rank of many works on its share, as if all others had the same to say, and its processor time
counts; the messages that its method declares are priced by the model of a network (`comm.network`). Two ranks on MPI are measured as they
are. The tables are in docs/cluster-benchmarks.md.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.store import Row, Store
from benchmarks.workloads import WORKLOADS, given
from partwise.algorithms.distributed.methods import layout_for, method
from partwise.algorithms.distributed.spread import Spread
from partwise.algorithms.single.problem import Problem
from partwise.comm import OWN, Grid, Network
from partwise.comm.widths import shares
from partwise.data import Shard, as_matrix, shard_of
from partwise.datasets import load
from partwise.drivers.iterate import begin
from partwise.kernels.threads import threads
from partwise.reports.tables import markdown

CASES = (("mnist", 50, 8), ("yaleb", 50, 3), ("tdt2", 50, 5), ("condmat", 20, 3))  # k; seconds for the errors
METHODS = (
    "did",
    "did, extrapolated",
    "dbcd",
    "hpc-anls-hals",
    "hpc-anls-mu",
    "hpc-anls-bpp",
    "dadmm",
    "d-hals",
    "maxios",
    "dsanls",
    "dsanls, subsampled",
)
OPTIONS: dict[str, dict[str, Any]] = {
    "did, extrapolated": {"acceleration": "auto", "extrapolate": True},
    "dsanls, subsampled": {"sketch": "subsample"},  # DSANLS/S; else count sketches
}
RANKS = (1, 4, 16, 64, 256, 1024)
SLOW = ("hpc-anls-bpp", "dadmm")
NETWORK = Network()  # 2 µs, 100 Gb/s
TIMED = 3  # iterations, the fastest of which counts


@dataclass(frozen=True)
class Alike:
    """The first of many ranks, all of whom say what it says."""

    size: int
    rank: int = 0

    def sum(self, A: Any) -> Any:
        return A * A.dtype.type(self.size)

    def gather(self, part: Any, widths: Any) -> Any:
        return np.ascontiguousarray(np.resize(part.T, (sum(widths), *part.shape[:-1])).T)

    def sum_scatter(self, A: Any, widths: Any) -> Any:
        return A[..., shares(widths)[0]] * A.dtype.type(self.size)


@dataclass
class Stopwatch:
    """A communicator that adds up the time of its calls, waiting for others among it."""

    inner: Any
    spent: list[float] = field(default_factory=lambda: [0.0])

    def __getattr__(self, word: str) -> Any:
        call = getattr(self.inner, word)
        if not callable(call):
            return call

        def clocked(*given: Any) -> Any:
            began = time.perf_counter()
            found = call(*given)
            self.spent[0] += time.perf_counter() - began
            return Stopwatch(found, self.spent) if word == "split" else found

        return clocked


def made(workload: str, k: int) -> tuple[Any, np.ndarray, np.ndarray]:
    """X in single precision, and a start."""
    if workload == "condmat":
        X: Any = sp.csr_array(load("snap_ca_condmat_lcc").X, dtype=np.float64)
    else:
        X = next(w for w in WORKLOADS if w.name == workload).make(0)
    X, W, H = given(X, k, 0, "float32")
    return as_matrix(X), np.ascontiguousarray(W.T), H


def prepared(name: str, problem: Problem, ranks: int) -> tuple[Any, Any]:
    """(layout, method)."""
    algorithm = name.partition(",")[0]
    cut = layout_for(algorithm, problem, ranks)
    return cut, method(algorithm, problem, cut, OPTIONS.get(name, {}))


def clocked(step: Any, held: Shard, Wt: np.ndarray, H: np.ndarray) -> dict[str, float]:
    """The seconds of an iteration, of which `talk` by the model, and what travels in it."""
    (pr, pc), comm = held.layout.grid, Alike(held.layout.ranks)
    mine = Spread(held, comm, {"grid": Grid(comm, Alike(pc), Alike(pr))})  # type: ignore[arg-type]
    state, clocks = step.init(mine, Wt, H), []
    for t in range(1, TIMED + 2):
        began = time.thread_time()
        state = step.step(mine, state, t)
        clocks.append(time.thread_time() - began)
    said = step.messages(2)
    cost = NETWORK.of(said, 4)
    payload = sum(message.numbers * (8 if message.wide else 4) for message in said)
    seconds = min(clocks[1:]) + cost.seconds  # the first iteration meets its pages and libraries
    return {"seconds": seconds, "talk": cost.seconds, "messages": cost.messages, "payload": payload, "wire": cost.bytes}


def strong(name: str, X: Any, Wt: np.ndarray, H: np.ndarray, ranks: int) -> dict[str, float]:
    """An iteration on X cut for so many ranks."""
    cut, step = prepared(name, Problem(X.shape, X.nnz, len(H)), ranks)
    return clocked(step, shard_of(X, cut, 0), Wt[:, cut.part_W(0)].copy(), H[:, cut.part_H(0)].copy())


def weak(name: str, block: Any, Wt: np.ndarray, H: np.ndarray, ranks: int) -> dict[str, float]:
    """An iteration where every rank has as many rows."""
    rows, m = block.shape
    cut, step = prepared(name, Problem((rows * ranks, m), block.nnz * ranks, len(H)), ranks)
    return clocked(step, Shard(cut, 0, block), Wt, H)


def path_of(name: str, X: Any, Wt: np.ndarray, H: np.ndarray, seconds: float) -> dict[str, Any]:
    """The relative errors on the way, as the method tells them: a point where they fell by another 0.05 %."""
    cut, step = prepared(name, Problem(X.shape, X.nnz, len(H)), 1)
    mine = Spread(shard_of(X, cut, 0), OWN)
    state, trace = begin(step, mine, Wt, H, relative=True)
    kept, end, last, t, ends = [], float("inf"), float("inf"), 0, time.thread_time() + seconds
    while time.thread_time() < ends:
        t += 1
        state = step.step(mine, state, t)
        end = min(end, trace.relative_error(state.loss)) if state.loss == state.loss else end
        if end < 0.9995 * last:
            kept.append(f"{t}:{end:.6g}")
            last = end
    return {"end": end, "iterations": t, "path": " ".join(kept)}


def worker(workload: str, k: int, iterations: int, names: list[str]) -> None:
    """What a rank of an MPI job does: rank 0 tells the seconds of an iteration, and how many of them were spent in its calls."""
    from partwise.comm.mpi import world

    comm = world()
    X, Wt, H = made(workload, k)
    for name in names:
        cut, step = prepared(name, Problem(X.shape, X.nnz, k), comm.size)
        watch = Stopwatch(comm)
        mine = Spread(shard_of(X, cut, comm.rank), watch)  # type: ignore[arg-type]
        state = step.init(mine, Wt[:, cut.part_W(comm.rank)].copy(), H[:, cut.part_H(comm.rank)].copy())
        clocks = []
        for t in range(1, iterations + 2):
            comm.barrier()
            watch.spent[0], began = 0.0, time.perf_counter()
            state = step.step(mine, state, t)
            clocks.append((time.perf_counter() - began, watch.spent[0]))
        seconds, talk = sorted(clocks[1:])[iterations // 2]
        if comm.rank == 0:
            print(json.dumps({"method": name, "seconds": seconds, "talk": talk}), flush=True)


def on_mpi(workload: str, k: int, ranks: int, iterations: int = 15) -> Iterator[dict[str, Any]]:
    """The same for a job of so many ranks."""
    names = [name for name in METHODS if name not in SLOW]
    words = [sys.executable, "-m", "benchmarks.cluster", "--worker", workload, str(k), str(iterations), *names]
    job = [str(Path(sys.executable).with_name("mpiexec")), "-n", str(ranks), *words]
    one_thread = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    found = subprocess.run(job, env={**os.environ, **one_thread}, capture_output=True, text=True, check=True)
    yield from (json.loads(line) for line in found.stdout.splitlines() if line.startswith("{"))


def keep(store: Store, part: str, key: dict[str, Any], measure: Callable[..., dict[str, Any]], *given: Any) -> None:
    """One row, unless it is there."""
    if not any({a: str(b) for a, b in key.items()}.items() <= row.items() for row in store.rows(part)):
        store.add(part, {**key, **measure(*given)})
        print(part, *key.values(), flush=True)


def measure(store: Store, workload: str, k: int, seconds: float) -> None:
    """All of one X: strong scaling, how the error falls; weak scaling on MNIST."""
    X, Wt, H = made(workload, k)
    for name in METHODS:
        key = {"workload": workload, "k": k, "method": name}
        for ranks in (
            RANKS if name not in SLOW else [p for p in RANKS if X.shape[0] // p >= k]
        ):  # else all grams are singular
            keep(store, "strong", {**key, "ranks": ranks}, strong, name, X, Wt, H, ranks)
        keep(store, "errors", key, path_of, name, X, Wt, H, seconds * (2 if name in SLOW else 1))
    if workload == "mnist":
        block = X.rows(slice(0, 1000))
        for ranks in RANKS:
            keep(store, "weak", {"ranks": ranks, "rows": 1000}, weak, "did", block, Wt[:, :1000].copy(), H, ranks)


def reached(row: Row, level: float) -> int | None:
    """The first iteration with an error as small as this."""
    points = (point.split(":") for point in row["path"].split())
    return next((int(t) for t, error in points if float(error) <= level), None)


def of_workload(strong: list[Row], errors: dict[str, Row]) -> Iterator[list[str]]:
    """A line for each method."""
    yield ["method", "kB, 16 ranks", "MB sent, 16", *(f"ms, {p}" for p in RANKS), "iterations to 1 %",
           *(f"s, {p}" for p in (1, 16, 1024)), "iterations to 0.1 %", "end, %"]  # fmt: skip
    best = min(float(row["end"]) for row in errors.values())
    for name in errors:
        by = {int(row["ranks"]): row for row in strong if row["method"] == name}
        t, later = (reached(errors[name], best * level) for level in (1.01, 1.001))
        totals = [f"{t * float(by[p]['seconds']):.3g}" if t and p in by else "–" for p in (1, 16, 1024)]
        gap = 100 * (float(errors[name]["end"]) / best - 1)
        size = [f"{float(by[16]['payload']) / 1e3:,.0f}", f"{float(by[16]['wire']) / 1e6:.3g}"]
        times = [f"{1e3 * float(by[p]['seconds']):.3g}" if p in by else "–" for p in RANKS]
        yield [name, *size, *times, str(t or "–"), *totals, str(later or "–"), f"{gap:.2f}"]


def of_mpi(rows: list[Row]) -> Iterator[list[str]]:
    """A line for each method and X."""
    yield ["data", "method", "ms, 1 rank", "ms, 2 ranks", "times faster", "of it in calls of MPI"]
    for two in (row for row in rows if row["ranks"] == "2"):
        one = next(
            r for r in rows if r["ranks"] == "1" and all(r[name] == two[name] for name in ("workload", "method"))
        )
        a, b = float(one["seconds"]), float(two["seconds"])
        share = f"{100 * float(two['talk']) / b:.1f} %"
        yield [two["workload"], two["method"], f"{1e3 * a:.3g}", f"{1e3 * b:.3g}", f"{a / b:.2f}", share]


def tables(store: Store) -> Iterator[str]:
    """All tables that there are, as Markdown."""
    for workload, k, _ in CASES:
        errors = {row["method"]: row for row in store.rows("errors") if row["workload"] == workload}
        if errors:
            rows = [row for row in store.rows("strong") if row["workload"] == workload]
            yield f"### {workload}, k = {k}\n\n{markdown(list(of_workload(rows, errors)))}\n"
    lines = [
        [r["ranks"], f"{1e3 * float(r['seconds']):.3g}", f"{1e3 * float(r['talk']):.3g}"] for r in store.rows("weak")
    ]
    yield f"### did, 1,000 rows on each rank\n\n{markdown([['ranks', 'ms', 'of it messages'], *lines])}\n"
    yield f"### Two ranks on MPI\n\n{markdown(list(of_mpi(store.rows('mpi'))))}\n"


def main() -> None:
    """Measure what is not stored yet; tell all."""
    words = argparse.ArgumentParser("python -m benchmarks.cluster", description=__doc__)
    words.add_argument("--out", type=Path, default=Path(__file__).parent / "results-cluster")
    words.add_argument("--only", default="", help="workloads, as in mnist,tdt2; or mpi")
    words.add_argument("--show", action="store_true", help="measure nothing")
    words.add_argument("--worker", nargs="+", help=argparse.SUPPRESS)
    asked = words.parse_args()
    store, only = Store(asked.out), asked.only.split(",") if asked.only else []
    with threads(1):
        if asked.worker:
            workload, k, iterations, *names = asked.worker
            worker(workload, int(k), int(iterations), names)
            return
        for workload, k, seconds in () if asked.show else CASES:
            if not only or workload in only:
                measure(store, workload, k, seconds)
    for workload, k, _ in CASES if not asked.show and (not only or "mpi" in only) else ():
        for ranks in (1, 2):
            for found in on_mpi(workload, k, ranks):
                keep(store, "mpi", {"workload": workload, "method": found.pop("method"), "ranks": ranks}, dict, found)
    print("\n".join(tables(store)))


if __name__ == "__main__":
    main()
