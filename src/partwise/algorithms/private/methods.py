"""The private methods by name: what `method=` and `--method` take, and the options of each."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from partwise.algorithms.private.iterated import Iterated
from partwise.algorithms.private.moments import WIDE, Moments
from partwise.algorithms.private.ppnmf import Ppnmf, PpnmfAsPublished
from partwise.algorithms.private.query import Knowledge, PrivateMethod
from partwise.algorithms.private.records import Outlying
from partwise.algorithms.single.methods import whole
from partwise.errors import OptionError

SHARP = (
    3e4  # n μ from which no w is clipped by "plain": a tight clip lessens noise, and weighs records by other than ‖w‖
)
SPARSE = 0.1  # of the entries: below, data counts as sparse


def moments(
    known: Knowledge, *, start_share: float = 0.1, first_share: float = 0.2, quantile: float = 0.25
) -> PrivateMethod:
    """Five releases, then NMF of simulated rows; `start_share` is for the mean, `quantile` of the records are not clipped."""
    return Moments(known, within(start_share, "start_share", 0, 0.9), within(first_share, "first_share", 0, 1),
                   within(quantile, "quantile", 0, 1))  # fmt: skip


def residual(
    known: Knowledge, *, rounds: int = 20, start_share: float = 0.1, w_clip: float = 0.5, forget: float = 0.3
) -> PrivateMethod:
    """Normal equations of residuals each round, `rounds` with the start; `w_clip` bounds ‖w‖, `forget` weighs the newest."""
    return Iterated(known, True, *_rounds(rounds, start_share), w_clip=within(w_clip, "w_clip", 0, 1.01),
                    forget=within(forget, "forget", 0, 1.01))  # fmt: skip


def plain(
    known: Knowledge, *, rounds: int = 10, start_share: float = 0.1, w_clip: float | str = "auto", forget: float = 0.3,
    threshold: float = 3.0,
) -> PrivateMethod:  # fmt: skip
    """Normal equations of the rows. `w_clip` bounds ‖w‖: tightly where noise rules ("auto": by n and the budget).

    Entries of B below `threshold` standard deviations of their noise count as zero.
    """
    if isinstance(threshold, bool) or not isinstance(threshold, (int, float)) or not 0 <= threshold < 100:
        raise OptionError(f"threshold={threshold!r}; expected a number ≥ 0.")
    clip = min(1.0, max(0.1, known.n * known.mu / SHARP)) if w_clip == "auto" else within(w_clip, "w_clip", 0, 1.01)
    return Iterated(known, False, *_rounds(rounds, start_share), w_clip=clip,
                    forget=within(forget, "forget", 0, 1.01), threshold=float(threshold))  # fmt: skip


def ppnmf(
    known: Knowledge, *, rounds: int = 100, step: float = 1.0, steps: int = 1, outlier_penalty: float | None = None,
    outlier_bound: float = 1.0,
) -> PrivateMethod:  # fmt: skip
    """Saha & Imtiaz, repaired; `outlier_penalty` (of rows of length one) lets entries be outliers, None none."""
    return Ppnmf(known, *_gradient(rounds, step, steps), _outlying(outlier_penalty, outlier_bound))


def ppnmf_as_published(
    known: Knowledge, *, rounds: int = 100, step: float = 1.0, steps: int = 1, outlier_penalty: float | None = None,
    outlier_bound: float = 1.0, start: Any = "random",
) -> PrivateMethod:  # fmt: skip
    """Saha & Imtiaz, Algorithm 2, to compare with; start="nndsvd" is theirs, and is not private."""
    H = None if isinstance(start, str) else start
    if isinstance(start, str) and start != "random":
        raise OptionError(f"start={start!r}; expected 'random', or 'nndsvd' where one curator holds the data.")
    return PpnmfAsPublished(known, *_gradient(rounds, step, steps), _outlying(outlier_penalty, outlier_bound), H)


def _gradient(rounds: Any, step: Any, steps: Any) -> tuple[int, float, int]:
    return _rounds(rounds, 0)[0], within(step, "step", 0, 1e6), whole(steps, "steps")


def _outlying(penalty: Any, bound: Any) -> Outlying | None:
    if penalty is None:
        return None
    return Outlying(within(penalty, "outlier_penalty", 0, 1e6), within(bound, "outlier_bound", 0, 1e6))


def _rounds(rounds: Any, start_share: Any) -> tuple[int, float]:
    if isinstance(rounds, bool) or not isinstance(rounds, int) or rounds < 1:
        raise OptionError(f"rounds={rounds!r}; expected a positive whole number, which must not depend on the data. A run of "
                          "no rounds publishes nothing.")  # fmt: skip
    if start_share == 0:
        return rounds, 0.0
    if rounds == 1:
        raise OptionError("rounds=1 leaves none beside the start; give start_share=0, or more rounds.")
    return rounds, within(start_share, "start_share", 0, 1)


METHODS: Mapping[str, Callable[..., PrivateMethod]] = {
    "moments": moments, "residual": residual, "plain": plain,
    "ppnmf": ppnmf, "ppnmf-as-published": ppnmf_as_published,
}  # fmt: skip


class Choice(NamedTuple):
    """A method's name and why it was picked."""

    name: str
    why: str


def choose(known: Knowledge, *, sparse: bool, why: str) -> Choice:
    """By the number of features, and by sparsity, where that is public: the data itself is not looked at."""
    if known.m <= WIDE:
        return Choice("moments", f"{known.m} features: few enough for a second moment of them all")
    if sparse:
        return Choice("moments", f"{known.m} features, and sparse ({why}): the second moment of those that occur most")
    return Choice("residual", f"{known.m} features, and dense ({why}): too many for a second moment")


def method(name: str, known: Knowledge, options: Mapping[str, Any]) -> PrivateMethod:
    """The named method, or the sentence why not."""
    if name not in METHODS:
        raise OptionError(f"method={name!r} is not known; expected one of: auto, {', '.join(METHODS)}.")
    build = METHODS[name]
    can = [p.name for p in inspect.signature(build).parameters.values() if p.kind is p.KEYWORD_ONLY]
    unknown = sorted(set(options) - set(can))
    if unknown:
        raise OptionError(f"method={name!r} does not know {', '.join(unknown)}; its options are: {', '.join(can)}.")
    return build(known, **options)


def within(value: Any, name: str, low: float, high: float) -> float:
    """A number strictly between, or a sentence."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not low < value < high:
        raise OptionError(f"{name}={value!r}; expected a number between {low} and {high}.")
    return float(value)
