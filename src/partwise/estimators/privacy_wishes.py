"""What may be wished of the privacy of a study between parties: `FederatedNMF(privacy=…)` and `[privacy]` of a study.toml."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, final

from partwise.algorithms.federated.noised import Noised
from partwise.algorithms.federated.private_methods import Asked, Promised, private_round
from partwise.errors import OptionError
from partwise.privacy.accountant import NEIGHBOURS, Budget
from partwise.privacy.sharing import NoiseShares

UNITS = ("record", "party")


@final
@dataclass(frozen=True)
class Privacy:
    """An (ε, δ) promise for a whole study."""

    epsilon: float
    delta: float
    unit: str = "record"  # or "party": all of a party's data together
    neighbours: str = "replace"  # or "add-remove"
    secure_sum: bool = True  # False: each party adds all of the noise itself, at a cost of √P
    dropouts: int | None = None  # parties that may vanish in a round; None: a tenth of them
    colluders: int = 1  # parties that may tell the server what they know
    n_records: int | None = None  # public; for "add-remove"
    row_norm: float | str = "unit"
    density: float | None = None  # of the entries, as publicly known
    statistics: str = "auto"  # of method "exact": moments, residual, plain, ppnmf, ppnmf-as-published
    clip: float = 0.1  # of a party's update, as a share of ‖H‖: for unit "party" and methods that average
    insecure_seed: int | None = None  # noise that can be repeated, for tests

    def __post_init__(self) -> None:
        if self.unit not in UNITS:
            raise OptionError(f"unit={self.unit!r}; expected 'record' (one row) or 'party' (all rows of a party).")
        if self.neighbours not in NEIGHBOURS:
            raise OptionError(f"neighbours={self.neighbours!r}; expected one of: {', '.join(NEIGHBOURS)}.")
        for name in ("epsilon", "delta"):
            _check_number(name, getattr(self, name))
        if not isinstance(self.secure_sum, bool):
            raise OptionError(f"secure_sum={self.secure_sum!r}; expected true or false.")
        if self.row_norm != "unit":
            _check_number("row_norm", self.row_norm)
            if not 0 < float(self.row_norm) < float("inf"):
                raise OptionError(f"row_norm={self.row_norm!r}; without a bound on its length one record could change the result without "
                                  "limit. Give 'unit' or a public number.")  # fmt: skip
        if self.density is not None and not 0 < self.density <= 1:
            raise OptionError(
                f"density={self.density!r}; expected the share of entries that are not zero, as publicly known."
            )

    @classmethod
    def of(cls, given: Privacy | Mapping[str, Any] | None) -> Privacy | None:
        """From a mapping, such as a section of a file."""
        if given is None or isinstance(given, cls):
            return given
        if not isinstance(given, Mapping):
            raise OptionError(f"privacy={given!r}; expected a mapping with epsilon and delta at least.")
        can = [field.name for field in fields(cls)]
        unknown, missing = sorted(set(given) - set(can)), [name for name in can[:2] if name not in given]
        if unknown:
            raise OptionError(f"privacy does not know {', '.join(map(str, unknown))}; it knows: {', '.join(can)}.")
        if missing:
            raise OptionError(f"privacy lacks {' and '.join(missing)}: a promise is ε and δ, such as 1.0 and 1e-5.")
        return cls(**given)

    def shares(self, parties: int) -> NoiseShares:
        """Who adds the noise."""
        dropouts = parties // 10 if self.dropouts is None else self.dropouts
        return NoiseShares(parties, self.secure_sum, dropouts if self.secure_sum else 0, self.colluders)

    def round_method(self, asked: Asked) -> Noised:
        """The private method."""
        shares, norm = self.shares(len(asked.sizes)), None if self.row_norm == "unit" else float(self.row_norm)
        promised = Promised(
            Budget(self.epsilon, self.delta), self.unit, self.neighbours, shares,  # type: ignore[arg-type]
            self.n_records, norm, self.density, self.insecure_seed,
        )  # fmt: skip
        return private_round(asked, self.statistics, self.clip, promised)


def _check_number(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise OptionError(f"{name}={value!r}; expected a number.")
