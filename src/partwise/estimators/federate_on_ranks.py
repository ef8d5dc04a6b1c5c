"""`federate_on_ranks`: a study whose parties are the ranks of an MPI job, all at work at the same time; rank 0 is the server."""

from __future__ import annotations

import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, final

import numpy as np

from partwise.comm import as_comm, one_fate
from partwise.currency import Array
from partwise.data import Entries, as_matrix
from partwise.drivers.agreement import agree, all_or_none
from partwise.drivers.seat import Seat
from partwise.drivers.transports.mpi import SERVER_RANK, Ranks, serve
from partwise.errors import DataError, OptionError
from partwise.estimators.conducting import Agreed, Conducted, Observer, conduct, party_folder
from partwise.estimators.privacy_wishes import Privacy
from partwise.estimators.study_wishes import Wishes
from partwise.launch import let_rank_0_speak
from partwise.protocols import Comm

SIMULATED = ("speeds", "dropout")  # wishes of parties that are not really at work


@final
@dataclass(frozen=True)
class Seen:
    """What a rank has in the end: the components, and what is its own."""

    H: Array  # (k, m), the same on all ranks
    W: Array | None  # (n_p, k), exact for H; None on rank 0
    own: tuple[Array, Array] | None  # (W_p, H_p) of the party's own components, where the method leaves it some
    server: Conducted | None  # history, transcript, faults and ledger: on rank 0 alone


def federate_on_ranks(
    X: Any, n_components: int, *, comm: Any = None, study: str = "study", folder: str | Path | None = None,
    privacy: Privacy | Mapping[str, Any] | None = None, observers: Sequence[Observer] = (), **wishes: Any,
) -> Seen:  # fmt: skip
    """Find one H for the data of all parties, each of which is a rank of an MPI job: a call that all ranks make.

    X is this rank's own data, an array or scipy sparse array of as many columns as the others'; None on rank 0, which is the server
    and has none. `comm` is an mpi4py communicator (None: the whole job, of 1 + P ranks). Nothing of X goes anywhere: what a rank says
    is what the method declares. `wishes` are method, rounds, tol, seed, secure_sum, measure_every, and options={…}, the method's own;
    all ranks must wish the same. With a folder every rank keeps its state there, and the same call goes on from it. What is wrong with
    X or the wishes is raised on all ranks; what fails on the way ends the job on all of them.
    """
    ranks = as_comm(comm)
    asked = _wishes(n_components, Privacy.of(privacy), wishes)
    with one_fate(ranks, _tell):
        entries, agreed = _settled(X, ranks, asked, study, None if folder is None else Path(folder))
        if entries is None:
            return _served(ranks, agreed, asked, observers)
        seat = Seat(
            study, agreed.method, entries, ranks.rank - 1, agreed.vault(party_folder(ranks.rank - 1)), agreed.safety
        )
        serve(ranks, seat)
        H = ranks.broadcast(np.zeros((n_components, entries.shape[1]), entries.dtype), SERVER_RANK)
        kept = seat.finished()
        own = (kept["Wt_own"].T, kept["H"]) if "Wt_own" in kept else None
        return Seen(H, kept["Wt"].T, own, None)


def _wishes(n_components: int, privacy: Privacy | None, given: Mapping[str, Any]) -> Wishes:
    known = {field.name for field in fields(Wishes)} - {"n_components", "privacy", *SIMULATED}
    unknown = sorted(set(given) - known)
    if unknown:
        raise OptionError(
            f"federate_on_ranks() does not know {', '.join(unknown)}; it knows: {', '.join(sorted(known))}."
        )
    return Wishes(n_components, privacy=privacy, **given)


def _settled(X: Any, comm: Comm, wishes: Wishes, study: str, folder: Path | None) -> tuple[Entries | None, Agreed]:
    """(this rank's data, what all agree on). A collective call."""
    with all_or_none(comm):
        if comm.size < 2:
            raise OptionError("A study on ranks needs one for the server and one for each party: start 1 + P of them.")
        if (X is None) != (comm.rank == SERVER_RANK):
            raise OptionError(
                "Rank 0 is the server and brings no data (X=None); every other rank is a party and brings its own."
            )
        entries = None if X is None else as_matrix(X)
    agree(comm, {"study": study, **{field.name: getattr(wishes, field.name) for field in fields(wishes)}})
    about = np.zeros(3, np.int64) if entries is None else np.array([*entries.shape, entries.dtype.itemsize])
    sizes, widths, precisions = comm.gather(about[:, None], [1] * comm.size)[:, 1:]
    with all_or_none(comm):
        for what, seen in (("features", widths), ("bytes in a number", precisions)):
            if len(set(seen.tolist())) > 1:
                raise DataError(
                    f"The parties have {', '.join(map(str, seen))} {what}; expected the same at each of them."
                )
        dtype = np.dtype(f"f{precisions[0]}")
        method = wishes.round_method((int(widths[0]), [int(size) for size in sizes]), dtype)
        return entries, Agreed(study, method, wishes.safety(len(sizes)), folder)


def _served(comm: Comm, agreed: Agreed, wishes: Wishes, observers: Sequence[Observer]) -> Seen:
    """The server's rank."""
    ranks = Ranks(comm)
    conducted = conduct(agreed, wishes, ranks, observers)
    ranks.close()
    H = np.ascontiguousarray(conducted.outcome.public["H"])
    return Seen(comm.broadcast(H, SERVER_RANK), None, None, conducted)


def _tell(error: BaseException) -> int:
    let_rank_0_speak()
    traceback.print_exception(error)
    return 1
