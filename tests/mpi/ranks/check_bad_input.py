"""What is wrong on one rank is said on all, with the rank and the file; nobody waits, and the ranks can go on."""

from __future__ import annotations

import re
import shutil

import numpy as np
import pytest

from partwise import factorize_on_ranks
from partwise.errors import DataError, OptionError, RunError
from partwise.estimators import preparing


def refused(comm, kind, words, X, k=3, **wishes):
    """All ranks get the same sentence."""
    with pytest.raises(kind, match=words) as caught:
        factorize_on_ranks(X, k, comm=comm, **wishes)
    said = np.frombuffer(str(caught.value).encode(), np.uint8).astype(np.int64)
    assert (comm.gather(np.array([said.sum()]), [1] * comm.size) == said.sum()).all()


@pytest.fixture
def copy(folder, shared, comm):
    """Shards to be damaged, made by rank 0."""
    place = shared / "damaged"
    if comm.rank == 0:
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(folder / "dense", place)
    comm.barrier()
    yield place
    comm.barrier()


def damaged(comm, change):
    if comm.rank == 0:
        change()
    comm.barrier()


@pytest.mark.parametrize("name", ["did", "dsanls"])
@pytest.mark.parametrize("what", ["missing", "truncated"])
def test_a_shard(comm, copy, name, what):
    path = copy / "XT.npy"
    damaged(comm, path.unlink if what == "missing" else lambda: path.write_bytes(path.read_bytes()[:-100]))
    refused(comm, DataError, rf"rank 0 of {comm.size}: .*XT\.npy is {what}", copy, algorithm=name)


def test_no_manifest(comm, copy):
    damaged(comm, (copy / "manifest.json").unlink)
    refused(comm, DataError, rf"rank 0 of {comm.size}: .*damaged.* holds no manifest\.json", copy)


def test_no_file(comm, shared):
    refused(comm, DataError, rf"rank 0 of {comm.size}: There is no file .*nothing\.npy", shared / "nothing.npy")


def test_a_rank_without_permission(comm, folder, monkeypatch):
    """Root may read everything, so the system's answer is put into the last rank's mouth."""
    last = comm.size - 1
    if comm.rank == last:
        opened = type(folder).open

        def forbidden(path, *words, **more):
            if path.name == "X.npy":
                raise PermissionError(13, "Permission denied", str(path))
            return opened(path, *words, **more)

        monkeypatch.setattr(type(folder), "open", forbidden)
    refused(
        comm, DataError, rf"rank {last} of {comm.size}: .*X\.npy cannot be opened: Permission denied", folder / "dense"
    )


def test_a_bad_entry_in_the_last_ranks_rows(comm, shared):
    path = shared / "bad.npy"
    X = np.ones((40, 8))
    X[38, 5] = -1
    damaged(comm, lambda: np.save(path, X))
    words = rf"rank {comm.size - 1} of {comm.size}: .*negative.*row 38, column 5"
    refused(comm, DataError, words, path)
    assert factorize_on_ranks(path, 2, comm=comm, negative="clip", max_iter=2).iterations == 2


def test_rows_of_unequal_width(comm):
    last = comm.size - 1
    refused(comm, RunError, rf"rank {last} of {comm.size}: .*number of columns of X is 6 here and 5 on rank 0",
            np.ones((4, 5 + (comm.rank == last))))  # fmt: skip


@pytest.mark.parametrize("wish", [{"seed": 1}, {"tol": 0.5}, {"algorithm": "dbcd"}])
def test_other_wishes_on_one_rank(comm, folder, wish):
    own = wish if comm.rank == 1 else {}
    name, value = next(iter(wish.items()))
    refused(
        comm,
        RunError,
        rf"rank 1 of {comm.size}: The ranks do not agree: {name} is {value!r} here and ",
        folder / "dense",
        **own,
    )


def test_another_version_on_one_rank(comm, folder, monkeypatch):
    if comm.rank == 1:
        monkeypatch.setattr(preparing, "__version__", "0.0.9")
    refused(comm, RunError, rf"rank 1 of {comm.size}: .*version is '0\.0\.9' here and ", folder / "dense")


def test_wishes_that_cannot_be(comm, folder):
    refused(comm, OptionError, "algorithm='nix' is not known", folder / "dense", algorithm="nix")
    refused(comm, OptionError, re.escape("has no grid"), folder / "dense", algorithm="did", grid=(comm.size, 1))
    refused(comm, OptionError, "places, but there are", folder / "dense", algorithm="d-hals", grid=(comm.size, 2))
    refused(comm, OptionError, "needs more of X", np.ones((4, 5)), algorithm="dsanls")
    refused(comm, OptionError, "does not know solver", folder / "dense", solver="hals")
    refused(comm, OptionError, "n_components=0", folder / "dense", k=0)
    refused(comm, OptionError, "does not know sketch", folder / "dense", options={"sketch": "count"})
