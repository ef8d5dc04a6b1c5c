"""What `partwise plan --ranks` does: every method's memory, messages and time on so many ranks, by the model, and what auto would pick."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from rich.table import Table

from partwise.algorithms.distributed.auto import PACE, Choice, choose
from partwise.algorithms.distributed.model import Estimate, Speed, estimates
from partwise.algorithms.single.problem import Problem
from partwise.cli import screen, sources
from partwise.comm import OWN, Network
from partwise.currency import NormalEq
from partwise.data import layout
from partwise.estimators.preparing import problem_of
from partwise.estimators.settings import Settings
from partwise.kernels.threads import threads as limited
from partwise.reports.quantities import counted, duration, size
from partwise.updates import Hals

WORK = 5e8  # multiplications of the product that is timed


class Plan(NamedTuple):
    """All that is told."""

    source: sources.OnRanks
    problem: Problem
    ranks: int
    network: Network
    speed: Speed
    found: list[Estimate]
    choice: Choice


def plan(
    data: str, key: str | None, missing: str, negative: str, dtype: object, settings: Settings, ranks: int, network: Network | None
) -> Plan:  # fmt: skip
    """Of X only some rows are read, to see how fast this machine is with them: the rest follows from its shape."""
    with screen.Notes(screen.to_stderr()), limited(1):
        source = sources.by_parts(data, key, missing, negative, dtype, OWN)
        problem = problem_of(source.X, settings)
        speed, itemsize = _speed(source, problem.k), source.X.dtype.itemsize
    network = network or Network()
    choice = choose(problem, ranks, itemsize, network, speed)
    found = estimates(problem, ranks, itemsize, network, speed)
    return Plan(source, problem, ranks, network, speed, sorted(found, key=lambda made: made.seconds), choice)


def _speed(source: sources.OnRanks, k: int) -> Speed:
    """Flops a second of one thread here: of a product with some rows of X, and of a sweep over as many columns of a factor."""
    n, m = source.X.shape
    rows = min(n, max(256, int(WORK / max(1, source.X.nnz / n * k))))
    held = source.X.shard(layout("rows", (n, m), 2, row_cuts=(0, rows, n)), 0).own
    rng = np.random.default_rng(0)
    H, F = rng.random((k, m), np.float32).astype(held.dtype), rng.random((k, rows), np.float32).astype(held.dtype)
    pair = NormalEq(H @ H.T, held.times(H))
    products = 2 * max(held.nnz, 1) * k / _seconds(lambda: held.times(H))
    return Speed(products, 2 * rows * k**2 / _seconds(lambda: Hals().solve(F, pair)))


def _seconds(task: Callable[[], object], times: int = 3) -> float:
    """Of this process, which has one thread, so that others on the machine hardly count; the least of a few, after one that compiles."""
    taken = []
    for _ in range(times + 1):
        began = time.process_time()
        task()
        taken.append(time.process_time() - began)
    return max(min(taken[1:]), 1e-9)


def tell(made: Plan) -> None:
    """A table of the methods, the fastest iteration first, and the choice."""
    network = made.network
    screen.show(
        f"{made.source.name} in {counted(made.problem.k, 'part')} on {counted(made.ranks, 'rank')}",
        [
            ("data", made.source.describe()),
            ("network", f"{1e6 * network.latency:g} µs, {8e-9 * network.bandwidth:g} Gbit/s out of each rank"),
            (
                "a rank",
                f"{made.speed.products / 1e9:.3g} GFLOP/s in products with X, {made.speed.sweeps / 1e9:.3g} in sweeps, one thread",
            ),
        ],
    )
    out = screen.to_stdout(piped_width=110)
    out.print()
    out.print(_table(made))
    out.print()
    small = f"small steps: it takes about {PACE['did'] / PACE['dsanls']:.0f} of them to get as far as auto's DID does in one"
    rows = [("takes", made.choice.algorithm), ("because", made.choice.why), ("dsanls", small)]
    screen.show("auto", rows if any(line.name == "dsanls" for line in made.found) else rows[:2])


def _table(made: Plan) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    for name in ("algorithm", "X by", "memory", "messages", "sends", "computing", "talking", "iteration"):
        table.add_column(name, justify="left" if name in ("algorithm", "X by") else "right", no_wrap=True)
    for line in made.found:
        pr, pc = line.layout.grid
        cut = f"{pr}×{pc} blocks" if line.layout.kind in ("grid", "shared") else CUTS[line.layout.kind]
        table.add_row(
            line.name, cut, size(line.memory.total), f"{line.talking.messages:,.3g}", size(line.talking.bytes),
            duration(line.computing), duration(line.talking.seconds), duration(line.seconds),
            style="bold" if line.name == made.choice.algorithm else None,
        )  # fmt: skip
    return table


CUTS = {"rows": "rows", "columns": "columns", "both": "rows + columns", "whole": "whole"}


def tell_json(made: Plan) -> None:
    """The same for machines."""
    X, choice = made.source.X, made.choice
    screen.show_json(
        {
            "shape": list(X.shape), "stored": X.nnz, "dtype": X.dtype.name, "ranks": made.ranks,
            "latency_seconds": made.network.latency, "bandwidth_bytes_per_second": made.network.bandwidth,
            "flops_per_second": made.speed._asdict(),
            "algorithm": choice.algorithm, "options": dict(choice.options), "why": choice.why,
            "methods": [_facts(line) for line in made.found],
        }
    )  # fmt: skip


def _facts(line: Estimate) -> dict[str, object]:
    return {
        "algorithm": line.name, "layout": line.layout.kind, "grid": list(line.layout.grid),
        "memory_bytes": {**line.memory._asdict(), "total": line.memory.total},
        "collectives": line.collectives, "messages": line.talking.messages, "bytes": line.talking.bytes,
        "computing_seconds": line.computing, "talking_seconds": line.talking.seconds, "seconds": line.seconds,
    }  # fmt: skip
