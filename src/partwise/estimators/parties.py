"""The parties' data at the door: checked one by one, of one precision, with the same features in the same order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from partwise.data import Entries, as_matrix
from partwise.errors import DataError, DataTypeError

SHOWN = 10  # names in an error, at most


class Parties(NamedTuple):
    """Every party's X (n_p, m), and what its columns are called, if they are called anything."""

    Xs: list[Entries]
    names: list[str] | None


def enter(given: Any, called: Callable[[int], str] = "party {}".format) -> Parties:
    """Check the data of all parties; features with names are brought into the order of the first party that names them."""
    parts = _listed(given)
    names = [_names(part) for part in parts]
    reference = next((known for known in names if known is not None), None)
    if reference is not None:
        parts = [part if known is None or known == reference else _ordered(part, known, reference, called(p))
                 for p, (part, known) in enumerate(zip(parts, names, strict=True))]  # fmt: skip
    Xs = [_checked(part, called(p)) for p, part in enumerate(parts)]
    for p, X in enumerate(Xs):
        if X.shape[1] != Xs[0].shape[1]:
            raise DataError(f"{called(p)} has {X.shape[1]} features and {called(0)} has {Xs[0].shape[1]}; expected the same features at "
                            "every party.")  # fmt: skip
    dtype = np.result_type(*(X.dtype for X in Xs))
    Xs = [X if X.dtype == dtype else as_matrix(part, dtype=dtype) for X, part in zip(Xs, parts, strict=True)]
    return Parties(Xs, reference)


def _listed(given: Any) -> list[Any]:
    if isinstance(given, np.ndarray) and given.ndim != 3:
        raise DataError(
            f"One array of shape {given.shape} came; expected a list of matrices, one for each party (for one matrix, take NMF)."
        )
    if sp.issparse(given) or hasattr(given, "columns") or not hasattr(given, "__iter__"):
        raise DataTypeError(
            f"A {type(given).__name__} came; expected a list of matrices, one for each party (for one matrix, take NMF)."
        )
    parts = list(given)
    if not parts:
        raise DataError("The list of parties is empty; expected one matrix at least.")
    return parts


def _checked(part: Any, who: str) -> Entries:
    try:
        return as_matrix(part)
    except DataTypeError as error:
        raise DataTypeError(f"{who}: {error}") from None
    except DataError as error:
        raise DataError(f"{who}: {error}") from None


def _names(part: Any) -> list[str] | None:
    """Of a data frame's columns, if all are strings."""
    columns = getattr(part, "columns", None)
    if columns is None or callable(columns):
        return None
    held = list(columns)
    return held if held and all(isinstance(name, str) for name in held) else None


def _ordered(part: Any, known: Sequence[str], reference: Sequence[str], who: str) -> Any:
    """The frame with its columns in the order of the reference."""
    refuse_differing(known, reference, who)
    return part[list(reference)]


def refuse_differing(known: Sequence[str], reference: Sequence[str], who: str) -> None:
    """The same names, each once, or a sentence that lists what is missing, or too much."""
    for owner, names in ((who, known), ("The first party", reference)):
        if len(set(names)) < len(names):
            raise DataError(f"{owner} has features of one name twice: {_some(n for n in set(names) if list(names).count(n) > 1)}. "
                            "Give every feature a name of its own.")  # fmt: skip
    missing, extra = sorted(set(reference) - set(known)), sorted(set(known) - set(reference))
    if missing:
        raise DataError(f"{who} lacks {len(missing)} of the {len(reference)} features that others have: {_some(missing)}. "
                        "Add them (as zeros, if that is what their absence means).")  # fmt: skip
    if extra:
        raise DataError(
            f"{who} has {len(extra)} features that others lack: {_some(extra)}. Leave them out, or add them everywhere."
        )


def _some(names: Any) -> str:
    held = sorted(names)
    return ", ".join(held[:SHOWN]) + (", …" if len(held) > SHOWN else "")
