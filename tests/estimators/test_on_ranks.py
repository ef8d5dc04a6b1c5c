"""Fits on simulated ranks end as fits on one machine do: exact W, wished norms, penalties, true errors; in every layout."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import nnls

from partwise import factorize, factorize_on_ranks
from partwise.comm import OWN, simulate
from partwise.data import opening
from partwise.errors import DataError, OptionError, RunError
from partwise.estimators.factorize import Keep

K = 3
OF_EACH_LAYOUT = ("did", "dsanls", "hpc-anls-hals", "d-hals", "maxios")
WISHES = {"init": "random", "max_iter": 12, "tol": 0}


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(3)
    return rng.random((29, 4)) @ rng.random((4, 19)) + 0.1 * rng.random((29, 19))


@pytest.fixture(scope="module")
def path(X, tmp_path_factory):
    file = tmp_path_factory.mktemp("data") / "X.npy"
    np.save(file, X)
    return file


def joined(shares):
    """(W, H) of all ranks."""
    n, m = shares[0].layout.shape
    W, H = np.full((n, K), np.nan), np.full((K, m), np.nan)
    for share in shares:
        W[share.part.W], H[:, share.part.H] = share.W, share.H
    return W, H


def on_ranks(source, ranks, **more):
    return simulate(lambda comm: factorize_on_ranks(source, K, comm=comm, **{**WISHES, **more}), ranks).results


@pytest.mark.parametrize("ranks", [1, 4, 31])
@pytest.mark.parametrize("name", OF_EACH_LAYOUT)
def test_w_is_exact_and_the_error_true(X, path, name, ranks):
    shares = on_ranks(path, ranks, algorithm=name)
    W, H = joined(shares)
    np.testing.assert_allclose(W, [nnls(H.T, row)[0] for row in X], atol=1e-9)
    loss = 0.5 * np.linalg.norm(X - W @ H) ** 2
    for share in shares:
        np.testing.assert_allclose(
            [share.loss, share.relative_error], [loss, np.sqrt(2 * loss) / np.linalg.norm(X)], rtol=1e-9
        )


@pytest.mark.parametrize("normalize", ["sum", "length"])
@pytest.mark.parametrize("name", OF_EACH_LAYOUT)
def test_components_get_the_wished_norm_over_all_ranks(path, name, normalize):
    _, H = joined(on_ranks(path, 3, algorithm=name, normalize=normalize))
    np.testing.assert_allclose(np.linalg.norm(H, ord={"sum": 1, "length": 2}[normalize], axis=1), 1, rtol=1e-9)


PLAIN = {"options": {"acceleration": 1, "extrapolate": False}}


@pytest.mark.parametrize(
    "wishes",
    [{"alpha_W": 0.01, "l1_ratio": 0.5}, {"alpha_W": 0.01, "alpha_H": 0.0}, {"rows_sum_to_one": True}, {"init": "nndsvda"}, {"seed": 4}],
    ids=str,
)  # fmt: skip
def test_wishes_mean_what_they_mean_on_one_machine(X, path, wishes):
    one = factorize(X, K, solver="hals", **{**WISHES, **PLAIN, **wishes})
    W, H = joined(on_ranks(path, 3, algorithm="did", **PLAIN, **wishes))
    np.testing.assert_allclose(H, one.H, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(W, one.W, rtol=1e-6, atol=1e-8)


def test_fixed_components_stay_on_all_ranks(X, path):
    held = np.random.default_rng(0).random((1, X.shape[1]))
    for name in ("did", "hpc-anls-hals"):
        _, H = joined(on_ranks(path, 3, algorithm=name, fixed_components=held))
        assert np.array_equal(H[:1], held)


@pytest.mark.parametrize("name", OF_EACH_LAYOUT)
def test_other_ranks_go_on_from_a_checkpoint(path, name, tmp_path):
    keep = Keep(tmp_path / "kept", every=5)
    whole = joined(on_ranks(path, 2, algorithm=name))
    on_ranks(path, 3, algorithm=name, keep=keep, max_iter=6)
    for ranks in (5, 1, 2):
        went_on = on_ranks(path, ranks, algorithm=name, keep=keep._replace(resume=True))
        assert went_on[0].iterations == 12
        for mine, expected in zip(joined(went_on), whole, strict=True):
            np.testing.assert_allclose(mine, expected, rtol=1e-5, atol=1e-7)
        on_ranks(path, 3, algorithm=name, keep=keep, max_iter=6)  # the same checkpoint for the next


def test_a_checkpoint_of_another_run_is_refused_on_all_ranks(path, tmp_path):
    keep = Keep(tmp_path / "kept")
    on_ranks(path, 2, algorithm="did", keep=keep, max_iter=3)
    with pytest.raises(RunError, match=r"rank 0 of 3: The checkpoint .* is of another run: algorithm was 'did'"):
        on_ranks(path, 3, algorithm="dbcd", keep=keep._replace(resume=True))
    damaged = next((tmp_path / "kept").glob("state-*.1-of-2.safetensors"))
    damaged.write_bytes(damaged.read_bytes()[:-8])
    with pytest.raises(RunError, match=r"rank 1 of 2: .*1-of-2\.safetensors is missing or damaged"):
        on_ranks(path, 2, algorithm="did", keep=keep._replace(resume=True))


def test_rows_of_one_sparse_and_one_dense_rank_do_not_fit(X):
    with pytest.raises(RunError, match="X is 'sparse' here and 'dense' on rank 0"):
        simulate(lambda comm: factorize_on_ranks(sp.csr_array(X) if comm.rank else X, K, comm=comm), 2)


def test_nobody_has_a_row():
    with pytest.raises(DataError, match="No rank has a row"):
        simulate(lambda comm: factorize_on_ranks(np.empty((0, 5)), K, comm=comm), 2)


def test_a_file_that_can_only_be_read_whole_must_be_small(X, tmp_path, monkeypatch):
    sp.save_npz(tmp_path / "X.npz", sp.csr_array(X))
    assert factorize_on_ranks(tmp_path / "X.npz", K, comm=OWN, max_iter=2).iterations == 2
    monkeypatch.setattr(opening, "WHOLE_BYTES", 1000)
    with pytest.raises(DataError, match=r"X\.npz has .* can only be read whole.*partwise shard"):
        factorize_on_ranks(tmp_path / "X.npz", K, comm=OWN)


def test_sparse_hdf5_is_whole_and_dense_is_not(X, tmp_path, monkeypatch):
    anndata = pytest.importorskip("anndata")
    anndata.AnnData(sp.csr_matrix(X)).write_h5ad(tmp_path / "sparse.h5ad")
    anndata.AnnData(X).write_h5ad(tmp_path / "dense.h5ad")
    monkeypatch.setattr(opening, "WHOLE_BYTES", 1000)
    assert factorize_on_ranks(tmp_path / "dense.h5ad", K, comm=OWN, max_iter=2).iterations == 2
    with pytest.raises(DataError, match=r"sparse\.h5ad has .* can only be read whole"):
        factorize_on_ranks(tmp_path / "sparse.h5ad", K, comm=OWN)


@pytest.mark.parametrize("wish", [{"solver": "hals"}, {"colour": 3}, {"algorithm": "nix"}, {"negative": "ignore"}])
def test_wishes_that_do_not_exist(path, wish):
    with pytest.raises(OptionError):
        factorize_on_ranks(path, K, comm=OWN, **wish)
