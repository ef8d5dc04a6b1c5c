"""The door: what comes in is checked here, once, and is trusted from then on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from partwise.currency import Array
from partwise.data.dense import Dense, row_slices
from partwise.data.entries import Entries
from partwise.data.masked import MaskedDense, MaskedSparse
from partwise.data.sparse import Sparse
from partwise.data.streamed import Streamed
from partwise.data.weighted import Weighted
from partwise.errors import DataError, DataTypeError, OptionError

OBSERVED_ONLY = ", or pass missing='nan' to fit what was observed only"
CLIPPED = ", or pass negative='clip'"  # advice for callers that have such a wish
LARGEST = {np.dtype(np.float32): 1e12, np.dtype(np.float64): 1e100}  # cubes of entries, and sums of them, stay in range

Missing = Literal["error", "nan", "zero"]
Negative = Literal["error", "clip"]
Corner = tuple[int, int]  # the row and column of X at which a part of it begins


def as_matrix(
    X: Any,
    *,
    missing: Missing = "error",
    mask: Any = None,
    sample_weight: Any = None,
    negative: Negative = "error",
    dtype: Any = None,
) -> Entries:
    """Check X (n, m) and hold it as a `Matrix`, without copying it where its dtype is float32 or float64 already.

    missing : "error", or "nan" (NaN marks what was not observed), or "zero" (zeros and what is not stored were not observed).
    mask : (n, m) of bool, True where X was observed; elsewhere X is not looked at.
    sample_weight : (n,), nonnegative.
    negative : "error", or "clip" (negative entries become zero, in a copy).
    """
    _check_options(missing, negative)
    if sp.issparse(X):
        entries = _sparse(X, missing, mask, negative, dtype)
    elif isinstance(X, np.ndarray) or not hasattr(X, "__getitem__") or not hasattr(X, "dtype"):
        entries = _dense(X if isinstance(X, np.memmap) else _array(X), missing, mask, negative, dtype)
    else:
        entries = _streamed(X, missing, mask, negative, dtype)
    return entries if sample_weight is None else Weighted(entries, _weights(sample_weight, entries))


def _check_options(missing: str, negative: str) -> None:
    if missing not in ("error", "nan", "zero"):
        raise OptionError(f"missing={missing!r} is not known; expected 'error', 'nan' or 'zero'.")
    if negative not in ("error", "clip"):
        raise OptionError(f"negative={negative!r} is not known; expected 'error' or 'clip'.")


def working_dtype(given: np.dtype[Any], asked: Any = None) -> np.dtype[Any]:
    """float32 and float64 stay; whole numbers, booleans and half precision become float64, unless asked otherwise."""
    if given.kind == "c":
        raise DataError(f"Complex data not supported: X has dtype {given}; expected real numbers, such as np.abs(X).")
    if given.kind not in "fiub":
        raise DataError(f"X has dtype {given}; expected real numbers (float32, float64, integers or booleans).")
    if asked is not None:
        if np.dtype(asked) not in (np.float32, np.float64):
            raise OptionError(f"dtype={asked!r} is not supported; expected 'float32' or 'float64'.")
        return np.dtype(asked)
    return given.newbyteorder("=") if given in (np.float32, np.float64) else np.dtype(np.float64)


def _check_shape(shape: tuple[int, ...]) -> None:
    if len(shape) != 2:
        raise DataError(
            f"X has {len(shape)} dimension(s), shape {shape}; expected a 2D array: rows are samples, columns features. Reshape your data: "
            "X.reshape(-1, 1) if it has a single feature, X.reshape(1, -1) if it is a single sample."
        )
    if min(shape) == 0:
        missing = "0 sample(s)" if shape[0] == 0 else "0 feature(s)"
        raise DataError(f"Found array with {missing} (shape={shape}) while a minimum of 1 is required.")


def _dense(X: np.ndarray, missing: str, mask: Any, negative: str, dtype: Any) -> Entries:
    if X.dtype == object:
        X = _from_objects(X)
    _check_shape(X.shape)
    working = working_dtype(X.dtype, dtype)
    observed = None if mask is None else _mask(mask, X.shape)
    if isinstance(X, np.memmap) and working != X.dtype and observed is None and missing != "zero":
        return _streamed(X, missing, None, negative, working)
    array = converted(X, working)
    array = _check_values(array, missing, observed, negative)
    if missing == "zero":
        observed = (array != 0) if observed is None else observed & (array != 0)
    if missing != "nan" and observed is None:
        return Dense(array)
    if observed is None and not any(np.isnan(array[part].min()) for part in _parts(array)):
        return Dense(array)
    return MaskedDense(array, observed)


def _array(X: Any) -> np.ndarray:
    try:
        return np.asarray(X)
    except ValueError as error:  # rows of different lengths
        raise DataError(f"X cannot be made an array ({error}); expected rows of equal length.") from None


def converted(values: np.ndarray, dtype: np.dtype[Any]) -> np.ndarray:
    """In the working precision, without a copy where it has that; what does not fit becomes infinite, and is refused as such."""
    with np.errstate(over="ignore"):
        return values.astype(dtype, copy=False)


def _from_objects(X: np.ndarray) -> np.ndarray:
    try:
        return X.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        kind = DataTypeError if isinstance(error, TypeError) else DataError
        raise kind(
            f"X holds Python objects that are not numbers ({error}); expected an array of real numbers."
        ) from None


def _mask(mask: Any, shape: tuple[int, ...]) -> np.ndarray:
    observed = np.asarray(mask.toarray() if sp.issparse(mask) else mask)
    if observed.shape != shape:
        raise DataError(f"mask has shape {observed.shape}; expected that of X, {shape}, True where X was observed.")
    if observed.dtype != bool:
        raise DataError(f"mask has dtype {observed.dtype}; expected booleans, True where X was observed.")
    if not observed.any():
        raise DataError("mask is False everywhere: nothing of X was observed, so there is nothing to fit.")
    return observed


def _parts(array: Array) -> Iterator[slice]:
    return row_slices(array.shape[0], array.shape[1] * array.dtype.itemsize)


def _check_values(array: Array, missing: str, observed: np.ndarray | None, negative: str) -> Array:
    """The array, or a clipped copy; one pass, nothing of X's size beside X unless it must be clipped."""
    clip = False
    for part in _parts(array):
        block = array[part] if observed is None else np.where(observed[part], array[part], array.dtype.type(0))
        clip |= check_block(block, (part.start, 0), missing, negative)
    return np.maximum(array, 0) if clip else array


