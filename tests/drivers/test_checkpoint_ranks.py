"""Checkpoints of several ranks: the same bits for the same cut, the same numbers for any other, whole or absent over all ranks."""

from __future__ import annotations

import json
import threading

import numpy as np
import pytest

from partwise.comm import simulate
from partwise.currency import State
from partwise.data.ownership import Layout, layout
from partwise.drivers import checkpoint
from partwise.drivers.checkpoint_parts import Part
from partwise.drivers.trace import Trace
from partwise.errors import RunError

K, N, M = 3, 23, 17
WHO = {"algorithm": "did"}
rng = np.random.default_rng(0)
WT, H, BEFORE_W, BEFORE_H, DUAL = (
    rng.random((K, N)),
    rng.random((K, M)),
    rng.random((K, N)),
    rng.random((K, M)),
    rng.random(5),
)


def part(cut: Layout, rank: int) -> Part:
    return Part(cut.part_W(rank), cut.part_H(rank))


def state(own: Part) -> State:
    """What a rank has of one and the same state."""
    memory = {
        "Wt_before": BEFORE_W[:, own.W].copy(),
        "inner.H_before": BEFORE_H[:, own.H].copy(),
        "dual": DUAL,
        "ahead": 0.3,
    }
    return State(
        WT[:, own.W].copy(),
        H[:, own.H].copy(),
        1 / 3,
        carry_W=(WT[:, own.W] + 1,),
        carry_H=(H[:, own.H] + 1,),
        memory=memory,
    )


def trace(t: int) -> Trace:
    kept = Trace(2.5)
    kept.add(t, State(WT, H, 1 / 3), 0.1)
    return kept


def save(folder, cut: Layout, t: int = 4) -> None:
    def body(comm):
        checkpoint.save(folder, state(part(cut, comm.rank)), trace(t), WHO, comm, part(cut, comm.rank))

    simulate(body, cut.ranks)


CUTS = [layout("both", (N, M), 1), layout("rows", (N, M), 3), layout("both", (N, M), 4), layout("grid", (N, M), 6, grid=(2, 3)),
        layout("shared", (N, M), 4, grid=(2, 2)), layout("rows", (N, M), 3, row_cuts=(0, 1, 1, N)), layout("both", (N, M), 40)]  # fmt: skip


@pytest.mark.parametrize("before", CUTS, ids=lambda cut: f"{cut.kind}{cut.ranks}")
@pytest.mark.parametrize("after", CUTS, ids=lambda cut: f"{cut.kind}{cut.ranks}")
def test_any_cut_resumes_what_any_other_cut_kept(tmp_path, before, after):
    save(tmp_path, before)
    for rank in range(after.ranks):
        own = part(after, rank)
        back = checkpoint.load(tmp_path, WHO, rank, own).state
        wished = state(own)
        for mine, theirs in zip((back.Wt, back.H, *back.carry_W, *back.carry_H),
                                (wished.Wt, wished.H, *wished.carry_W, *wished.carry_H), strict=True):  # fmt: skip
            np.testing.assert_array_equal(mine, theirs)
            assert mine.flags.c_contiguous
        np.testing.assert_equal(dict(back.memory), dict(wished.memory))
        assert back.loss == 1 / 3
    np.testing.assert_array_equal(checkpoint.load(tmp_path, WHO).state.Wt, WT)


def test_only_the_newest_is_kept_and_the_index_names_every_file(tmp_path):
    for t in (4, 9):
        save(tmp_path, CUTS[1], t)
    files = [f"state-000009.{rank}-of-3.safetensors" for rank in range(3)]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["checkpoint.json", *files]
    told = json.loads((tmp_path / "checkpoint.json").read_text())["parts"]
    assert [(p["file"], p["sha256"]) for p in told] == [(f, checkpoint.file_digest(tmp_path / f)) for f in files]


def test_a_rank_that_cannot_write_leaves_the_one_before(tmp_path, monkeypatch):
    save(tmp_path, CUTS[1], 4)
    original = checkpoint.save_file

    def failing(arrays, path):
        if ".1-of-3" in path.name:
            raise OSError(28, "No space left on device")
        original(arrays, path)

    monkeypatch.setattr(checkpoint, "save_file", failing)
    with pytest.raises(RunError, match=r"iteration 9 could not be written.*The one before it is intact"):
        save(tmp_path, CUTS[1], 9)
    assert checkpoint.iteration(tmp_path) == 4
    np.testing.assert_array_equal(checkpoint.load(tmp_path, WHO).state.Wt, WT)


@pytest.mark.parametrize("damage", [lambda path: path.unlink(), lambda path: path.write_bytes(path.read_bytes()[:-3])])
def test_a_damaged_part_is_named_by_whoever_needs_it(tmp_path, damage):
    save(tmp_path, CUTS[1])
    damage(tmp_path / "state-000004.2-of-3.safetensors")
    checkpoint.load(tmp_path, WHO, 0, part(CUTS[1], 0))
    with pytest.raises(RunError, match=r"state-000004\.2-of-3\.safetensors is missing or damaged"):
        checkpoint.load(tmp_path, WHO, 2, part(CUTS[1], 2))


def test_parts_that_do_not_cover_a_factor_are_refused(tmp_path):
    save(tmp_path, CUTS[1])
    index = json.loads((tmp_path / "checkpoint.json").read_text())
    (tmp_path / "checkpoint.json").write_text(json.dumps(index | {"parts": [index["parts"][0], index["parts"][2]]}))
    with pytest.raises(RunError, match=r"nothing for places 8 to 22"):
        checkpoint.load(tmp_path, WHO, 0, part(CUTS[0], 0))


@pytest.mark.parametrize("bad", [[], [7], [{"file": "../x", "sha256": "", "W": [0, 1], "H": [0, 1]}],
                                 [{"file": "x", "sha256": "", "W": [0], "H": [0, 1]}]])  # fmt: skip
def test_an_index_with_odd_parts_is_refused(tmp_path, bad):
    save(tmp_path, CUTS[1])
    index = json.loads((tmp_path / "checkpoint.json").read_text())
    (tmp_path / "checkpoint.json").write_text(json.dumps(index | {"parts": bad}))
    with pytest.raises(RunError, match=r"damaged \(see parts\)"):
        checkpoint.load(tmp_path, WHO)


def test_ranks_decide_alike_when_to_save(tmp_path, monkeypatch):
    """Saving takes every rank another time, by its own clock: rank 0's counts."""
    own_clock = threading.local()

    def ticking():
        own_clock.now = getattr(own_clock, "now", 0.0) + own_clock.rank + 1
        return own_clock.now

    def body(comm):
        own_clock.rank = comm.rank
        own, kept, saved = part(CUTS[1], comm.rank), Trace(1.0), []
        keeper = checkpoint.Checkpointer(tmp_path, WHO, comm=comm, part=own)
        for t in range(45):
            kept.add(t, state(own), float(t))
            before = keeper.saved
            keeper(state(own), kept)
            if keeper.saved != before:
                saved.append(t)
        return saved

    monkeypatch.setattr(checkpoint.time, "perf_counter", ticking)
    monkeypatch.setattr(checkpoint, "HALF_A_MINUTE", 2.0)
    assert simulate(body, 3).results == [[2, 22, 42]] * 3
