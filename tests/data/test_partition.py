"""Simulated parties: whose rows are whose; and the blocks that they may be made of."""

from __future__ import annotations

import numpy as np
import pytest

from partwise.data.partition import partition
from partwise.data.simulate_blocks import NOISES, blocks
from partwise.errors import DataError, OptionError

LABELS = np.repeat(np.arange(5), 40)


@pytest.mark.parametrize("kind", ["iid", "label", "dirichlet:0.3", "dirichlet:100", "skewed:0.5", "skewed:0.999"])
@pytest.mark.parametrize("parties", [1, 3, 20, 200])
def test_every_row_has_one_party_and_every_party_a_row(kind, parties):
    parts = partition(200, parties, kind, labels=LABELS, seed=3)
    assert len(parts) == parties
    assert min(map(len, parts)) >= 1
    np.testing.assert_array_equal(np.sort(np.concatenate(parts)), np.arange(200))
    again = partition(200, parties, kind, labels=LABELS, seed=3)
    assert all(np.array_equal(a, b) for a, b in zip(parts, again, strict=True))


def kinds_of_labels(parts):
    return np.mean([len(np.unique(LABELS[part])) for part in parts])


def test_they_are_what_they_are_called():
    assert [len(part) for part in partition(200, 5, "skewed:0.5", seed=1)] == [100, 25, 25, 25, 25]
    assert {len(part) for part in partition(200, 5, "iid")} == {40}
    assert kinds_of_labels(partition(200, 5, "label", labels=LABELS)) == 1
    assert kinds_of_labels(partition(200, 10, "label", labels=LABELS)) == 1
    alike, apart = (kinds_of_labels(partition(200, 5, f"dirichlet:{a}", labels=LABELS)) for a in (100, 0.05))
    assert apart < 3 < alike
    assert not np.array_equal(partition(200, 2, seed=0)[0], partition(200, 2, seed=1)[0])


@pytest.mark.parametrize(
    "kind", ["", "idd", "iid:1", "dirichlet", "dirichlet:0", "dirichlet:x", "skewed:1", "skewed:0"]
)
def test_unknown_partitions_are_refused(kind):
    with pytest.raises(OptionError, match=r"dirichlet:0\.3"):
        partition(10, 2, kind, labels=np.zeros(10))


def test_what_cannot_be_shared_is_refused():
    with pytest.raises(OptionError, match="from 1 to 10"):
        partition(10, 11)
    with pytest.raises(OptionError, match="needs the rows' labels"):
        partition(10, 2, "label")
    with pytest.raises(DataError, match=r"shape \(9,\)"):
        partition(10, 2, "label", labels=np.zeros(9))


@pytest.mark.parametrize("noise", NOISES)
def test_blocks_are_what_X_is_made_of(noise):
    X, W, H = blocks(300, 80, 4, seed=1, noise=noise, level=0.2)
    assert (W.shape, H.shape) == ((300, 4), (4, 80))
    assert set(np.unique(W)) <= {0, 1}
    left = X - W @ H
    assert left.min() >= 0
    expected = {"binomial": 0.2, "gaussian": 0.2 * np.sqrt(2 / np.pi), "exponential": 0.2}[noise]
    assert left.mean() == pytest.approx(expected, abs=4.5 * 0.4 / np.sqrt(left.size))
    np.testing.assert_allclose(blocks(300, 80, 4, seed=1, noise=noise, level=0.0).X, W @ H)
    assert W.mean() == pytest.approx(0.2, abs=0.1)


def test_blocks_refuse_what_does_not_exist():
    with pytest.raises(OptionError, match="binomial, gaussian, exponential"):
        blocks(5, 5, 2, seed=0, noise="cauchy")
    with pytest.raises(OptionError, match="extent"):
        blocks(5, 5, 2, seed=0, extent=0)
