"""Parties: how near each method comes to the pooled fit, over rounds, over time and over bytes; how long merging takes; many parties.

`OMP_NUM_THREADS=1 python -m benchmarks.parties -h`. The tables are in docs/federated.md.
"""

from __future__ import annotations

import argparse
import heapq
import importlib.util
import math
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, final

import numpy as np

from benchmarks.store import Row, Store
from partwise import datasets
from partwise.algorithms.federated.methods import method
from partwise.algorithms.federated.study import Study, fitted_W
from partwise.consensus import ALIGNMENTS, BARYCENTERS
from partwise.currency import Arrays, Field
from partwise.data import Entries, as_matrix
from partwise.data.partition import partition
from partwise.data.simulate_blocks import blocks
from partwise.drivers.arrivals import run_arrivals
from partwise.drivers.correspondence import Correspondence
from partwise.drivers.letters import Letter
from partwise.drivers.rounds import RoundPoint, Terms, run_rounds
from partwise.drivers.seat import Seat
from partwise.drivers.vault import Vault
from partwise.estimators.pooled import pooled_error
from partwise.privacy import paillier, secure_sum
from partwise.privacy.plaintexts import Plaintexts
from partwise.reports.figures import Figure, Line, Panel, draw
from partwise.reports.tables import markdown

METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "exact": ("exact", {}),
    "exact, one sweep": ("exact", {"sweeps": 1, "extrapolate": False}),
    "syn-sd": ("syn-sd", {}),
    "syn-ssd-v": ("syn-ssd-v", {}),
    "syn-ssd-u": ("syn-ssd-u", {}),
    "syn-ssd-uv": ("syn-ssd-uv", {}),
    "asyn-sd": ("asyn-sd", {}),
    "asyn-ssd-v": ("asyn-ssd-v", {}),
    "fedavg": ("fedavg", {}),
    "fedprox": ("fedprox", {}),
    "fnmf": ("fnmf", {}),
    "fnmf, own starts": ("fnmf", {"own_starts": True}),
    "fedavg, own starts": ("fedavg", {"own_starts": True}),
    "fedmavg": ("fedmavg", {}),
    "sfmf": ("sfmf", {}),
    "ipalm-once": ("ipalm-once", {}),
    "mur-once": ("mur-once", {}),
}
DRAWN = {  # a figure for each of these groups, so that lines can be told apart; exact is in both
    "sums-and-merging": (
        "exact", "exact, one sweep", "sfmf", "fedmavg", "fnmf", "fedprox", "fedavg", "ipalm-once", "mur-once",
    ),
    "sketches-and-own-starts": (
        "exact", "syn-sd", "syn-ssd-u", "syn-ssd-v", "syn-ssd-uv", "asyn-sd", "asyn-ssd-v", "fnmf, own starts", "fedavg, own starts",
    ),
}  # fmt: skip
# problem, partition, k: real and synthetic, uniform and skewed
CURVES = (
    ("mnist", "iid", 20),
    ("mnist", "skewed:0.5", 20),
    ("mnist", "label", 20),
    ("blocks", "iid", 20),
    ("blocks", "skewed:0.5", 20),
)


@final
@dataclass
class Paced:
    """Parties that work side by side, each on a core of its own, though they are computed one after another here.

    An answer comes when its party's processor time has passed on this clock; what the server takes between letters passes too.
    """

    seats: Sequence[Seat]
    now: float = 0.0
    _coming: list[tuple[float, int, Letter]] = field(default_factory=list)
    _count: int = 0
    _since: float = field(default_factory=time.process_time)

    @property
    def size(self) -> int:
        return len(self.seats)

    def post(self, letters: Sequence[Letter]) -> None:
        self.catch_up()
        for letter in letters:
            began = time.process_time()
            answer = self.seats[letter.party].answer(letter)
            self._count += 1
            heapq.heappush(self._coming, (self.now + time.process_time() - began, self._count, answer))
        self.rest()

    def next(self, seconds: float | None = None) -> Letter | None:
        if not self._coming:
            return None
        due, _, answer = heapq.heappop(self._coming)
        self.now = max(self.now, due)
        return answer

    def catch_up(self) -> None:
        """What the server has worked since it last waited."""
        self.now += time.process_time() - self._since
        self.rest()

    def rest(self) -> None:
        """From here on the server's time counts; what observers take does not."""
        self._since = time.process_time()


