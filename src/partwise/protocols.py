"""What the rooms expect of one another. Arrays are component-major: see `currency`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from partwise.currency import Array, Arrays, Carry, Disclosure, Exchange, NormalEq, RatioEq, Reply, State

Data = TypeVar("Data", contravariant=True)


class Sketch(Protocol):
    """A random S (m, d) with E[SSᵀ] = I, made from (seed, iteration) and never sent."""

    @property
    def shape(self) -> tuple[int, int]: ...

    def apply(self, A: Any, start: int = 0) -> Array:
        """(r, d): A S[start : start + width], for a dense or scipy-sparse A (r, width)."""
        ...


class Matrix(Protocol):
    """X (n, m), nonnegative, wherever and however it is held."""

    @property
    def shape(self) -> tuple[int, int]: ...

    @property
    def dtype(self) -> np.dtype[Any]: ...

    @property
    def T(self) -> Matrix: ...

    @property
    def nnz(self) -> int:
        """How many entries a product touches: n·m for dense data."""
        ...

    def times(self, F: Array) -> Array:
        """(k, n): F Xᵀ for F (k, m)."""
        ...

    def normal_eq(self, other: Array, F: Array, weights: Array | None = None, gram: Array | None = None) -> NormalEq:
        """The pair for updating F (k, n), the other factor being `other` (k, m) whose columns may be weighted (m,).

        `gram`, where it is known already, is not made again.
        """
        ...

    def ratio_eq(self, other: Array, F: Array, beta: float, weights: Array | None = None) -> RatioEq:
        """The same for the β-divergence."""
        ...

    def sq_norm(self) -> float:
        """‖X‖² over what is observed, weighted."""
        ...

    @property
    def squares(self) -> Array:
        """(n,): ‖x_i‖² in float64."""
        ...

    def sq_error(self, Wt: Array, H: Array, eq: NormalEq | None = None) -> float:
        """‖X − WH‖² over what is observed, weighted; `eq`, the pair of H for this Wt, saves a product where it suffices."""
        ...

    @property
    def traceable(self) -> bool:
        """Whether the squared error follows from the pair alone (not with missing entries)."""
        ...

    def row_pairs(self, H: Array) -> Iterator[NormalEq]:
        """The pair of each row of W over what was observed of that row (k × k and k × 1), if X is not `traceable`."""
        ...

    def has_zeros(self) -> bool:
        """Whether an observed entry is zero."""
        ...

    def mean(self) -> float:
        """The mean of the observed entries."""
        ...

    def divergence(self, Wt: Array, H: Array, beta: float) -> float:
        """The β-divergence D(X ‖ WH) over what is observed, weighted."""
        ...

    def blocks(self) -> Iterator[tuple[slice, Matrix]]:
        """X by blocks of rows, in order."""
        ...

    @property
    def here(self) -> Matrix:
        """X itself: see `Passes`."""
        ...

    def together(self, eq: NormalEq, *numbers: float | None) -> tuple[NormalEq, tuple[float | None, ...]]:
        """What was given: nobody else holds rows (see `Passes`)."""
        ...

    @property
    def first(self) -> int:
        """0: all rows are here (see `Passes`)."""
        ...

    def holding(self, rows: Matrix) -> Passes:
        """These rows themselves: nobody else holds any (see `Passes`)."""
        ...

    def rows(self, index: Any) -> Matrix:
        """Some rows, held in memory."""
        ...

    @property
    def run(self) -> int:
        """How many neighbouring rows are best read together: 1 in memory."""
        ...

    def sketched(self, sketch: Sketch, start: int = 0) -> Array:
        """(n, d): X S[start : start + m]."""
        ...

    def times_sketched(self, F: Array, sketch: Sketch, start: int = 0) -> Array:
        """(k, n): F (X S)ᵀ for F (k, d)."""
        ...


class Passes(Protocol):
    """What an alternation asks of X (n, m), of which others may hold rows too: sums over all who do, and the rows held here."""

    @property
    def shape(self) -> tuple[int, int]:
        """(n, m), all rows counted."""
        ...

    @property
    def nnz(self) -> int:
        """How many entries a product with all rows touches."""
        ...

    @property
    def here(self) -> Matrix:
        """The rows of this process."""
        ...

    @property
    def first(self) -> int:
        """The number of the first of them."""
        ...

    def holding(self, rows: Matrix) -> Passes:
        """Other data: of which everyone holds such rows as these instead. A collective call."""
        ...

    def sq_norm(self) -> float:
        """‖X‖² over the rows of all. The first call is a collective one."""
        ...

    @property
    def traceable(self) -> bool:
        """As of a `Matrix`."""
        ...

    def together(self, eq: NormalEq, *numbers: float | None) -> tuple[NormalEq, tuple[float | None, ...]]:
        """Of a pair and some numbers that everyone made of their own rows, the sums; None: nobody made it. A collective call."""
        ...

    def sq_error(self, Wt: Array, H: Array, eq: NormalEq | None = None) -> float:
        """‖X − WH‖² over the rows of all, for the rows of W held here; `eq`: the pair of H for all of W."""
        ...


class Update(Protocol):
    """Moves a factor, knowing only its pair; columns are independent of one another."""

    def init(self, F: Array) -> Carry: ...

    def __call__(self, F: Array, eq: Any, carry: Carry) -> tuple[Array, Carry]:
        """A new F (k, r) and what to remember; neither F nor the pair is written to."""
        ...


class Iteration(Protocol[Data]):
    """A named method: how it starts from given factors, and one iteration. The loop is the driver's.

    On one machine the data are a `Matrix`; on a cluster they are what this rank holds of one.
    """

    def init(self, X: Data, Wt: Array, H: Array) -> State: ...

    def step(self, X: Data, state: State, t: int) -> State: ...


class Round(Protocol):
    """A named method between organisations: what a party does and what the server does in round t, as pure functions.

    The loop is a driver's, the way of the messages a transport's. Every party p holds X (n_p, m) and what it keeps (`private`);
    the server holds `public`, of which `public["H"]` (k, m) is the model. A party's `private["Wt"]` is its (k, n_p), and
    `private["H"]`, where a method leaves one, its own version of the components. What `party` returns first never leaves it.
    """

    @property
    def first(self) -> int:
        """The first round: 1, or 0 for a method that begins with a round of sizes."""
        ...

    @property
    def exchanges(self) -> int:
        """How many exchanges with the parties one round takes; t counts exchanges."""
        ...

    @property
    def sums(self) -> bool:
        """Whether the server needs no more than the sum of the replies, so that it may be a secure sum."""
        ...

    @property
    def asynchronous(self) -> bool:
        """Whether the server folds each reply as it comes (`server` is then given one reply, and t counts the replies)."""
        ...

    def declare(self, t: int, p: int) -> Exchange:
        """All that goes between the server and party p in round t; nothing else may."""
        ...

    def reach(self, public: Arrays, t: int) -> Mapping[str, float]:
        """A bound, by name, on every number a party says in round t, if `sums`: what the secure sum makes room for.

        `inf` is allowed for a few numbers whose size nobody knows yet; they take 34 words each.
        """
        ...

    def disclosure(self, t: int, p: int) -> Disclosure | None:
        """The sketch of its data that party p shows in round t, if the method shows any: it goes by the leak ledger."""
        ...

    @property
    def rounds(self) -> int:
        """How many rounds the study is set up for."""
        ...

    @property
    def promise(self) -> Any | None:
        """The `privacy.terms.Terms` of a method that is differentially private: then parties keep a ledger, and never `measure`."""
        ...

    def release(self, down: Arrays, t: int, p: int) -> Any | None:
        """The `privacy.ledger.Release` that party p's reply to `down` will be, if the method is private: it is paid for beforehand."""
        ...

    def opening(self) -> Arrays:
        """What the server knows before the first round: nothing of the data."""
        ...

    def begin(self, X: Matrix, p: int) -> Arrays:
        """What party p keeps before its first round."""
        ...

    def down(self, public: Arrays, t: int, p: int) -> Arrays:
        """What the server sends to party p in round t."""
        ...

    def party(self, X: Matrix, private: Arrays, down: Arrays, t: int, p: int) -> tuple[Arrays, Arrays]:
        """(stays, goes): what party p keeps after round t, and what it says. Nothing that is given is written to."""
        ...

    def server(self, public: Arrays, replies: Sequence[Reply], t: int) -> Arrays:
        """What the server knows after round t. Replies come in the order of the parties, or as one sum, if `sums`."""
        ...

    def closing(self, public: Arrays, p: int) -> Arrays:
        """What the server sends to party p when there are no more rounds, or when it wants to know the error: the model."""
        ...

    def finish(self, X: Matrix, private: Arrays, down: Arrays, p: int) -> Arrays:
        """What party p keeps in the end: its W for the last H among it. `down` is what `closing` gave."""
        ...

    def measure(self, X: Matrix, private: Arrays, down: Arrays, p: int) -> Arrays:
        """{"sq_error", "sq_norm"} (each of shape ()) of party p, its W being fitted to what the server sends."""
        ...

    def known_error(self, public: Arrays) -> float | None:
        """The relative error, where the server can tell it from what it knows; else None."""
        ...


