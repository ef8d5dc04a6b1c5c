"""Data sets by name: found, fetched by checksum, converted, kept whole or not at all."""

import dataclasses
import errno
import hashlib
import http.server
import os
import re
import threading
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_digits

from partwise import datasets
from partwise.data.readers import digest
from partwise.datasets import catalogue, download
from partwise.datasets.record import Dataset, Origin
from partwise.errors import DataError, OptionError

RAW = np.arange(1, 7, dtype=np.uint8)


@pytest.fixture(autouse=True)
def _own_places(tmp_path, monkeypatch):
    monkeypatch.setenv("PARTWISE_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("PARTWISE_DATA", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


class Publisher:
    """A web server on this machine and the requests it has had."""

    def __init__(self, folder: Path, base: str) -> None:
        self.folder, self.base = folder, base
        self.asked: list[str] = []

    def offer(self, content: bytes, name: str = "raw.bin") -> str:
        (self.folder / name).write_bytes(content)
        return f"{self.base}/{name}"


@pytest.fixture
def publisher(tmp_path):
    folder = tmp_path / "www"
    folder.mkdir()

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *args):
            super().__init__(*args, directory=str(folder))

        def log_request(self, *args):
            publisher.asked.append(self.path)

        def log_message(self, *args):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        publisher = Publisher(folder, f"http://127.0.0.1:{server.server_port}")
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield publisher
        server.shutdown()
        thread.join()


def register(monkeypatch, *urls, **changes):
    """A data set whose one raw file is the bytes of a 2 × 3 matrix."""
    dataset = Dataset(
        name="toy",
        title="a toy",
        shape=(2, 3),
        nnz=6,
        terms="none",
        origins=(Origin("raw.bin", urls, hashlib.sha256(RAW).hexdigest()),),
        convert=lambda files: {"X": np.frombuffer(files["raw.bin"].read_bytes(), np.uint8).reshape(2, -1)},
    )
    monkeypatch.setattr(catalogue, "_BY_NAME", {"toy": dataclasses.replace(dataset, **changes)})


def nothing_left(tmp_path):
    return not (tmp_path / "cache").exists() or not any((tmp_path / "cache").iterdir())


def test_digits_need_neither_network_nor_cache(tmp_path):
    table = datasets.load("digits")
    assert_array_equal(table.X, load_digits().data)
    assert table.X.dtype == np.uint8
    assert table.feature_names == tuple(load_digits().feature_names)
    assert nothing_left(tmp_path)
    assert len(table.digest()) == 64
    assert datasets.whereabouts("digits") == "bundled"
    path = datasets.fetch("digits")
    assert path == tmp_path / "cache" / "digits.npz"
    assert np.load(path)["X"].shape == (1797, 64)
    assert datasets.whereabouts("digits") == "cached"


def test_a_download_is_verified_converted_and_kept(tmp_path, monkeypatch, publisher):
    register(monkeypatch, publisher.offer(RAW.tobytes()))
    assert datasets.whereabouts("toy") == "download"
    assert_array_equal(datasets.load("toy").X, RAW.reshape(2, 3))
    assert [path.name for path in (tmp_path / "cache").iterdir()] == ["toy.npz"]  # no raw or temporary file
    assert datasets.whereabouts("toy") == "cached"
    datasets.load("toy")
    assert publisher.asked == ["/raw.bin"]  # once


def test_other_bytes_are_refused_and_nothing_is_left(tmp_path, monkeypatch, publisher):
    register(monkeypatch, publisher.offer(b"something else"))
    with pytest.raises(DataError, match="other bytes than expected"):
        datasets.fetch("toy")
    assert nothing_left(tmp_path)


def test_mirrors_are_tried_in_order(monkeypatch, publisher):
    urls = [f"{publisher.base}/absent", publisher.offer(b"bad", "bad"), publisher.offer(RAW.tobytes())]
    register(monkeypatch, *urls)
    datasets.load("toy")
    assert publisher.asked == ["/absent", "/bad", "/raw.bin"]


def test_offline_says_what_was_tried_and_what_to_do(tmp_path, monkeypatch):
    register(monkeypatch, "http://127.0.0.1:9/raw.bin", local_sha256="0" * 64)
    with pytest.raises(DataError) as caught:
        datasets.load("toy")
    sentence = str(caught.value)
    for part in ("toy.npz in the directory $PARTWISE_DATA", str(tmp_path / "cache" / "toy.npz")):
        assert part in sentence
    assert "http://127.0.0.1:9/raw.bin (no connection)" in sentence
    assert "on another machine" in sentence
    assert nothing_left(tmp_path)


@pytest.mark.parametrize("change", [{"shape": (3, 2)}, {"nnz": 5}])
def test_a_conversion_must_be_what_is_known(tmp_path, monkeypatch, publisher, change):
    register(monkeypatch, publisher.offer(RAW.tobytes()), **change)
    with pytest.raises(DataError, match=r"converted to shape \(2, 3\) with 6 nonzero"):
        datasets.fetch("toy")
    assert nothing_left(tmp_path)