def check_block(block: Array, corner: Corner, missing: str, negative: str) -> bool:
    """Whether the block, which begins at this row and column of X, holds negative entries that are to be clipped."""
    low, high = float(block.min()), float(block.max())  # a NaN anywhere makes both NaN
    if np.isnan(low):
        if missing != "nan":
            raise DataError(_complaint("NaN", np.isnan(block), block, corner)
                            + f"Impute them{OBSERVED_ONLY}.")  # fmt: skip
        known = block[~np.isnan(block)]
        low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 0.0)
    if np.isinf(low) or np.isinf(high):
        raise DataError(_complaint("infinite", np.isinf(block), block, corner) + "Replace them by finite numbers.")
    if high > LARGEST[block.dtype]:
        raise DataError(_complaint("huge", block > LARGEST[block.dtype], block, corner) + _too_large(block.dtype))
    if low >= 0:
        return False
    if negative == "clip":
        return True
    raise DataError(
        "Negative values in data passed to NMF: " + _complaint("negative", block < 0, block, corner)
        + f"NMF needs X ≥ 0; clip them or shift the data{CLIPPED}."
    )  # fmt: skip


def _complaint(kind: str, where: np.ndarray, block: Array, corner: Corner) -> str:
    count = int(np.count_nonzero(where))
    row, column = (int(i) for i in np.argwhere(where)[0])
    entry = "entry" if count == 1 else "entries"
    what = f"Input X contains {kind} values" if kind == "NaN" else f"X has {count} {kind} {entry}"
    return (
        f"{what} ({count} seen, first at row {corner[0] + row}, column {corner[1] + column}: {block[row, column]:g}). "
    )


