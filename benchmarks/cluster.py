"""What the methods for a cluster cost: time and bytes of an iteration on 1 to 1,024 ranks, time to an error, two ranks on MPI.

`python -m benchmarks.cluster -h`. Up to two ranks are measured; more are simulated: each rank's computing by its processor time, its
messages by the model of a network (`comm.network`). The tables are in docs/cluster-benchmarks.md.
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
from partwise.comm import OWN, Network, simulate
from partwise.data import Shard, as_matrix, shard_of
from partwise.datasets import load
from partwise.drivers.iterate import begin
from partwise.kernels.threads import threads
from partwise.reports.tables import markdown

CASES = (("mnist", 50, 12), ("yaleb", 50, 4), ("tdt2", 50, 6), ("condmat", 20, 4))  # k; seconds for the errors
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
)
RANKS = (1, 4, 16, 128, 1024)
MOST = {"d-hals": 16, "maxios": 16}  # every rank holds all of W: that many copies don't fit into one machine's memory
SLOW = ("hpc-anls-bpp", "dadmm")
NETWORK = Network()  # 2 µs, 100 Gb/s
TIMED = 3  # iterations, the fastest of which counts
FAST = {"acceleration": "auto", "extrapolate": True}


def chosen(name: str) -> tuple[str, dict[str, Any]]:
    """(algorithm, options)."""
    plain = name.removesuffix(", extrapolated")
    return plain, FAST if plain != name else {}


def made(workload: str, k: int) -> tuple[Any, np.ndarray, np.ndarray]:
    """X as single precision, and a start."""
    if workload == "condmat":
        X: Any = sp.csr_array(load("snap_ca_condmat_lcc").X, dtype=np.float64)
    else:
        X = next(w for w in WORKLOADS if w.name == workload).make(0)
    X, W, H = given(X, k, 0, "float32")
    return as_matrix(X), np.ascontiguousarray(W.T), H


def prepared(name: str, X: Any, k: int, ranks: int) -> tuple[Any, Any]:
    """(layout, method)."""
    algorithm, options = chosen(name)
    problem = Problem(X.shape, X.nnz, k)
    cut = layout_for(algorithm, problem, ranks)
    return cut, method(algorithm, problem, cut, options)


def timed(name: str, X: Any, Wt: np.ndarray, H: np.ndarray, ranks: int) -> dict[str, float]:
    """The seconds of an iteration by the slowest rank's clock, and what travels in it."""
    cut, step = prepared(name, X, len(H), ranks)

    def body(comm: Any) -> tuple[float, float]:
        mine = Spread(shard_of(X, cut, comm.rank), comm)
        state = step.init(mine, Wt[:, cut.part_W(comm.rank)].copy(), H[:, cut.part_H(comm.rank)].copy())
        best = float("inf")
        for t in range(1, TIMED + 2):
            comm.barrier()  # all clocks show the same
            began = comm.now
            state = step.step(mine, state, t)
            comm.barrier()
            best = min(best, comm.now - began) if t > 1 else best  # the first one meets its pages and libraries
        return best - NETWORK.barrier(0, ranks).seconds

    seconds = max(simulate(body, ranks, NETWORK, clock="cpu").results)
    said = step.messages(2)
    cost = NETWORK.of(said, 4)
    payload = sum(message.numbers * (8 if message.wide else 4) for message in said)
    return {"seconds": seconds, "talk": cost.seconds, "messages": cost.messages, "payload": payload, "wire": cost.bytes}


def path_of(name: str, X: Any, Wt: np.ndarray, H: np.ndarray, seconds: float) -> list[float]:
    """The relative error after every iteration, as the method tells it; those it didn't measure repeat the last."""
    cut, step = prepared(name, X, len(H), 1)
    mine = Spread(shard_of(X, cut, 0), OWN)
    state, trace = begin(step, mine, Wt, H, relative=True)
    errors, ends, t = [trace.relative_error()], time.thread_time() + seconds, 0
    while time.thread_time() < ends:
        t += 1
        state = step.step(mine, state, t)
        errors.append(trace.relative_error(state.loss) if state.loss == state.loss else errors[-1])
    return errors


@dataclass
class Stopwatch:
    """A communicator that adds up the time of its collectives, waiting for others among it."""

    inner: Any
    spent: list[float] = field(default_factory=lambda: [0.0])

    def __getattr__(self, word: str) -> Any:
        call = getattr(self.inner, word)
        if not callable(call) or word == "barrier":
            return call

        def clocked(*given: Any) -> Any:
            began = time.perf_counter()
            found = call(*given)
            self.spent[0] += time.perf_counter() - began
            return Stopwatch(found, self.spent) if word == "split" else found

        return clocked


