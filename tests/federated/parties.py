"""What the tests of parties share: little data, and a study run in one process."""

from __future__ import annotations

import numpy as np

from partwise.algorithms.federated.methods import method
from partwise.algorithms.federated.study import Study
from partwise.data import as_matrix
from partwise.drivers.adding import EncryptedSum
from partwise.drivers.arrivals import run_arrivals
from partwise.drivers.correspondence import Correspondence
from partwise.drivers.gathering import SecureSum
from partwise.drivers.rounds import Terms, one_by_one, run_rounds
from partwise.drivers.safety import Safety
from partwise.drivers.seat import Seat
from partwise.drivers.transports.in_process import InProcess
from partwise.drivers.vault import Vault


def shards(seed=0, rows=(9, 5, 12, 7), m=11, k=3):
    """X_p (n_p, m) of parties with a share of the same parts each."""
    rng = np.random.default_rng(seed)
    H = rng.gamma(0.7, 1, (k, m))
    return [rng.gamma(0.7, 1, (n, k)) @ H + 0.1 * rng.random((n, m)) for n in rows]


def seated(name, Xs, k=3, rounds=10, seed=0, safety=None, dtype=np.float64, **options):
    """(method, seats) of a study."""
    study = Study(k, Xs[0].shape[1], len(Xs), rounds, seed, np.dtype(dtype), sizes=tuple(X.shape[0] for X in Xs))
    chosen = method(name, study, options)
    return chosen, [
        Seat("test", chosen, as_matrix(X), p, Vault("test"), safety or Safety(len(Xs))) for p, X in enumerate(Xs)
    ]


def run(name, Xs, k=3, rounds=10, seed=0, terms=None, transport=None, safety=None, secure=False, **options):
    """(outcome, seats, mail) of a study in one process; `transport(seats)` carries its letters."""
    safety = safety or Safety(len(Xs))
    chosen, seats = seated(name, Xs, k, rounds, seed, safety, **options)
    mail = Correspondence("test", (transport or InProcess)(seats))
    secured = EncryptedSum if safety.by == "paillier" else SecureSum
    gather = secured(safety) if secure else one_by_one
    terms = terms or Terms(rounds, measure_every=0 if safety.only_sums else 1, gather=gather)
    return (run_arrivals if chosen.asynchronous else run_rounds)(chosen, mail, terms), seats, mail
