"""Coherence of topics: whether the words that a component weighs most belong together."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from partwise.currency import Array
from partwise.data import as_matrix
from partwise.data.together import occurrence
from partwise.errors import DataError, OptionError


def top_features(components: Any, top: int = 10) -> np.ndarray:
    """(k, top): the columns of each component's largest entries, the largest first; equal ones in their own order."""
    H = _components(components, top)
    return np.argsort(-H, axis=1, kind="stable")[:, :top]


def npmi(components: Any, X: Any, *, top: int = 10) -> Array:
    """(k,): normalised pointwise mutual information of the `top` words, the mean over pairs (Bouma 2009; Lau et al. 2014).

        log(p(u, v) / (p(u) p(v))) / −log p(u, v),   p = the share of the texts that hold the word, or both

    1: the two occur only together; 0: as if independent; −1: never together. X (n, m) are the texts to count in, by words, of
    any weighting: a word is in a text where its entry is positive.
    """
    words = top_features(components, top)
    entries = as_matrix(X)
    if entries.shape[1] != np.shape(components)[1]:
        raise DataError(f"The components have {np.shape(components)[1]} features and X has {entries.shape[1]}; "
                        "expected the same words in the same order.")  # fmt: skip
    used, places = np.unique(words, return_inverse=True)
    alone, pairs = occurrence(entries, used)
    return _mean_of_pairs(_npmi(alone, pairs), places.reshape(words.shape))


def tc_w2v(components: Any, vectors: Any, *, top: int = 10) -> Array:
    """(k,): the mean cosine of the `top` words' vectors over pairs (O'Callaghan et al. 2015).

    vectors : (m, d), one for each feature, as from word2vec; a row of zeros or NaN is a word without one, and leaves its pairs
    out. A component with fewer than two words that have vectors gets NaN.
    """
    words = top_features(components, top)
    V = np.asarray(vectors, np.float64)
    if V.ndim != 2 or len(V) != np.shape(components)[1]:
        raise DataError(
            f"vectors have shape {V.shape}; expected one row for each of {np.shape(components)[1]} features."
        )
    used, places = np.unique(words, return_inverse=True)
    lengths = np.linalg.norm(V[used], axis=1, keepdims=True)
    unit = V[used] / np.where(lengths > 0, lengths, np.nan)
    return _mean_of_pairs(unit @ unit.T, places.reshape(words.shape))


def _npmi(alone: Array, pairs: Array) -> Array:
    """(l, l), of l words."""
    met = pairs > 0
    always = pairs >= 1  # both in every text: log 1 / log 1, as close as words can be
    log_pairs = np.log(pairs, out=np.full_like(pairs, -1.0), where=met & ~always)
    log_alone = np.log(alone, out=np.zeros_like(alone), where=alone > 0)
    score = (log_pairs - log_alone[:, None] - log_alone) / -log_pairs
    return np.where(always, 1.0, np.where(met, score, -1.0))


def _mean_of_pairs(scores: Array, places: np.ndarray) -> Array:
    left, right = np.array(list(combinations(range(places.shape[1]), 2))).T
    found = scores[places[:, left], places[:, right]]
    known = ~np.isnan(found)
    count = known.sum(axis=1)
    total = np.where(known, found, 0.0).sum(axis=1)
    return np.divide(total, count, out=np.full(len(places), np.nan), where=count > 0)


def _components(components: Any, top: int) -> Array:
    H = np.asarray(components)
    if H.ndim != 2 or not np.isfinite(H).all():
        raise DataError(
            f"The components have shape {H.shape}; expected a finite array (k, m), one row for each component."
        )
    if isinstance(top, bool) or not isinstance(top, (int, np.integer)) or not 2 <= top <= H.shape[1]:
        raise OptionError(f"top={top!r}; expected a whole number from 2 to the number of features, {H.shape[1]}.")
    return H
