"""`partwise shard`: a directory that is whole or absent, and data like any other."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest


def test_shards_are_made_told_and_fitted(call, here):
    done = call("shard", "X.npy", "-o", "shards", "--quiet")
    assert done.exit_code == 0, done.output
    assert sorted(path.name for path in here.iterdir()) == ["X.npy", "shards"]
    of_file = call("fit", "X.npy", "-k", 3, "-o", "a", "--json")
    of_shards = call("fit", "shards", "-k", 3, "-o", "b", "--json")
    errors = [json.loads(told.stdout.splitlines()[-1])["relative_error"] for told in (of_file, of_shards)]
    assert errors[0] == errors[1]
    assert json.loads((here / "b" / "manifest.json").read_text())["data"]["format"] == "shards"


def test_the_table_warns_of_what_a_fit_will_refuse(call, here):
    X = np.ones((9, 5))
    X[3, 2], X[4, 4] = np.nan, -1
    np.save("bad.npy", X)
    said = call("shard", "bad.npy")
    assert "1 NaN seen" in said.stdout
    assert "1 negative seen" in said.stdout
    told = call("shard", "bad.npy", "--force", "--json")
    assert {"missing": 1, "negative": 1, "infinite": 0}.items() <= json.loads(told.stdout).items()


def test_several_files_are_stacked(call, here):
    assert call("shard", "X.npy", "X.npy", "-o", "both", "-q").exit_code == 0
    assert np.load("both/X.npy").shape == (120, 30)
    np.save("narrow.npy", np.ones((3, 29)))
    failed = call("shard", "X.npy", "narrow.npy", "-o", "neither")
    assert failed.exit_code == 1
    assert "narrow.npy has 29 columns" in failed.stderr
    assert not list(here.glob("neither*")), "whole or absent"


def test_what_is_there_stays_unless_it_is_ours_and_force_is_given(call, here):
    assert call("shard", "X.npy", "-q").exit_code == 0
    assert call("shard", "X.npy", "-q").exit_code == 2
    assert call("shard", "X.npy", "-q", "--force").exit_code == 0
    (here / "mine").mkdir()
    (here / "mine" / "thesis.txt").write_text("years of work")
    refused = call("shard", "X.npy", "-o", "mine", "--force")
    assert refused.exit_code == 2
    assert "it stays" in refused.stderr
    assert (here / "mine" / "thesis.txt").exists()


def test_what_a_killed_process_left_is_started_over(call, here):
    (here / "shards.partial").mkdir()
    (here / "shards.partial" / "X.npy").write_bytes(b"half")
    assert call("shard", "X.npy", "-q").exit_code == 0
    assert sorted(path.name for path in here.iterdir()) == ["X.npy", "shards"]


def test_verify_reads_every_byte(call, here):
    assert call("shard", "X.npy", "-q").exit_code == 0
    assert call("shard", "shards", "--verify").exit_code == 0
    content = bytearray((here / "shards" / "XT.npy").read_bytes())
    content[-1] ^= 1
    (here / "shards" / "XT.npy").write_bytes(content)
    failed = call("shard", "shards", "--verify")
    assert failed.exit_code == 1
    assert "XT.npy is damaged" in failed.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="ulimit is POSIX")
def test_a_disk_that_fills_leaves_nothing(start, here):
    process = start("shard", "X.npy", shell="ulimit -f 8")
    _, said = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "could not be written" in said
    assert sorted(path.name for path in here.iterdir()) == ["X.npy"]