def worker(workload: str, k: int, names: list[str], iterations: int) -> None:
    """What one rank of an MPI job does: rank 0 tells the seconds of an iteration, and the share of them spent in collectives."""
    from partwise.comm.mpi import world

    comm = world()
    X, Wt, H = made(workload, k)
    for name in names:
        cut, step = prepared(name, X, k, comm.size)
        watch = Stopwatch(comm)
        held = shard_of(X, cut, comm.rank)
        mine = Spread(Shard(cut, comm.rank, held.rows, held.columns, held.block), watch)  # type: ignore[arg-type]
        with threads(1):
            state = step.init(mine, Wt[:, cut.part_W(comm.rank)].copy(), H[:, cut.part_H(comm.rank)].copy())
            clocks = []
            for t in range(1, iterations + 2):
                comm.barrier()
                watch.spent[0], began = 0.0, time.perf_counter()
                state = step.step(mine, state, t)
                clocks.append((time.perf_counter() - began, watch.spent[0]))
        middle = sorted(clocks[1:])[iterations // 2]
        if comm.rank == 0:
            print(json.dumps({"method": name, "seconds": middle[0], "talk": middle[1]}), flush=True)


def on_mpi(workload: str, k: int, ranks: int, iterations: int) -> Iterator[dict[str, Any]]:
    """The same in a job of so many ranks."""
    names = [name for name in METHODS if name not in SLOW]
    words = [sys.executable, "-m", "benchmarks.cluster", "--worker", workload, str(k), str(iterations), *names]
    job = [str(Path(sys.executable).with_name("mpiexec")), "-n", str(ranks), *words]
    one_thread = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
    found = subprocess.run(job, env={**os.environ, **one_thread}, capture_output=True, text=True, check=True)
    yield from (json.loads(line) for line in found.stdout.splitlines() if line.startswith("{"))


def measure(store: Store, part: str, key: dict[str, Any], make: Callable[[], dict[str, Any]]) -> None:
    """One row, unless it is there."""
    if not any({a: str(b) for a, b in key.items()}.items() <= row.items() for row in store.rows(part)):
        store.add(part, {**key, **make()})
        print(part, *key.values(), *store.rows(part)[-1].values(), flush=True)


def scaling(store: Store, workload: str, k: int, seconds: float) -> None:
    """Strong: the same X on ever more ranks; and how the error falls."""
    X, Wt, H = made(workload, k)
    for name in METHODS:
        for ranks in RANKS:
            if ranks <= MOST.get(name, RANKS[-1]) and ranks <= max(X.shape):
                key = {"workload": workload, "k": k, "method": name, "ranks": ranks}
                measure(store, "strong", key, lambda name=name, ranks=ranks: timed(name, X, Wt, H, ranks))
        budget = seconds * (2 if name in SLOW else 1)
        key = {"workload": workload, "k": k, "method": name}
        measure(store, "errors", key, lambda name=name, budget=budget: _levels(path_of(name, X, Wt, H, budget)))


def _levels(errors: list[float]) -> dict[str, Any]:
    """A path, thinned out: iterations at which the error first came below levels one thousandth apart."""
    kept, last = [], float("inf")
    for t, error in enumerate(errors):
        if error < last * 0.9995:
            kept.append(f"{t}:{error:.6g}")
            last = error
    return {"end": errors[-1], "iterations": len(errors) - 1, "path": " ".join(kept)}


def weak(store: Store, rows: int = 1000, k: int = 50) -> None:
    """Every rank gets as many rows: pictures of MNIST, the same ones on each."""
    X, _, H = made("mnist", k)
    block = X.rows(slice(0, rows))

    class Repeated:
        """As much of one block of rows below another as ranks there are."""

        def __init__(self, ranks: int) -> None:
            self.shape, self.nnz, self.dtype = (rows * ranks, X.shape[1]), block.nnz * ranks, X.dtype

        def rows(self, part: slice) -> Any:
            return block

    Wt = np.abs(np.random.default_rng(0).standard_normal((k, rows))).astype(np.float32)
    for ranks in RANKS:
        key = {"method": "did", "ranks": ranks, "rows": rows, "k": k}
        whole = np.broadcast_to(Wt[:, None, :], (k, ranks, rows)).reshape(k, -1)
        measure(store, "weak", key, lambda ranks=ranks, whole=whole: timed("did", Repeated(ranks), whole, H, ranks))


def reached(row: Row, level: float) -> int | None:
    """The first iteration with an error as small as this."""
    for point in row["path"].split():
        t, error = point.split(":")
        if float(error) <= level:
            return int(t)
    return None


def tables(store: Store) -> Iterator[str]:
    """All tables, as Markdown."""
    strong, errors = store.rows("strong"), store.rows("errors")
    for workload, k, _ in CASES:
        mine = [row for row in strong if row["workload"] == workload]
        ends = {row["method"]: row for row in errors if row["workload"] == workload}
        if not ends:
            continue
        best = min(float(row["end"]) for row in ends.values())
        lines = [["method", "bytes an iteration, 16 ranks", *(f"ms, {p} ranks" for p in RANKS), "iterations to 1 %",
                  *(f"s to 1 %, {p}" for p in (1, 16, 1024)), "iterations to 0.1 %", "end, % above best"]]  # fmt: skip
        for name in METHODS:
            by = {int(row["ranks"]): row for row in mine if row["method"] == name}
            if not by or name not in ends:
                continue
            t, later = (reached(ends[name], best * level) for level in (1.01, 1.001))
            times = [f"{1e3 * float(by[p]['seconds']):.3g}" if p in by else "–" for p in RANKS]
            totals = [f"{t * float(by[p]['seconds']):.3g}" if t and p in by else "–" for p in (1, 16, 1024)]
            gap = 100 * (float(ends[name]["end"]) / best - 1)
            payload = f"{int(float(by[16]['payload'])):,}" if 16 in by else "–"
            lines.append([name, payload, *times, str(t or "–"), *totals, str(later or "–"), f"{gap:.2f}"])
        yield f"### {workload}, k = {k}\n\n{markdown(lines)}\n"
    weak_rows = store.rows("weak")
    lines = [["ranks", "rows", "ms an iteration", "of which messages, by the model"]]
    lines += [[r["ranks"], str(int(r["ranks"]) * int(r["rows"])), f"{1e3 * float(r['seconds']):.3g}",
               f"{100 * float(r['talk']) / float(r['seconds']):.1f} %"] for r in weak_rows]  # fmt: skip
    yield f"### did, weak scaling\n\n{markdown(lines)}\n"
    mpi = store.rows("mpi")
    lines = [["data", "method", "ms, 1 rank", "ms, 2 ranks", "times faster", "in collectives at 2"]]
    for row in (row for row in mpi if row["ranks"] == "2"):
        one = next(r for r in mpi if r["ranks"] == "1" and all(r[n] == row[n] for n in ("workload", "method")))
        a, b = float(one["seconds"]), float(row["seconds"])
        lines.append([row["workload"], row["method"], f"{1e3 * a:.3g}", f"{1e3 * b:.3g}", f"{a / b:.2f}",
                      f"{100 * float(row['talk']) / b:.1f} %"])  # fmt: skip
    yield f"### Two ranks on MPI\n\n{markdown(lines)}\n"


def main() -> None:
    """Measure what is not stored yet; tell all."""
    words = argparse.ArgumentParser("python -m benchmarks.cluster", description=__doc__)
    words.add_argument("--out", type=Path, default=Path(__file__).parent / "results-cluster")
    words.add_argument("--only", default="", help="workloads, as in mnist,tdt2; or weak, or mpi")
    words.add_argument("--show", action="store_true", help="measure nothing")
    words.add_argument("--worker", nargs="+", help=argparse.SUPPRESS)
    asked = words.parse_args()
    if asked.worker:
        workload, k, iterations, *names = asked.worker
        worker(workload, int(k), names, int(iterations))
        return
    store, only = Store(asked.out), asked.only.split(",") if asked.only else []
    if not asked.show:
        with threads(1):
            for workload, k, seconds in CASES:
                if not only or workload in only:
                    scaling(store, workload, k, seconds)
            if not only or "weak" in only:
                weak(store)
        for workload, k, _ in CASES if not only or "mpi" in only else ():
            for ranks in (1, 2):
                for found in on_mpi(workload, k, ranks, 15):
                    key = {"workload": workload, "method": found.pop("method"), "ranks": ranks}
                    measure(store, "mpi", key, lambda found=found: found)
    print("\n".join(tables(store)))


if __name__ == "__main__":
    main()
