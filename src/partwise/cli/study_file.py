"""study.toml: who takes part, by which method, for how long. One file for a simulation and for a study between organisations."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, final

from partwise.algorithms.federated.methods import METHODS, options_of
from partwise.cli.toml_table import Table
from partwise.errors import DataError, OptionError
from partwise.estimators.privacy_wishes import Privacy
from partwise.estimators.study_wishes import Wishes

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
EXPECTED_NAME = "letters, digits, '.', '_' and '-', 64 at most, as it names files"


@final
@dataclass(frozen=True)
class Party:
    """One organisation, and where its data lie there."""

    name: str
    data: str
    key: str | None


@final
@dataclass(frozen=True)
class Split:
    """One matrix whose rows are dealt out to simulated parties."""

    data: str
    key: str | None
    parties: int
    partition: str
    labels: str | None  # an array of the file, or a file


@final
@dataclass(frozen=True)
class StudyFile:
    """What the file says, checked as far as it can be without the data."""

    path: Path
    name: str
    wishes: Wishes
    parties: tuple[Party, ...]  # or
    split: Split | None
    dtype: str | None
    negative: str

    def beside(self, named: str) -> Path:
        """A path of the file: relative ones are meant from where the file lies."""
        return self.path.parent / named

    def facts(self) -> dict[str, Any]:
        """For the manifest: everything that was asked, defaults among it."""
        wishes = {field.name: getattr(self.wishes, field.name) for field in fields(self.wishes)}
        if self.wishes.privacy is not None:
            wishes["privacy"] = asdict(self.wishes.privacy)
        return {"study": self.name, **wishes, "dtype": self.dtype, "negative": self.negative}


def read_study(path: Path) -> StudyFile:
    """Read and check; what is not understood is refused, never ignored."""
    top = Table(str(path), _toml(path))
    name, method = _named(top.text("study"), top, "study"), top.text("method", "exact")
    people = [_party(table) for table in top.tables("party")]
    simulate = top.table("simulate")
    secure_sum, promise = _privacy(top.table("privacy"))
    dtype, negative = (
        top.choice("dtype", ("float32", "float64"), None),
        top.choice("negative", ("error", "clip"), "error"),
    )
    shared = {
        "n_components": top.whole("n_components"), "rounds": top.whole("rounds", None), "tol": top.number("tol", 0.0 if promise else 1e-5),
        "seed": top.whole("seed", 0), "measure_every": top.whole("measure_every", 1),
    }  # fmt: skip
    simulated = {"speeds": simulate.text("speeds", "equal"), "dropout": simulate.number("dropout", 0.0)}
    split = _split(simulate, people, path)
    options = _options(top, method)
    wishes = Wishes(method=method, secure_sum=secure_sum, privacy=promise, options=options, **shared, **simulated)
    return StudyFile(path, name, wishes, tuple(people), split, dtype, negative or "error")


def _toml(path: Path) -> Mapping[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, IsADirectoryError):
        raise DataError(f"There is no file {path} (looked from {Path.cwd()}). Expected a study.toml; `partwise federate simulate --help` "
                        "shows one.") from None  # fmt: skip
    except OSError as error:
        raise DataError(f"{path} cannot be opened: {error.strerror}. Check its permissions.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise OptionError(f'{path} is no TOML: {error}. Text stands in quotes, as in method = "exact".') from None


def _named(value: str, table: Table, key: str) -> str:
    if not NAME.fullmatch(value):
        raise OptionError(f"{table.where}: {key} = {value!r}; expected {EXPECTED_NAME}.")
    return value


def _party(table: Table) -> Party:
    party = Party(_named(table.text("name"), table, "name"), table.text("data"), table.text("key", None))
    table.refuse_rest("a party has name, data and key")
    return party


def _split(table: Table, people: list[Party], path: Path) -> Split | None:
    """[simulate] deals out one matrix, or only says how parties with data of their own behave."""
    split = None
    if people:
        twice = {party.name for party in people if [one.name.lower() for one in people].count(party.name.lower()) > 1}
        if twice:
            raise OptionError(
                f"{path}: two parties are called {', '.join(sorted(twice))}. Give each a name of its own."
            )
        if "data" in table:
            raise OptionError(
                f"{path} has [[party]] with data of their own, and [simulate] with data to deal out: leave one of them out."
            )
    else:
        if "data" not in table:
            raise OptionError(f"{path} names no data: give each party its [[party]] with name and data, or [simulate] data, parties and "
                              "partition.")  # fmt: skip
        split = Split(
            table.text("data"), table.text("key", None), table.whole("parties"), table.text("partition", "iid"),
            table.text("labels", None),
        )  # fmt: skip
    more = "" if people else "data, key, parties, partition, labels, "
    table.refuse_rest(f"[simulate] {'beside [[party]] ' if people else ''}has {more}speeds and dropout")
    return split


def _privacy(table: Table) -> tuple[bool | str, Privacy | None]:
    """(whether sums are secure, the promise): with ε and δ the section is a promise, without them secure_sum alone."""
    if "epsilon" not in table and "delta" not in table:
        secure_sum = table.pop("secure_sum") if "secure_sum" in table else False
        table.refuse_rest("[privacy] has secure_sum; or epsilon, delta and what belongs to them")
        return secure_sum, None
    return False, Privacy.of({name: table.pop(name) for name in table.left()})


def _options(top: Table, method: str) -> dict[str, Any]:
    """What is left over at the top are options of the method."""
    if method not in METHODS:
        raise OptionError(f"{top.where}: method = {method!r} is not known; expected one of: {', '.join(METHODS)}.")
    known = options_of(method)
    options = {name: top.pop(name) for name in known if name in top}
    others = {name: [other for other in METHODS if name in options_of(other)] for name in top.left()}
    for name, methods in others.items():
        if methods:
            raise OptionError(f"{top.where}: {name} is an option of {', '.join(methods)}; method = {method!r} has "
                              f"{', '.join(known) or 'none'}.")  # fmt: skip
    top.refuse_rest("beside study, n_components, method, rounds, tol, seed, measure_every, dtype, negative, [[party]], [simulate] and "
                    f"[privacy], method = {method!r} has {', '.join(known) or 'no options'}", also=known)  # fmt: skip
    return options
