"""The loop of private methods with one curator: ask, write down, add noise, learn; as often as was settled beforehand."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from partwise.algorithms.private.query import PrivateMethod, Query
from partwise.currency import Array, Arrays
from partwise.kernels.threads import one_for_blas
from partwise.privacy.choosing import MECHANISMS, Spend
from partwise.privacy.ledger import Ledger
from partwise.privacy.noise import noise_source
from partwise.protocols import Matrix

Watch = Callable[[int, Query, Ledger], None]  # (t, what was asked, what was spent), after each release
EVERYONE = ("everyone",)


def released(query: Query, mu: float, X: Matrix, ledger: Ledger, t: int, noise: str = "lattice") -> tuple[Array, float]:
    """(the noisy answer, the noise's standard deviation). It is in the ledger before it is anywhere else, or it is not made."""
    mechanism = MECHANISMS[noise](Spend(mu, ledger.terms.budget), query.sensitivity, query.entries)
    with one_for_blas():
        answer = query.answer(X)
    rng = noise_source(ledger.terms.insecure_seed, t)
    return ledger.release(answer, mechanism, rng, t=t, what=query.what, seen_by=EVERYONE), mechanism.deviation


def run_releases(
    method: PrivateMethod, X: Matrix, ledger: Ledger, watchers: Sequence[Watch] = (), noise: str = "lattice"
) -> Arrays:
    """All that is public in the end."""
    public = method.opening()
    for t in range(1, method.rounds + 1):
        query = method.query(public, t)
        noisy, scale = released(query, method.known.mu * query.share**0.5, X, ledger, t, noise)
        public = method.learn(public, noisy, scale, t)
        for watch in watchers:
            watch(t, query, ledger)
    return public
