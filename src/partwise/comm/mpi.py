"""The ranks of an MPI job: the only door to mpi4py. Buffers only: no object is ever pickled."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, NoReturn, Self, final

import numpy as np
from numpy.typing import NDArray

from partwise.comm.widths import check_part, check_whole, shares
from partwise.errors import MissingExtraError
from partwise.protocols import Received

try:
    from mpi4py import MPI
except ImportError:
    raise MissingExtraError("A run on several ranks", "mpi4py", "mpi") from None

LINGER = 0.4  # seconds in which the launcher may take what was said: it lets go of the rest when the job is ended
_HEADER = np.dtype("<i8")  # number of axes, their lengths, then the dtype's name in 8 bytes


@final
@dataclass(frozen=True, eq=False)
class Mpi:
    """Some ranks of the job.

    With `deterministic`, sums are taken in the order of ranks whatever MPI would do: the same bits on every run and in every MPI
    library, and as `Simulated` has them. As many bytes travel, in P messages instead of 2 log₂ P. Two ranks need no such care.
    """

    comm: MPI.Comm
    deterministic: bool = False
    _under_way: list[tuple[MPI.Request, bytes]] = field(default_factory=list)

    @property
    def rank(self) -> int:
        return self.comm.rank

    @property
    def size(self) -> int:
        return self.comm.size

    def sum(self, A: NDArray[Any]) -> NDArray[Any]:
        A = np.ascontiguousarray(A)
        if self.deterministic and self.size > 2:
            return self._sum_in_order(A)
        total = np.empty_like(A)
        self.comm.Allreduce(A, total, MPI.SUM)
        return total

    def gather(self, part: NDArray[Any], widths: Sequence[int]) -> NDArray[Any]:
        check_part(part, widths, self.rank, self.size)
        lead, part = part.shape[:-1], np.ascontiguousarray(part)
        deep = int(np.prod(lead))
        flat = np.empty(deep * sum(widths), part.dtype)
        self.comm.Allgatherv(part, [flat, [deep * width for width in widths]])
        if deep == 1:
            return flat.reshape(*lead, -1)
        parts = [flat[deep * s.start : deep * s.stop].reshape(*lead, -1) for s in shares(widths) if s.stop > s.start]
        return np.concatenate(parts, axis=-1) if parts else np.empty((*lead, 0), part.dtype)

    def sum_scatter(self, A: NDArray[Any], widths: Sequence[int]) -> NDArray[Any]:
        check_whole(A, widths, self.size)
        flat = np.concatenate([A[..., share].ravel() for share in shares(widths)])
        mine = np.empty((*A.shape[:-1], widths[self.rank]), A.dtype)
        deep = int(np.prod(A.shape[:-1]))
        if self.deterministic and self.size > 2:
            self._scatter_in_order(flat, mine, [deep * width for width in widths])
        else:
            self.comm.Reduce_scatter(flat, mine, [deep * width for width in widths], MPI.SUM)
        return mine

    def broadcast(self, A: NDArray[Any], root: int = 0) -> NDArray[Any]:
        given = np.array(A, order="C")
        self.comm.Bcast(given, root)
        return given

    def barrier(self) -> None:
        self.comm.Barrier()
        self._forget_sent()

    def send(self, A: NDArray[Any], to: int, tag: int = 0) -> None:
        self._forget_sent()
        header = np.array([A.ndim, *A.shape], _HEADER).tobytes() + A.dtype.str.encode().ljust(8)
        letter = header + np.ascontiguousarray(A).tobytes()
        self._under_way.append((self.comm.Isend([letter, MPI.BYTE], to, tag), letter))

    def receive(self, source: int | None = None, tag: int | None = None) -> Received:
        status = MPI.Status()
        message = self.comm.Mprobe(
            MPI.ANY_SOURCE if source is None else source, MPI.ANY_TAG if tag is None else tag, status
        )
        letter = bytearray(status.Get_count(MPI.BYTE))
        message.Recv([letter, MPI.BYTE])
        axes = int(np.frombuffer(letter, _HEADER, 1)[0])
        shape = np.frombuffer(letter, _HEADER, axes, 8)
        body = 8 * (axes + 2)
        array = np.frombuffer(letter, np.dtype(letter[body - 8 : body].decode().strip()), offset=body).reshape(shape)
        return Received(array, status.Get_source(), status.Get_tag())

    def split(self, color: int, key: int = 0) -> Self:
        return type(self)(self.comm.Split(color, key), self.deterministic)

    def _forget_sent(self) -> None:
        """Let go of what has left: until then its buffer must stay."""
        self._under_way[:] = [pending for pending in self._under_way if not pending[0].Test()]

    def _sum_in_order(self, A: NDArray[Any]) -> NDArray[Any]:
        """Every rank sums one stretch for all, in the order of ranks."""
        stretch = -(-A.size // self.size)
        padded = np.zeros(stretch * self.size, A.dtype)
        padded[: A.size] = A.ravel()
        theirs = np.empty_like(padded)
        self.comm.Alltoall(padded, theirs)
        self.comm.Allgather(_in_order(theirs.reshape(self.size, stretch)), padded)
        return padded[: A.size].reshape(A.shape)

    def _scatter_in_order(self, flat: NDArray[Any], mine: NDArray[Any], counts: list[int]) -> None:
        theirs = np.empty((self.size, mine.size), flat.dtype)
        self.comm.Alltoallv([flat, counts], [theirs, [mine.size] * self.size])
        mine[...] = _in_order(theirs).reshape(mine.shape)


def world(deterministic: bool = False) -> Mpi:
    """All ranks of the job."""
    return Mpi(MPI.COMM_WORLD, deterministic)


def abort(code: int) -> NoReturn:
    """End the job on all its ranks, at once. What MPI has to say of that is not heard: why was said by whoever calls this."""
    sys.stdout.flush()
    sys.stderr.flush()
    time.sleep(LINGER)
    with open(os.devnull, "wb") as nowhere:  # noqa: PTH123  (a file descriptor is wanted)
        os.dup2(nowhere.fileno(), 2)
    MPI.COMM_WORLD.Abort(code)
    os._exit(code)  # never reached; MPI does not promise that


def _in_order(parts: NDArray[Any]) -> NDArray[Any]:
    return reduce(np.add, parts)
