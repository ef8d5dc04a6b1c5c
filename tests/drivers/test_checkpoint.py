"""Checkpoints: whole or absent, whatever happens to the folder."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import numpy as np
import pytest

from partwise.currency import State
from partwise.drivers import checkpoint
from partwise.drivers.checkpoint import Checkpointer
from partwise.drivers.trace import Trace
from partwise.errors import RunError

WHO = {"data": "X", "k": 2, "shape": [4, 3]}


def state(seed=0):
    """One that carries all that a state can."""
    rng = np.random.default_rng(seed)
    Wt, H = rng.random((2, 4)), rng.random((2, 3), dtype=np.float32)
    memory = {"ahead": 0.1 + 0.2, "H_before": rng.random((2, 3)), "never": float("nan"), "far": float("inf")}
    return State(Wt, H, 1 / 3, 0.7, float("nan"), (Wt + 1, Wt + 2), (H + 1,), memory)


def trace(t):
    kept = Trace(7.1)
    for i in range(t + 1):
        kept.add(i, state(i), i / 3)
    return kept


def saved(folder, t=3):
    checkpoint.save(folder, state(t), trace(t), WHO)
    return folder


def index(folder):
    return json.loads((folder / "checkpoint.json").read_text())


def with_part(folder, **changes):
    """The index, with something else said of the state."""
    held = index(folder)
    return held | {"parts": [held["parts"][0] | changes]}


def same(mine, theirs):
    np.testing.assert_equal(dict(mine.memory), dict(theirs.memory))
    for one, other in zip(
        (*mine[:2], *mine.carry_W, *mine.carry_H), (*theirs[:2], *theirs.carry_W, *theirs.carry_H), strict=True
    ):
        np.testing.assert_array_equal(one, other)
        assert one.dtype == other.dtype
    np.testing.assert_equal(mine[2:5], theirs[2:5])


def test_all_of_a_state_comes_back_to_the_bit(tmp_path):
    back = checkpoint.load(saved(tmp_path / "deep" / "folder"), WHO)
    same(back.state, state(3))
    assert back.trace.scale == 7.1
    np.testing.assert_equal(back.trace.points, trace(3).points)
    assert checkpoint.iteration(tmp_path / "deep" / "folder") == 3


def test_an_order_of_carries_beyond_nine(tmp_path):
    many = state()._replace(carry_W=tuple(np.full((2, 4), float(i)) for i in range(12)))
    checkpoint.save(tmp_path, many, trace(1), WHO)
    same(checkpoint.load(tmp_path, WHO).state, many)


def test_only_the_newest_is_kept(tmp_path):
    for t in (3, 4, 12):
        saved(tmp_path, t)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["checkpoint.json", "state-000012.safetensors"]
    same(checkpoint.load(tmp_path, WHO).state, state(12))


def refused(folder, identity=WHO):
    with pytest.raises(RunError) as caught:
        checkpoint.load(folder, identity)
    assert str(caught.value).endswith(".")
    return str(caught.value)


def test_nothing_there(tmp_path):
    assert not checkpoint.exists(tmp_path)
    assert checkpoint.iteration(tmp_path) is None
    assert "holds no checkpoint" in refused(tmp_path)
    assert "holds no checkpoint" in refused(tmp_path / "never")


@pytest.mark.parametrize("keep", [0, 7, 100, -1])
def test_a_truncated_state(tmp_path, keep):
    path = saved(tmp_path) / "state-000003.safetensors"
    path.write_bytes(path.read_bytes()[:keep])
    assert "missing or damaged" in refused(tmp_path)


def test_one_flipped_bit(tmp_path):
    path = saved(tmp_path) / "state-000003.safetensors"
    content = bytearray(path.read_bytes())
    content[-5] ^= 1
    path.write_bytes(content)
    assert "missing or damaged" in refused(tmp_path)


def test_a_state_that_is_gone(tmp_path):
    (saved(tmp_path) / "state-000003.safetensors").unlink()
    assert "missing or damaged" in refused(tmp_path)


@pytest.mark.parametrize("content", [b"", b"\0" * 64, b"\xff" * 9, b"x" * 1000])
def test_a_forged_state_with_the_right_digest(tmp_path, content):
    path = saved(tmp_path) / "state-000003.safetensors"
    path.write_bytes(content)
    forged = with_part(tmp_path, sha256=checkpoint.file_digest(path))
    (tmp_path / "checkpoint.json").write_text(json.dumps(forged))
    assert "cannot be read" in refused(tmp_path)


def test_an_edited_digest(tmp_path):
    forged = with_part(saved(tmp_path), sha256="0" * 64)
    (tmp_path / "checkpoint.json").write_text(json.dumps(forged))
    assert "digest" in refused(tmp_path)


@pytest.mark.parametrize("schema", [None, 0, 1, 3, "2"])
def test_a_foreign_schema(tmp_path, schema):
    (tmp_path / "checkpoint.json").write_text(json.dumps(index(saved(tmp_path)) | {"schema": schema}))
    assert "this version reads 2" in refused(tmp_path)


@pytest.mark.parametrize("content", ["", "{", "[]", "7", "null", '{"schema": 2}', "\x00"])
def test_an_index_that_is_no_index(tmp_path, content):
    saved(tmp_path)
    (tmp_path / "checkpoint.json").write_text(content)
    refused(tmp_path)


@pytest.mark.parametrize("name", ["../state-000003.safetensors", "/etc/passwd", 7])
def test_a_state_elsewhere_is_not_looked_for(tmp_path, name):
    folder = saved(tmp_path / "run")
    (folder / "checkpoint.json").write_text(json.dumps(with_part(folder, file=name)))
    refused(folder)


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (WHO | {"k": 3}, "k was 2 and is now 3"),
        (WHO | {"data": "Y", "k": 3}, "data was 'X' and is now 'Y'; k was 2"),
        ({"data": "X", "k": 2}, r"shape was [4, 3] and is now None"),
        (WHO | {"seed": 1}, "seed was None and is now 1"),
    ],
)
def test_another_run(tmp_path, other, words):
    assert words in refused(saved(tmp_path), other)


def test_killed_before_the_index_was_written(tmp_path):
    """What a kill leaves behind: a newer state, and temporaries. The older checkpoint counts, and the next save tidies up."""
    saved(tmp_path, 3)
    (tmp_path / "state-000009.safetensors").write_bytes(b"whole, but nobody says so")
    (tmp_path / ".state-000010.safetensors.tmp").write_bytes(b"half")
    (tmp_path / ".checkpoint.json.tmp").write_text('{"schema": 1, "iter')
    same(checkpoint.load(tmp_path, WHO).state, state(3))
    saved(tmp_path, 11)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["checkpoint.json", "state-000011.safetensors"]


def test_killed_before_the_first_was_whole(tmp_path):
    (tmp_path / "state-000009.safetensors").write_bytes(b"whole")
    assert not checkpoint.exists(tmp_path)
    refused(tmp_path)
    same(checkpoint.load(saved(tmp_path, 1), WHO).state, state(1))


@pytest.mark.parametrize("after", range(4))
def test_a_full_disk_leaves_the_one_before(tmp_path, monkeypatch, after):
    """Wherever it fails: at the first or second sync, at the first or second rename."""
    saved(tmp_path, 3)
    calls = []

    def failing(original):
        def call(*args):
            calls.append(args)
            if len(calls) > after:
                raise OSError(errno.ENOSPC, "No space left on device")
            return original(*args)

        return call

    monkeypatch.setattr(os, "fsync", failing(os.fsync))
    monkeypatch.setattr(Path, "replace", failing(Path.replace))
    with pytest.raises(
        RunError, match=r"iteration 5 could not be written .*No space left.*The one before it is intact"
    ):
        saved(tmp_path, 5)
    monkeypatch.undo()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["checkpoint.json", "state-000003.safetensors"]
    same(checkpoint.load(tmp_path, WHO).state, state(3))


def test_a_full_disk_in_the_middle_of_the_arrays(tmp_path, monkeypatch):
    def half(arrays, path):
        path.write_bytes(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(checkpoint, "save_file", half)
    with pytest.raises(RunError, match=r"There is none before it: make room\.$"):
        saved(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(RunError, match="could not be written"):
        saved(tmp_path / "file")
    assert (tmp_path / "file").read_text() == "in the way"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_is_read_only(tmp_path):
    saved(tmp_path, 3).chmod(0o500)
    try:
        with pytest.raises(RunError, match="could not be written"):
            saved(tmp_path, 5)
        same(checkpoint.load(tmp_path, WHO).state, state(3))
    finally:
        tmp_path.chmod(0o700)


def written(keeper, count, seconds=1.0):
    """At which iterations a keeper saved."""
    times, kept = [], Trace(1.0)
    for t in range(count):
        kept.add(t, state(), t * seconds)
        before = checkpoint.iteration(keeper.folder)
        keeper(state(), kept)
        if checkpoint.iteration(keeper.folder) != before:
            times.append(t)
    return times


def test_every_so_many_iterations(tmp_path):
    assert written(Checkpointer(tmp_path, WHO, every=4), 10) == [0, 4, 8]


def test_every_half_minute_unless_told_otherwise(tmp_path):
    assert written(Checkpointer(tmp_path, WHO), 70) == [30, 60]


def test_more_seldom_where_saving_takes_long(tmp_path):
    assert written(Checkpointer(tmp_path, WHO, took=2.0), 41) == [40]


def test_as_often_as_was_said_however_long_it_takes(tmp_path):
    assert written(Checkpointer(tmp_path, WHO, seconds=3.0, took=1.0), 8) == [3, 6]


def test_at_once_when_it_is_urgent(tmp_path):
    urgent = iter([False, True, False]).__next__
    assert written(Checkpointer(tmp_path, WHO, every=100, urgent=urgent), 3) == [0, 1]
