"""The β-divergence, entry by entry: 2 is half the squared error, 1 Kullback–Leibler, 0 Itakura–Saito."""

from __future__ import annotations

import numpy as np

from partwise.currency import Array

# scikit-learn's: a model value of zero is taken as this where one divides by it
TINY = float(np.finfo(np.float32).eps)

LEAST = float(np.finfo(np.float64).tiny)  # a ratio that underflows is taken as this: its logarithm is wanted


def floor(model: Array) -> Array:
    """The model's values (a scratch array, written to), kept away from zero."""
    return np.maximum(model, TINY, out=model)


def divergences(X: Array, model: Array, beta: float) -> Array:
    """d_β(x ‖ y) for each entry, in float64; `model` must be positive where β < 2."""
    x, y = np.asarray(X, np.float64), np.asarray(model, np.float64)
    if beta == 2:
        return 0.5 * (x - y) ** 2
    if beta == 1:
        return x_log_ratio(x, y) - x + y
    if beta == 0:
        ratio = np.maximum(x / y, LEAST)
        return ratio - np.log(ratio) - 1
    return (x**beta + (beta - 1) * y**beta - beta * x * y ** (beta - 1)) / (beta * (beta - 1))


def x_log_ratio(x: Array, y: Array) -> Array:
    """x log(x / y), zero where x is."""
    ratio = np.divide(x, y, out=np.ones_like(x), where=x > 0)
    return x * np.log(np.maximum(ratio, LEAST))


def weights_of_ratio(X: Array, model: Array, beta: float) -> tuple[Array, Array | None]:
    """What the multiplicative pair multiplies `other` with: (x y^(β−2), y^(β−1)), the second None where it is all ones (β = 1).

    `model` is a scratch array (y, floored) and is written to.
    """
    if beta == 1:
        return np.divide(X, model, out=model), None
    if beta == 2:
        return X, model
    return X * model ** (beta - 2), model ** (beta - 1)