def problem(name: str, rows: int, seed: int) -> tuple[Any, Any]:
    """(X, labels) of so many rows."""
    if name == "blocks":
        made = blocks(rows, 1000, 20, seed=seed, noise="gaussian", level=0.1, dtype=np.float32)
        return made.X, np.argmax(made.W, axis=1)
    with np.load(datasets.fetch(name)) as held:
        chosen = np.sort(np.random.default_rng(seed).choice(len(held["y"]), rows, replace=False))
        return held["X"][chosen].astype(np.float32) / 255, held["y"][chosen]


def dealt(name: str, kind: str, rows: int, parties: int, seed: int) -> tuple[Entries, list[Entries]]:
    """(the pooled data, those of each party)."""
    X, labels = problem(name, rows, seed)
    places = partition(rows, parties, kind, labels=labels if kind == "label" else None, seed=seed)
    return as_matrix(X), [as_matrix(X[part]) for part in places]


def error(X: Entries, H: Any) -> float:
    """‖X − WH‖ / ‖X‖ for the best W."""
    return math.sqrt(X.sq_error(fitted_W(X, np.ascontiguousarray(H)), np.ascontiguousarray(H)) / X.sq_norm())


def curve(label: str, X: Entries, Xs: list[Entries], k: int, rounds: int, seed: int) -> Iterator[Row]:
    """Where a method stands after each round."""
    name, options = METHODS[label]
    last = 1 if name.endswith("-once") else rounds
    study = Study(k, X.shape[1], len(Xs), last, seed, X.dtype, tuple(part.shape[0] for part in Xs))
    chosen = method(name, study, options)
    transport = Paced([Seat("benchmark", chosen, part, p, Vault("benchmark")) for p, part in enumerate(Xs)])
    for seat in transport.seats:
        seat.private()  # a start is not a round
    transport.rest()
    points: list[Row] = []
    total = [0, 0]

    def observe(public: Arrays, point: RoundPoint) -> None:
        transport.catch_up()
        total[0] += point.bytes_up
        total[1] += point.bytes_down
        if point.t > 0:
            found = {"error": error(X, public["H"]), "clock": transport.now, "up": total[0], "down": total[1]}
            points.append({"method": label, "round": point.t, **found, "drift": point.drift})  # type: ignore[dict-item]
        transport.rest()

    mail = Correspondence("benchmark", transport)
    (run_arrivals if chosen.asynchronous else run_rounds)(chosen, mail, Terms(last), [observe])
    yield from points


def curves(store: Store, rows: int, parties: int, rounds: int, seeds: Sequence[int], names: Sequence[str]) -> None:
    """Every method on every problem, and the pooled fit."""
    for seed in seeds:
        for name, kind, k in CURVES:
            key = {
                "data": name,
                "partition": kind,
                "k": str(k),
                "rows": str(rows),
                "parties": str(parties),
                "seed": str(seed),
            }
            known = {row["method"] for row in store.rows("curves") if key.items() <= row.items()}
            left = [label for label in names if label not in known]
            if not left:
                continue
            X, Xs = dealt(name, kind, rows, parties, seed)
            pooled = pooled_error(Xs, k, seed)
            for label in left:
                for point in curve(label, X, Xs, k, rounds, seed):
                    store.add("curves", {**key, "pooled": pooled, **point})
                print(
                    name,
                    kind,
                    label,
                    f"{point['error'] / pooled - 1:.2%} above pooled",
                    f"{point['clock']:.2f} s",
                    flush=True,
                )


def gap(store: Store, seeds: Sequence[int], sizes: Sequence[int]) -> None:
    """The claim: exact federated HALS, 20 parties by label, k = 20, 15 rounds, beside the pooled fit."""
    for rows in sizes:
        for seed in seeds:
            if any(row["rows"] == str(rows) and row["seed"] == str(seed) for row in store.rows("gap")):
                continue
            X, Xs = dealt("mnist", "label", rows, 20, seed)
            pooled = pooled_error(Xs, 20, seed)
            for label in ("exact", "exact, one sweep", "fedavg", "fnmf"):
                *_, end = curve(label, X, Xs, 20, 15, seed)
                store.add("gap", {"rows": rows, "seed": seed, "method": label, "error": end["error"], "pooled": pooled})
                print(rows, seed, label, f"{end['error']:.4f}, pooled {pooled:.4f}", flush=True)


