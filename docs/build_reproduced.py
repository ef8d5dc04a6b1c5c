"""Write docs/reproduced.md from the stored results of `partwise reproduce`, which ship with partwise too.

python docs/build_reproduced.py               writes the page
python docs/build_reproduced.py reproduced/   stores new results first: the tables in docs/papers/results, the figures beside them
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from partwise.reports.figures import draw
from partwise.reports.quantities import counted, duration
from partwise.reports.results import is_results
from partwise.reports.run_directory import write_json
from partwise.reports.tables import Store, markdown
from partwise.reproduce.carrying_out import KIND, ROWS, RUNS, typed
from partwise.reproduce.experiment import Experiment, Finding, verdict
from partwise.reproduce.registry import PAPERS

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "reproduced.md"
RESULTS = ROOT / "docs" / "papers" / "results"  # in the wheel as partwise/stored
FIGURES = ROOT / "docs" / "papers" / "figures"
TABLES = (f"{ROWS}.csv", f"{RUNS}.csv", "table.csv", "manifest.json")

HEAD = """# The papers' figures and tables, made anew

Every figure and table that our machines and data allow, made by `partwise reproduce PAPER FIGURE` and judged by criteria that are
written down beside each experiment. This page is made from the stored results by `docs/build_reproduced.py`; no number of a
result was typed.

- **holds**: all criteria are met; **holds in part**: some; **does not hold here**: none.
- *quick* results are of smaller data and fewer runs (`--quick`, up to two minutes each on two cores), *full* ones of as much as the paper
  has, as far as data and machine allow. Which form is shown here is said at each.
- `partwise reproduce PAPER FIGURE --check` makes an experiment again and compares it with what is stored, within its tolerance; times are
  not compared.
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
    target = RESULTS / experiment.key
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    FIGURES.mkdir(parents=True, exist_ok=True)
    for name in TABLES:
        shutil.copy(folder / name, target / name)
    facts, rows, found = stored(experiment)
    judged = {"findings": [one._asdict() for one in found], "verdict": str(verdict(found))}
    write_json(target / "manifest.json", {**facts, **judged})  # by today's criteria
    if experiment.figure is not None:
        draw(experiment.figure(rows), FIGURES / experiment.key)


EXPERIMENTS = [experiment for paper in PAPERS.values() for experiment in paper.experiments]


def rendered() -> str:
    """The page."""
    return HEAD + "\n".join([*overview(), "", *(line for paper in PAPERS for line in chapter(paper))]) + "\n"


def overview() -> Iterator[str]:
    """One line each, also for experiments without a stored result."""
    yield "| paper | | what | here | form |\n|---|---|---|---|---|"
    for experiment in EXPERIMENTS:
        if is_stored(experiment):
            facts, _, found = stored(experiment)
            link = f"[{experiment.name}](#{experiment.key})"
            yield f"| {experiment.paper} | {link} | {experiment.title} | **{verdict(found)}** | {facts['size']} |"
        else:
            yield f"| {experiment.paper} | {experiment.name} | {experiment.title} | not stored: make it with `partwise reproduce` | |"


def chapter(name: str) -> Iterator[str]:
    """Of a paper."""
    yield f"## {PAPERS[name].reference}\n"
    for experiment in PAPERS[name].experiments:
        if is_stored(experiment):
            yield from section(experiment)


def section(experiment: Experiment) -> Iterator[str]:
    """Of a figure or table."""
    facts, rows, found = stored(experiment)
    yield f'<a id="{experiment.key}"></a>\n\n### {experiment.name}: {experiment.title}\n'
    yield f"*The paper:* {experiment.claim}\n"
    yield f"*Data:* {'; '.join(experiment.data)}.\n"
    yield f"**Here: {verdict(found)}.**" + (f" {experiment.reason}" if experiment.reason else "") + "\n"
    yield from (f"- {'yes' if one.met else '**no**'}: {one.criterion} *{one.seen}*" for one in found)
    yield ""
    if experiment.figure is not None:
        yield f"![{experiment.title}](papers/figures/{experiment.key}.png)\n"
    yield markdown(experiment.table(rows)) + "\n"
    made = facts["created"][:10]
    yield (
        f"<sub>{facts['size']} form, {counted(len(Store(RESULTS / experiment.key).rows(RUNS)), 'run')} in "
        f"{duration(facts['seconds'])} on {made}, with partwise {facts['versions']['partwise']}.</sub>\n"
    )


def is_stored(experiment: Experiment) -> bool:
    """Whether there is a result to show."""
    return is_results(RESULTS / experiment.key, KIND)


def stored(experiment: Experiment) -> tuple[dict[str, Any], list[dict[str, Any]], list[Finding]]:
    """(manifest, rows, what is to be said of them by today's criteria)."""
    folder = RESULTS / experiment.key
    rows = typed(Store(folder).rows(ROWS))
    return json.loads((folder / "manifest.json").read_text(encoding="utf-8")), rows, list(experiment.judge(rows))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