@pytest.mark.parametrize(
    ("error", "seen"),
    [(errno.ENOSPC, "the disk is full"), (errno.EACCES, "Permission denied"), (errno.EROFS, "Read-only")],
)
def test_a_cache_that_cannot_be_written(tmp_path, monkeypatch, publisher, error, seen):
    register(monkeypatch, publisher.offer(RAW.tobytes()))

    def refuse(path, **_arrays):
        path.write_bytes(b"half of it")
        raise OSError(error, os.strerror(error))

    monkeypatch.setattr("partwise.datasets.cache.np.savez", refuse)
    with pytest.raises(DataError, match=rf"cannot be kept in .*{seen}.*PARTWISE_CACHE"):
        datasets.fetch("toy")
    assert nothing_left(tmp_path)
    monkeypatch.setenv("PARTWISE_CACHE", os.devnull)
    with pytest.raises(DataError, match="cannot be kept"):
        datasets.fetch("toy")


def test_an_interrupted_fetch_leaves_nothing(tmp_path, monkeypatch, publisher):
    def interrupt(_files):
        raise KeyboardInterrupt

    register(monkeypatch, publisher.offer(RAW.tobytes()), convert=interrupt)
    with pytest.raises(KeyboardInterrupt):
        datasets.fetch("toy")
    assert nothing_left(tmp_path)


def test_local_files_come_first_and_are_checked(tmp_path, monkeypatch, publisher):
    np.savez(tmp_path / "toy.npz", X=RAW.reshape(2, 3))
    register(monkeypatch, publisher.offer(RAW.tobytes()), local_sha256=digest(tmp_path / "toy.npz"))
    monkeypatch.setenv("PARTWISE_DATA", str(tmp_path))
    assert datasets.fetch("toy") == tmp_path / "toy.npz"
    assert datasets.whereabouts("toy") == "local"
    assert publisher.asked == []
    (tmp_path / "toy.npz").write_bytes(b"other")
    with pytest.raises(DataError, match=r"is not toy: its SHA-256 is .* Expected"):
        datasets.fetch("toy")


def test_local_only_says_so(monkeypatch, tmp_path):
    register(monkeypatch, origins=(), convert=None, local_sha256="ab" * 32)
    assert datasets.whereabouts("toy") == "local only"
    with pytest.raises(DataError, match=r"no public origin whose checksum is known.*abab.*set PARTWISE_DATA"):
        datasets.load("toy")
    monkeypatch.setenv("PARTWISE_DATA", str(tmp_path / "empty"))
    with pytest.raises(DataError, match="local only"):
        datasets.load("toy")


def test_unknown_names():
    with pytest.raises(OptionError, match="Did you mean mnist"):
        datasets.load("mnits")
    with pytest.raises(OptionError, match="Known are: 20news_bydate_counts, 20newsgroups, "):
        datasets.describe("???")


def test_progress_is_drawn_on_a_terminal(monkeypatch, publisher, tmp_path, capsys):
    monkeypatch.setattr(download.sys.stderr, "isatty", lambda: True, raising=False)
    content = os.urandom(100_000)
    origin = Origin("raw.bin", (publisher.offer(content),), hashlib.sha256(content).hexdigest())
    assert download.download(origin, tmp_path).read_bytes() == content
    assert "raw.bin" in capsys.readouterr().err


@pytest.mark.parametrize("dataset", datasets.available(), ids=lambda dataset: dataset.name)
def test_each_record_is_complete(dataset):
    assert re.fullmatch(r"[a-z0-9_]+", dataset.name)
    assert dataset.title
    assert dataset.terms
    assert (dataset.convert is not None) == bool(dataset.origins)
    assert dataset.local_sha256 or dataset.origins or dataset.bundled
    for known in (dataset.local_sha256, *(origin.sha256 for origin in dataset.origins)):
        assert known is None or re.fullmatch("[0-9a-f]{64}", known)
    for origin in dataset.origins:
        assert origin.urls
        assert all(url.startswith(("https://", "http://fashion-mnist.")) for url in origin.urls)


@pytest.mark.data
@pytest.mark.parametrize("dataset", datasets.available(), ids=lambda dataset: dataset.name)
def test_local_files_are_as_described(dataset, monkeypatch, local_data):
    if dataset.local_sha256 is None:
        pytest.skip("has no local file")
    if not (local_data / f"{dataset.name}.npz").exists():
        pytest.skip(f"{dataset.name}.npz is not in $PARTWISE_DATA")
    monkeypatch.setenv("PARTWISE_DATA", str(local_data))
    X = datasets.load(dataset.name).X
    assert X.shape == dataset.shape
    assert (X.count_nonzero() if hasattr(X, "count_nonzero") else np.count_nonzero(X)) == dataset.nnz