def merging(store: Store, parties: int, k: int, m: int) -> None:
    """Aggregation at the server: each barycenter with each alignment, of parties that hold noisy, permuted copies."""
    rng = np.random.default_rng(0)
    shared = rng.gamma(0.3, 1, (k, m)).astype(np.float32)
    parts = [(shared * rng.uniform(0.7, 1.3, (k, m)).astype(np.float32))[rng.permutation(k)] for _ in range(parties)]
    for barycenter, make in BARYCENTERS.items():
        for alignment in ("lap",) if barycenter == "mean" else tuple(ALIGNMENTS):
            if any((row["barycenter"], row["alignment"]) == (barycenter, alignment) for row in store.rows("merging")):
                continue
            center = make() if barycenter == "mean" else make(align=ALIGNMENTS[alignment]())
            took = []
            for _ in range(3 if alignment == "lap" else 1):
                began = time.process_time()
                merged = center(parts)
                took.append(time.process_time() - began)
            row = {"parties": parties, "k": k, "m": m, "barycenter": barycenter, "alignment": alignment}
            store.add("merging", {**row, "seconds": min(took), "objective": merged.objective})
            print(barycenter, alignment, f"{min(took):.3g} s", flush=True)


def many(store: Store, parties: int, rounds: int) -> None:
    """A thousand parties in one process: 60 rows of MNIST each, by label."""
    import resource

    for label in ("exact", "fnmf", "fedavg", "asyn-sd"):
        if any((row["method"], row["parties"]) == (label, str(parties)) for row in store.rows("many")):
            continue
        X, Xs = dealt("mnist", "label", 60 * parties, parties, 0)
        began = time.process_time()
        *_, end = curve(label, X, Xs, 20, rounds, 0)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        row = {
            "parties": parties,
            "method": label,
            "rounds": rounds,
            "error": end["error"],
            "seconds": time.process_time() - began,
        }
        store.add("many", {**row, "clock": end["clock"], "up": end["up"], "down": end["down"], "peak_GB": peak})
        print(*row.values(), f"peak {peak:.2g} GB", flush=True)


def hiding(store: Store, numbers: int = 620, parties: int = 20) -> None:
    """What it costs to add numbers that the adder may not see: masks, and Paillier's encryption, which SFMF's authors take."""
    packing = secure_sum.Packing({"v": Field((numbers,), np.dtype(np.float64))}, {"v": 1.0}, parties)
    by = f"Paillier, 2048 bits, {'gmpy2' if importlib.util.find_spec('gmpy2') else 'no gmpy2'}"
    for name, measure, size in ((by, encrypted, packing), (f"masks, {parties} parties", masked, packing)):
        if not any(row["by"] == name for row in store.rows("hiding")):
            store.add("hiding", {"by": name, **measure(size)})
    for row in store.rows("hiding"):
        print(*row.values(), flush=True)


def encrypted(packing: secure_sum.Packing) -> dict[str, float]:
    """Seconds and bytes for each number, as many being packed into a ciphertext as there is room for."""
    plain, said = Plaintexts(packing, 2048), {"v": np.random.default_rng(0).random(packing.fields["v"].shape)}
    secret, public = paillier.new_keys(2048)
    sealer, count = paillier.Sealer(public), len(said["v"])
    times = [time.process_time()]
    sealed = sealer.encrypt(plain.numbers(said, os.urandom))
    times.append(time.process_time())
    added = sealer.add([sealed, sealed])
    times.append(time.process_time())
    opened = packing.unpack(plain.packed(paillier.decrypt(secret, added)))
    times.append(time.process_time())
    assert np.allclose(opened["v"], 2 * said["v"])
    encrypt, add, decrypt = np.diff(times) / count
    return {
        "ciphertexts": plain.count,
        "bytes": sealed.nbytes / count,
        "encrypt": encrypt,
        "add": add,
        "decrypt": decrypt,
    }


