"""`python -m benchmarks`: measure, store, tell."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path

from benchmarks import fits, kernels, page, tables
from benchmarks.methods import DEFAULT, METHODS
from benchmarks.store import Store, tidy
from benchmarks.workloads import QUICK, TOY, WORKLOADS
from partwise.reports.figures import can_draw

HERE = Path(__file__).parent


def main(arguments: list[str] | None = None) -> int:
    """What the command line asks for."""
    asked = parser().parse_args(arguments)
    store = Store(asked.out or HERE / ("results-quick" if asked.quick else "results"))
    if not (asked.docs or asked.show):
        code = measure(asked, store)
        if code:
            return code
    for name, table in (("fits", tables.fits), ("kernels", tables.parts)):
        if rows := store.rows(name):
            print(f"\n{name} ({store.folder}/{name}.csv)\n{tables.text(table(rows))}")
    if store.rows("curves") and can_draw():
        page.figure(store)
    if asked.docs:
        page.fill(HERE.parent / "docs" / "benchmarks.md", store)
    return 0


def parser() -> argparse.ArgumentParser:
    """The command line."""
    words = argparse.ArgumentParser("python -m benchmarks", description=__doc__)
    words.add_argument(
        "--quick", action="store_true", help="small problems, one thread, float64, one seed: two minutes"
    )
    words.add_argument(
        "--only", type=_words, help=f"of: {', '.join([w.name for w in WORKLOADS])}, kernels, {', '.join(kernels.PARTS)}"
    )
    words.add_argument("--methods", type=_words, default=DEFAULT, help=f"of: {', '.join(m.name for m in METHODS)}")
    words.add_argument("--k", type=_numbers, default=(), help="only these numbers of components")
    words.add_argument("--threads", type=_numbers, help="1,2")
    words.add_argument("--dtypes", type=_words, help="float64,float32")
    words.add_argument("--seeds", type=_numbers, help="0,1,2; peers but scikit-learn's cd take part in the first only")
    words.add_argument("--repeats", type=int, default=2, help="of every run, interleaved; the least time counts")
    words.add_argument("--limit", type=float, help="seconds of a run")
    words.add_argument(
        "--reference", type=float, help="seconds of each of the two long runs that find the best known error"
    )
    words.add_argument("--out", type=Path, help="folder of results: what it holds already is not measured again")
    words.add_argument("--fresh", action="store_true", help="forget what the folder holds")
    words.add_argument("--show", action="store_true", help="measure nothing: tables and figure of what is stored")
    words.add_argument(
        "--docs", action="store_true", help="measure nothing: fill docs/benchmarks.md with what is stored"
    )
    return words


def measure(asked: argparse.Namespace, store: Store) -> int:
    """Run what is asked for; 2 if that cannot be."""
    plan, parts = planned(asked)
    known = {*(w.name for w in (*WORKLOADS, *QUICK, TOY)), *(m.name for m in METHODS), "kernels", *kernels.PARTS}
    unknown = {*(asked.only or ()), *asked.methods} - known
    if unknown:
        print(f"Not known: {', '.join(sorted(unknown))}; see --help.", file=sys.stderr)
        return 2
    if asked.fresh:
        store.drop((*fits.TABLES, "kernels"))
    sizes = {"threads": plan.threads, "dtypes": plan.dtypes, "seeds": plan.seeds, "repeats": plan.repeats}
    if changed := store.sign({"arguments": shlex.join(sys.argv[1:]), **sizes}):
        print(
            f"{store.folder} was made with other {changed}; --fresh begins anew, --out goes elsewhere.", file=sys.stderr
        )
        return 2
    told = {(row["part"], row["threads"]) for row in store.rows("kernels")}
    for part in parts:
        for threads in plan.threads[:1] if part == "imports" else plan.threads:
            if (part, str(threads)) not in told:
                lines = list(kernels.run([part], threads, asked.quick))
                store.add("kernels", *lines)
                for line in lines:
                    print(*(tidy(line[name]) for name in ("what", "case", "ours", "unit", "ratio", "goal")), flush=True)
    fits.run(plan, store)
    return 0


def planned(asked: argparse.Namespace) -> tuple[fits.Plan, list[str]]:
    """The plan of the fits, and the micro-benchmarks."""
    among = QUICK if asked.quick else WORKLOADS
    workloads = tuple(w for w in (*among, TOY) if (w is not TOY if asked.only is None else w.name in asked.only))
    parts = [part for part in kernels.PARTS if asked.only is None or part in asked.only or "kernels" in asked.only]
    methods = tuple(m for m in METHODS if m.name in asked.methods)
    limit, reference = (1.2, 2.0) if asked.quick else (60.0, 60.0)
    dtypes, threads, seeds = (("float64",), (1,), (0,)) if asked.quick else (("float64", "float32"), (1, 2), (0, 1, 2))
    plan = fits.Plan(
        workloads, methods, asked.dtypes or dtypes, asked.threads or threads, asked.seeds or seeds, asked.k, asked.repeats,
        asked.limit or limit, asked.reference or reference,
    )  # fmt: skip
    return plan, parts


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(word) for word in _words(text))


if __name__ == "__main__":
    sys.exit(main())
