"""Write docs/reproduced.md from the stored results of `partwise reproduce`, which ship with partwise too.

python docs/build_reproduced.py               writes the page
python docs/build_reproduced.py reproduced/   stores new results first: the tables in docs/papers/results/full or quick, as they are
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from partwise.reports.figures import draw
from partwise.reports.quantities import counted, duration
from partwise.reports.results import is_results
from partwise.reports.run_directory import write_json
from partwise.reports.tables import Store, markdown
from partwise.reproduce.carrying_out import KIND, ROWS, RUNS
from partwise.reproduce.experiment import Experiment, Finding, Size, Verdict, verdict
from partwise.reproduce.registry import PAPERS
from partwise.reproduce.stored import is_stored, shipped, stored

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "reproduced.md"
RESULTS = ROOT / "docs" / "papers" / "results"  # in the wheel as partwise/stored
FIGURES = ROOT / "docs" / "papers" / "figures"  # of the form that the page shows
TABLES = (f"{ROWS}.csv", f"{RUNS}.csv", "table.csv", "manifest.json")
FORMS = (Size.FULL, Size.QUICK)  # the page shows the first that is stored

HEAD = """# The papers' figures and tables, made anew

Every figure and table that our machines and data allow, made by `partwise reproduce PAPER FIGURE` and judged by criteria that are
written down beside each experiment. This page is made from the stored results by `docs/build_reproduced.py`; no number of a
result was typed.

- **holds**: all criteria are met; **holds in part**: some; **does not hold here**: none.
- The *full* form has as much as the paper, as far as data and machine allow; what had to be scaled down is said at each. The *quick*
  one (`--quick`) is of smaller data and fewer runs. The page shows the full form where it is stored, and says what the quick one finds
  otherwise.
- `partwise reproduce PAPER FIGURE --check` makes an experiment again and compares it with what is stored in this form, within its
  tolerance; times are not compared. `--check --quick` does so with the quick form.
- Data that cannot be had are replaced by stand-ins, which are named with each experiment.
- Times are processor time of one thread; where several nodes or parties would work side by side, they are modelled as each says.

"""


def main(fresh: Path | None) -> None:
    """Store, if there is something new; then write."""
    if fresh is not None:
        for experiment in EXPERIMENTS:
            if is_results(fresh / experiment.key, KIND):
                keep(fresh / experiment.key, experiment)
    PAGE.write_text(rendered(), encoding="utf-8")


def keep(folder: Path, experiment: Experiment) -> None:
    """The tables to ship, the picture to show."""
    size = Size(json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["size"])
    target = RESULTS / size / experiment.key
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    FIGURES.mkdir(parents=True, exist_ok=True)
    for name in TABLES:
        shutil.copy(folder / name, target / name)
    facts, rows = stored(experiment, size)
    found = findings(experiment, size)
    judged = {"findings": [one._asdict() for one in found], "verdict": str(verdict(found))}
    write_json(target / "manifest.json", {**facts, **judged})  # by today's criteria
    if experiment.figure is not None and size is shown(experiment):
        draw(experiment.figure(rows), FIGURES / experiment.key)


EXPERIMENTS = [experiment for paper in PAPERS.values() for experiment in paper.experiments]


def shown(experiment: Experiment) -> Size | None:
    """The form that the page shows."""
    return next((size for size in FORMS if is_stored(experiment, size)), None)


def findings(experiment: Experiment, size: Size) -> list[Finding]:
    """What is to be said of stored rows by today's criteria."""
    return list(experiment.judge(stored(experiment, size)[1]))


def rendered() -> str:
    """The page."""
    return HEAD + "\n".join([*overview(), "", *(line for paper in PAPERS for line in chapter(paper))]) + "\n"


def overview() -> Iterator[str]:
    """One line each, also for experiments without a stored result."""
    yield "| paper | | what | full form | quick form |\n|---|---|---|---|---|"
    for experiment in EXPERIMENTS:
        said = " | ".join(_in_short(experiment, size) for size in FORMS)
        yield f"| {experiment.paper} | [{experiment.name}](#{experiment.key}) | {experiment.title} | {said} |"
    yield ""
    yield " ".join(f"{_count(size)}." for size in FORMS)


def _in_short(experiment: Experiment, size: Size) -> str:
    if not is_stored(experiment, size):
        return "not stored"
    said = str(verdict(findings(experiment, size)))
    return f"**{said}**" if size is shown(experiment) else said


def _count(size: Size) -> str:
    """How often a claim holds, holds in part, does not."""
    given = [verdict(findings(experiment, size)) for experiment in EXPERIMENTS if is_stored(experiment, size)]
    return f"Of {len(given)} in the {size} form, " + ", ".join(f"{given.count(one)} {_many(one)}" for one in Verdict)


def _many(one: Verdict) -> str:
    return {Verdict.HOLDS: "hold", Verdict.PART: "hold in part", Verdict.NOT: "do not hold here"}[one]


def chapter(name: str) -> Iterator[str]:
    """Of a paper."""
    yield f"## {PAPERS[name].reference}\n"
    for experiment in PAPERS[name].experiments:
        size = shown(experiment)
        if size is not None:
            yield from section(experiment, size)


def section(experiment: Experiment, size: Size) -> Iterator[str]:
    """Of a figure or table."""
    rows, found = stored(experiment, size)[1], findings(experiment, size)
    yield f'<a id="{experiment.key}"></a>\n\n### {experiment.name}: {experiment.title}\n'
    yield f"*The paper:* {experiment.claim}\n"
    yield f"*Data:* {'; '.join(experiment.data)}.\n"
    yield f"**Here: {verdict(found)}.** {experiment.because(rows)}".rstrip() + "\n"
    yield from (f"- {'yes' if one.met else '**no**'}: {one.criterion} *{one.seen}*" for one in found)
    yield ""
    if size is Size.FULL and is_stored(experiment, Size.QUICK):
        yield otherwise(found, findings(experiment, Size.QUICK)) + "\n"
    if experiment.figure is not None:
        yield f"![{experiment.title}](papers/figures/{experiment.key}.png)\n"
    yield markdown(experiment.table(rows)) + "\n"
    yield f"<sub>{'; '.join(made(experiment, one) for one in FORMS if is_stored(experiment, one))}.</sub>\n"


def otherwise(full: list[Finding], quick: list[Finding]) -> str:
    """What the quick form finds where it differs."""
    differs = [one for one, other in zip(quick, full, strict=True) if one.met != other.met]
    if not differs:
        return "The quick form finds the same."
    said = "; ".join(f"{'yes' if one.met else '**no**'}: {one.criterion} *{one.seen}*" for one in differs)
    return f"The quick form finds that the claim {verdict(quick)}: {said}"


def made(experiment: Experiment, size: Size) -> str:
    """When, with what, in which time."""
    facts = stored(experiment, size)[0]
    runs = counted(len(Store(shipped(size) / experiment.key).rows(RUNS)), "run")
    return (
        f"{size} form: {runs}, {duration(facts['seconds'])} of one core, on {facts['created'][:10]} with partwise "
        f"{facts['versions']['partwise']}"
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
