"""What `partwise fit --epsilon` does: parts that may be published, the ledger of what they cost, and nothing else of the data."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.text import Text

from partwise.algorithms.private.query import Query
from partwise.cli import screen, sources, wishes
from partwise.errors import OptionError
from partwise.estimators.privately import (
    NOT_PRIVATE,
    PrivateFactorization,
    Wishes,
    factorize_private,
    prepare_private,
)
from partwise.kernels.threads import threads as limited
from partwise.privacy.checking import check
from partwise.privacy.ledger import FILE, Ledger
from partwise.privacy.statement import statement
from partwise.reports import machine
from partwise.reports.private_contents import outcome, write_private
from partwise.reports.quantities import counted, ratio
from partwise.reports.run_directory import claimed, publish


class Done(NamedTuple):
    """A private run that is whole."""

    source: sources.Source
    fit: PrivateFactorization
    target: Path


def fit(given: Mapping[str, Any]) -> None:
    """From the options, as they were typed, to a run directory and what is told of it."""
    target, quiet = Path(given["output"]), bool(given["quiet"])
    wished, console = _wishes(given), screen.to_stderr()
    with (
        screen.Notes(console),
        limited(given["threads"]) as used,
        claimed(target, force=given["force"]) as partial,
    ):
        source = sources.load(given["data"], given["key"], given["missing"], given["negative"], "float64")
        if not quiet:
            console.print(Text(f"{source.name}: {source.describe()}"), soft_wrap=True)
        facts = _manifest(source, wished, used)  # as it was before anything was released
        prepared = prepare_private(source.X, wished, given["ledger"] or partial / FILE)
        found = factorize_private(source.X, prepared, [] if quiet else [_watching(console)])
        write_private(partial, found, facts, source.table.feature_names)
        publish(partial, target, keep_checkpoint=False, replace=given["force"])
    done = Done(source, found, target)
    if given["json"]:
        tell_json(done)
    elif not quiet:
        tell(done)


def _wishes(given: Mapping[str, Any]) -> Wishes:
    norm = given["row_norm"]
    try:
        norm = norm if norm == "unit" else float(norm)
    except ValueError:
        raise OptionError(
            f"--row-norm {norm} is not known; expected 'unit', or a public number that rows are shortened to."
        ) from None
    return Wishes(
        n_components=given["k"], epsilon=given["epsilon"], delta=given["delta"], neighbours=given["neighbours"],
        n_records=given["records"], row_norm=norm, density=given["density"], method=given["solver"],
        options=wishes.solver_options(given["solver_option"]), publish_error=given["publish_error"],
        seed=given["seed"], insecure_seed=given["insecure_seed"], mechanism=given["mechanism"],
    )  # fmt: skip


def _manifest(source: sources.Source, wished: Wishes, threads: int) -> dict[str, Any]:
    """What may be published of the circumstances: no digest, no count of entries and no duration, which single records change."""
    return {
        "command": screen.typed(),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "seed": wished.seed,
        "settings": {"n_components": wished.n_components},
        "data": {"name": source.name, "format": source.table.format, "key": source.table.key, **source.options},
        "versions": machine.versions(),
        "machine": machine.machine() | {"blas": machine.blas(), "threads": threads},
    }


def _watching(console: Console):
    def watch(t: int, query: Query, ledger: Ledger) -> None:
        said = f"release {t}: {query.what}, {counted(query.entries, 'number')}; ε = {ledger.epsilon:.4g} spent"
        console.print(Text(said), soft_wrap=True)

    return watch


def tell(done: Done) -> None:
    """The promise and what it means, and how to check it."""
    fit, target = done.fit, screen.quoted(done.target)
    promised = [
        (name, line) for name, line in statement(check(fit.ledger.content)) if name in ("unit", "total", "meaning")
    ]
    rows = [("data", done.source.describe()), ("method", f"{fit.choice.name} ({fit.choice.why})"), *promised]
    if fit.leaks:
        rows.append(("WARNING", NOT_PRIVATE))
    if fit.error is not None:
        rows.append(("error", f"√mean ‖x − wH‖² = {ratio(fit.error)} of rows of length one, noisy"))
    rows += [("ledger", f"ends with {fit.ledger.head}: written down elsewhere, it proves that no line was cut off")]
    rows += [("results", f"{target}/ holds H, and no W: that tells of single records")]
    after = [f"partwise audit {target}", f"partwise apply {target} {screen.quoted(done.source.name)} -o W.npy"]
    screen.show(f"{done.source.name} in {counted(len(fit.H), 'part')}, privately", rows, after)


def tell_json(done: Done) -> None:
    """epsilon, delta, private, method, releases, ledger_head, run, …"""
    screen.show_json({**outcome(done.fit), "run": str(done.target)})
