"""Other libraries, one iteration at a time: each function yields the start, then (W, H) after every iteration.

Where a library's own loop cannot be watched, its loop is written out here with the library's functions for the steps. What a loop
does only to decide when to stop is left out: it would cost the peer time. Imports are inside: a peer that is missing is skipped.
"""

# pyright: reportMissingImports=false
from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from partwise.compare.clock import Steps
from partwise.currency import Array


def sklearn_cd(X: Any, W: Array, H: Array) -> Steps:
    """The private solver, an iteration a call; it copies nothing when it gets C-ordered W and Hᵀ, and W, Hᵀ are changed in place."""
    from sklearn.decomposition._nmf import _fit_coordinate_descent

    W, Ht = W.copy(order="C"), np.array(H.T, order="C")
    yield W, Ht.T
    while True:
        _fit_coordinate_descent(X, W, Ht.T, tol=0, max_iter=1)
        yield W, Ht.T


def sklearn_mu(X: Any, W: Array, H: Array) -> Steps:
    """The body of _fit_multiplicative_update for the Frobenius loss."""
    from sklearn.decomposition._nmf import _multiplicative_update_h, _multiplicative_update_w

    W, H = W.copy(), H.copy()
    rest: dict[str, Any] = {"beta_loss": 2, "l1_reg_W": 0, "l2_reg_W": 0, "gamma": 1}
    yield W, H
    while True:
        W, *_ = _multiplicative_update_w(X, W, H, **rest)
        H = _multiplicative_update_h(X, W, H, beta_loss=2, l1_reg_H=0, l2_reg_H=0, gamma=1)
        yield W, H


def nmf_torch(algorithm: str) -> Any:
    """nmf-torch's batch classes: the loop of their `fit`. What it calls H (n, k) and W (k, m) are our W and H."""

    def steps(X: Any, W: Array, H: Array) -> Steps:
        import torch
        from nmf.nmf_models import NMFBatchHALS, NMFBatchNnlsBpp
        from nmf.nmf_models._nmf_batch_base import NMFBatchBase

        extra = {"hals": {"hals_max_iter": 1}, "halsvar": {"hals_max_iter": 200}, "bpp": {}}[algorithm]
        model = (NMFBatchNnlsBpp if algorithm == "bpp" else NMFBatchHALS)(
            n_components=W.shape[1], init="random", beta_loss=2.0, tol=0.0, random_state=0, alpha_W=0.0, l1_ratio_W=0.0,
            alpha_H=0.0, l1_ratio_H=0.0, fp_precision="float" if X.dtype == np.float32 else "double", device_type="cpu", **extra,
        )  # fmt: skip

        def start() -> None:
            model.H, model.W = torch.tensor(W), torch.tensor(H)

        model._initialize_H_W = start
        NMFBatchBase.fit(model, X)
        yield model.H, model.W
        while True:
            model._update_H()
            model._update_W()
            yield model.H, model.W

    return steps


def torchnmf_mu(X: Any, W: Array, H: Array) -> Steps:
    """The loop of torchnmf's `fit` for β = 2. What it calls H (n, k) and W (m, k) are our W and Hᵀ."""
    import torch
    from torchnmf import nmf

    model = nmf.NMF(W=torch.tensor(np.ascontiguousarray(H.T)), H=torch.tensor(W)).to(torch.from_numpy(W).dtype)
    model.H.data, model.W.data = torch.tensor(W), torch.tensor(np.ascontiguousarray(H.T))
    sparse = sp.issparse(X)
    V = _torch_coo(X) if sparse else torch.from_numpy(X)
    yield _numpy(model)
    while True:
        for moving, W_part, H_part in ((model.W, model.W, model.H.detach()), (model.H, model.W.detach(), model.H)):
            if sparse:
                positive, negative = model._sp_recon_beta_pos_neg(V, H_part, W_part, 2)
                nmf._sp_double_backward_update(positive, negative, moving, 1, 0, 0, None)
            else:
                nmf._double_backward_update(V, model.reconstruct(H_part, W_part), moving, 2, 1, 0, 0, None)
        yield _numpy(model)


def _torch_coo(X: Any) -> Any:
    import torch

    entries = X.tocoo()
    return torch.sparse_coo_tensor(np.vstack(entries.coords), entries.data, entries.shape).coalesce()


def _numpy(model: Any) -> tuple[Array, Array]:
    return model.H.detach().numpy(), model.W.detach().numpy().T


def nimfa_lsnmf(X: Any, W: Array, H: Array) -> Steps:
    """Lin's projected gradient: the loop of Lsnmf.factorize."""
    model = _nimfa("Lsnmf", X, W, H)
    from nimfa.methods.factorization.lsnmf import dot, norm, vstack

    model.W, model.H = model.seed.initialize(model.V, model.rank, model.options)
    gW = dot(model.W, dot(model.H, model.H.T)) - dot(model.V, model.H.T)
    gH = dot(dot(model.W.T, model.W), model.H) - dot(model.W.T, model.V)
    model.init_grad = norm(vstack([gW, gH.T]), p="fro")
    model.epsW = model.epsH = 1e-3 * model.init_grad
    yield model.W, model.H
    while True:
        model.update()
        yield model.W, model.H


def nimfa_mu(X: Any, W: Array, H: Array) -> Steps:
    """Multiplicative updates: the loop of Nmf.factorize."""
    model = _nimfa("Nmf", X, W, H, update="euclidean")
    model.W, model.H = model.seed.initialize(model.V, model.rank, model.options)
    yield model.W, model.H
    while True:
        model.update()
        model._adjustment()
        yield model.W, model.H


def _nimfa(name: str, X: Any, W: Array, H: Array, **more: Any) -> Any:
    if not hasattr(np, "mat"):
        np.mat = np.asmatrix  # type: ignore[attr-defined]  # noqa: NPY201  (nimfa 1.4.0 was written for NumPy 1)
    import nimfa

    V = sp.csr_matrix(X) if sp.issparse(X) else X
    return getattr(nimfa, name)(V, seed=None, W=W.copy(), H=H.copy(), rank=W.shape[1], **more)