def masked(packing: secure_sum.Packing, times_as_many: int = 100) -> dict[str, float]:
    """The same of masks."""
    parties, count = packing.parties, times_as_many * math.prod(packing.fields["v"].shape)
    ring, everyone = secure_sum.Ring(parties), list(range(parties))
    keys = [secure_sum.new_keys(os.urandom) for _ in range(parties)]
    roster = np.array([np.frombuffer(key, np.uint8) for _, key in keys])
    joined = secure_sum.join("benchmark", 0, ring, keys[0][0], roster)
    large = secure_sum.Packing({"v": Field((count,), np.dtype(np.float64))}, {"v": 1.0}, parties)
    said = {"v": np.random.default_rng(0).random(count)}
    times = [time.process_time()]
    secure_sum.masked(joined, 1, 1, everyone, large, said, os.urandom)
    times.append(time.process_time())
    total, upload = np.zeros(large.size, np.uint8), large.pack(said)
    began = time.process_time()
    large.add(total, upload)
    added = time.process_time() - began
    return {
        "ciphertexts": 0,
        "bytes": 8,
        "encrypt": (times[1] - times[0]) / count,
        "add": added / count,
        "decrypt": 0.0,
    }


def table(rows: Sequence[Row], at: int) -> list[list[str]]:
    """Percent above the pooled fit after `at` rounds and at the end; simulated seconds and megabytes to 5 % above it."""
    cases = list(dict.fromkeys((row["data"], row["partition"]) for row in rows))
    lines = [["method", *(f"{data}, {kind}" for data, kind in cases)]]
    for label in dict.fromkeys(row["method"] for row in rows):
        cells = []
        for data, kind in cases:
            own = [row for row in rows if (row["data"], row["partition"], row["method"]) == (data, kind, label)]
            cells.append(_cell(own, at) if own else "")
        lines.append([label, *cells])
    return lines


def _cell(own: Sequence[Row], at: int) -> str:
    def above(row: Row) -> float:
        return float(row["error"]) / float(row["pooled"]) - 1

    early = [row for row in own if int(row["round"]) <= at][-1]
    near = next((row for row in own if above(row) <= 0.05), None)
    reached = (
        "–"
        if near is None
        else f"{float(near['clock']):.2g} s, {(float(near['up']) + float(near['down'])) / 1e6:.3g} MB"
    )
    return f"{100 * above(early):.1f} / {100 * above(own[-1]):.1f} %; {reached}"


def figure(rows: Sequence[Row], data: str, drawn: Sequence[str]) -> Figure:
    """Error over rounds, over time and over bytes, a row of panels for each partition; the pooled fit as a level."""
    panels = []
    for kind in dict.fromkeys(row["partition"] for row in rows if row["data"] == data):
        here = [row for row in rows if (row["data"], row["partition"]) == (data, kind)]
        pooled = float(here[0]["pooled"])
        for label, axis in (("rounds", lambda r: float(r["round"])), ("seconds, parties side by side", lambda r: float(r["clock"])),
                            ("MB, up and down", lambda r: (float(r["up"]) + float(r["down"])) / 1e6)):  # fmt: skip
            lines = []
            for name in drawn:
                own = [row for row in here if row["method"] == name]
                if own:
                    lines.append(Line(name, [axis(row) for row in own], [float(row["error"]) for row in own]))
            panels.append(Panel(f"{data}, {kind}", lines, label, "relative error", "log", "log", [("pooled", pooled)]))
    return Figure(panels, "50 parties, k = 20", drawn)


def main() -> None:
    """Measure what is not stored yet; tell all."""
    words = argparse.ArgumentParser("python -m benchmarks.parties", description=__doc__)
    words.add_argument("--out", type=Path, default=Path(__file__).parent / "results-parties")
    words.add_argument("--only", default="gap,merging,hiding,curves,many")
    words.add_argument("--rows", type=int, default=5000)
    words.add_argument("--seeds", type=int, default=1)
    words.add_argument("--picture", type=Path, help="where to draw the figures: what their names begin with")
    asked = words.parse_args()
    store, parts = Store(asked.out), asked.only.split(",")
    if "gap" in parts:
        gap(store, range(asked.seeds), (6000, 60000))
    if "hiding" in parts:
        hiding(store)
    if "merging" in parts:
        merging(store, 50, 100, 10_000)
    if "curves" in parts:
        curves(store, asked.rows, 50, 30, range(asked.seeds), tuple(METHODS))
    if "many" in parts:
        many(store, 1000, 10)
    found = [row for row in store.rows("curves") if row["seed"] == "0"]
    print(markdown(table(found, 10)) if found else "")
    if asked.picture:
        for data in ("mnist", "blocks"):
            for group, drawn in DRAWN.items():
                draw(figure(found, data, drawn), asked.picture.with_name(f"{asked.picture.name}-{data}-{group}"))


if __name__ == "__main__":
    main()