def _too_large(dtype: np.dtype[Any]) -> str:
    return f"Products of numbers above {LARGEST[dtype]:g} overflow {dtype}; divide X by its largest entry."


def _sparse(X: Any, missing: str, mask: Any, negative: str, dtype: Any) -> Entries:
    _check_shape(X.shape)
    if X.format not in ("csr", "csc"):
        X = X.tocsr()
    working = working_dtype(X.dtype, dtype)
    flipped = X.format == "csc"
    rows = X.T if flipped else X
    stored = sp.csr_array((converted(rows.data, working), rows.indices, rows.indptr), shape=rows.shape)
    if not stored.has_canonical_format:
        stored = stored.copy()
        stored.sum_duplicates()
    stored = check_stored(stored, (0, 0), negative, flipped=flipped)
    if mask is not None:
        observed = _mask(mask, X.shape)
        return MaskedSparse(_at_mask(stored, observed.T if flipped else observed, flipped))
    entries = Sparse(stored, flipped)
    return MaskedSparse(entries) if missing == "zero" else entries


def _at_mask(stored: sp.csr_array, observed: np.ndarray, flipped: bool) -> Sparse:
    """X at the observed places, zeros among them stored."""
    rows, columns = np.nonzero(observed)
    values = np.asarray(stored[rows, columns]).ravel()
    held = sp.coo_array((values, (rows, columns)), shape=stored.shape)
    return Sparse(sp.csr_array(held), flipped)


def check_stored(stored: sp.csr_array, corner: Corner, negative: str, *, flipped: bool = False) -> sp.csr_array:
    """The same, or clipped: stored values are finite and nonnegative, or a sentence with the place of the first that is not."""
    data = stored.data
    if not data.size:
        return stored
    low, high = float(data.min()), float(data.max())
    most = LARGEST[data.dtype]
    finite = np.isfinite(low) and np.isfinite(high)
    if finite and high <= most and (low >= 0 or negative == "clip"):
        return stored if low >= 0 else sp.csr_array((np.maximum(data, 0), stored.indices, stored.indptr), stored.shape)
    bad = ~np.isfinite(data) if not finite else data > most if high > most else data < 0
    first = int(np.flatnonzero(bad)[0])
    place = int(np.searchsorted(stored.indptr, first, side="right")) - 1, int(stored.indices[first])
    row, column = (place[1], place[0]) if flipped else place
    where = f"({int(bad.sum())} seen, first at row {corner[0] + row}, column {corner[1] + column}: {data[first]:g}). "
    if np.isnan(data[first]):
        raise DataError(f"Input X contains NaN values {where}In sparse X a missing entry is one that is not stored: "
                        "leave them out and pass missing='zero'.")  # fmt: skip
    if np.isinf(data[first]):
        raise DataError(f"X has infinite entries {where}Replace them by finite numbers.")
    if data[first] > most:
        raise DataError(f"X has huge entries {where}{_too_large(data.dtype)}")
    raise DataError(f"Negative values in data passed to NMF: X has negative entries {where}"
                    f"NMF needs X ≥ 0; clip them or shift the data{CLIPPED}.")  # fmt: skip


def _streamed(source: Any, missing: str, mask: Any, negative: str, dtype: Any) -> Entries:
    _check_shape(tuple(source.shape))
    if mask is not None or missing == "zero" or negative == "clip":
        raise OptionError(
            "X is read from disk by blocks; mask, missing='zero' and negative='clip' need it in memory: load it first."
        )
    X = Streamed(source, working_dtype(np.dtype(source.dtype), dtype), missing=missing == "nan")
    n, m = X.shape
    for part in row_slices(n, m * X.dtype.itemsize):
        check_block(converted(np.asarray(source[part]), X.dtype), (part.start, 0), missing, negative)
    return X


def _weights(sample_weight: Any, X: Entries) -> Array:
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (X.shape[0],):
        raise DataError(
            f"sample_weight has shape {weights.shape}; expected one number for each row of X, ({X.shape[0]},)."
        )
    if not np.isfinite(weights).all() or (weights < 0).any() or not weights.any():
        raise DataError("sample_weight must be finite and nonnegative, and not zero everywhere.")
    return weights.astype(X.dtype)