class Transport(Protocol):
    """Carries letters (see `drivers.letters`) to parties and back; knows nothing of methods."""

    @property
    def size(self) -> int:
        """How many parties there are."""
        ...

    def post(self, letters: Sequence[Any]) -> None:
        """Send letters, each to the party that it names."""
        ...

    def next(self, seconds: float | None = None) -> Any | None:
        """The next answer that comes; None if none will come, or none came in so many seconds."""
        ...

    @property
    def now(self) -> float:
        """What the clock of simulated parties says; NaN where only the one on the wall is known."""
        ...


class Received(NamedTuple):
    """A message that came from another rank."""

    array: NDArray[Any]
    source: int
    tag: int


class Comm(Protocol):
    """The ranks that work together, as one of them sees it. All must call the same collectives in the same order.

    Arrays go in and new arrays come out, as buffers: nothing is ever pickled. Shapes and dtypes are the same on all ranks, but for
    the last axis of what is gathered.
    """

    @property
    def rank(self) -> int: ...

    @property
    def size(self) -> int: ...

    def sum(self, A: NDArray[Any]) -> NDArray[Any]:
        """All-reduce: the sum over the ranks, the same bits on each of them."""
        ...

    def gather(self, part: NDArray[Any], widths: Sequence[int]) -> NDArray[Any]:
        """All-gather: the parts (…, widths[p]) of all ranks side by side along the last axis, in the order of ranks."""
        ...

    def sum_scatter(self, A: NDArray[Any], widths: Sequence[int]) -> NDArray[Any]:
        """Reduce-scatter: of the sum over the ranks (…, Σ widths), this rank's share (…, widths[rank])."""
        ...

    def broadcast(self, A: NDArray[Any], root: int = 0) -> NDArray[Any]:
        """What the root has; on the other ranks A only says shape and dtype."""
        ...

    def barrier(self) -> None:
        """Wait until all ranks are here."""
        ...

    def send(self, A: NDArray[Any], to: int, tag: int = 0) -> None:
        """Send an array to one rank; returns before it has been received, and A may be changed at once."""
        ...

    def receive(self, source: int | None = None, tag: int | None = None) -> Received:
        """Wait for a message of this source and tag; None: of any."""
        ...

    def split(self, color: int, key: int = 0) -> Self:
        """The ranks of one color, in the order of their keys, then of their ranks here. A collective call."""
        ...
