"""The parties' data at the door: checked one by one, of one precision, with the same features in the same order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike

from partwise.data import Entries, as_matrix
from partwise.data.columns import picked
from partwise.data.validate import CLIPPED, OBSERVED_ONLY
from partwise.errors import DataError, DataTypeError

SHOWN = 10  # names in an error, at most


class Parties(NamedTuple):
    """Every party's X (n_p, m), and what its columns are called, if they are called anything."""

    Xs: list[Entries]
    names: list[str] | None


class Offer(NamedTuple):
    """What one party brings, before it was looked at."""

    X: Any
    names: Sequence[str] | None  # of its features
    who: str


def enter(given: Any, called: Callable[[int], str] = "party {}".format) -> Parties:
    """Check a list of arrays, data frames or sparse matrices, one for each party."""
    return admit([Offer(part, _names(part), called(p)) for p, part in enumerate(_listed(given))])


def admit(offers: Sequence[Offer], *, dtype: DTypeLike | None = None, negative: Any = None) -> Parties:
    """Check the data of all parties; features with names are brought into the order of the first party that names them.

    `negative`: as of `as_matrix`; None where the user has no such wish, so that nobody is advised to have it.
    """
    first = next((offer for offer in offers if offer.names is not None), None)
    reference = None if first is None else list(first.names or ())
    if reference is not None:
        offers = [
            offer if offer.names is None or list(offer.names) == reference else _ordered(offer, reference)
            for offer in offers
        ]
    Xs = [_checked(offer, dtype, negative) for offer in offers]
    for X, offer in zip(Xs, offers, strict=True):
        if X.shape[1] != Xs[0].shape[1]:
            raise DataError(f"{offer.who} has {X.shape[1]} features and {offers[0].who} has {Xs[0].shape[1]}; expected the same features "
                            "at every party.")  # fmt: skip
    common = np.result_type(*(X.dtype for X in Xs))
    Xs = [X if X.dtype == common else _checked(offer, common, negative) for X, offer in zip(Xs, offers, strict=True)]
    return Parties(Xs, reference)


def in_order(X: Any, reference: Sequence[str] | None) -> Any:
    """A data frame's features in the order of those that were fitted; anything else as it is."""
    known = _names(X)
    if known is None or reference is None or known == list(reference):
        return X
    refuse_differing(known, list(reference), "X")
    return X[list(reference)]


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


def _checked(offer: Offer, dtype: DTypeLike | None, negative: Any) -> Entries:
    try:
        return as_matrix(offer.X, dtype=dtype, negative=negative or "error")
    except DataTypeError as error:
        raise DataTypeError(f"{offer.who}: {error}") from None
    except DataError as error:
        advice = str(error).replace(OBSERVED_ONLY, "")  # which methods between parties cannot
        advice = advice.replace(CLIPPED, "") if negative is None else advice
        raise DataError(f"{offer.who}: {advice}") from None


def _names(part: Any) -> list[str] | None:
    """Of a data frame's columns, if all are strings."""
    columns = getattr(part, "columns", None)
    if columns is None or callable(columns):
        return None
    held = list(columns)
    return held if held and all(isinstance(name, str) for name in held) else None


def _ordered(offer: Offer, reference: list[str]) -> Offer:
    """With the features in the order of the reference."""
    known = list(offer.names or ())
    refuse_differing(known, reference, offer.who)
    if hasattr(offer.X, "columns"):
        return offer._replace(X=offer.X[reference])
    place = {name: at for at, name in enumerate(known)}
    return offer._replace(X=picked(offer.X, np.array([place[name] for name in reference])))


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
