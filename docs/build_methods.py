"""Write docs/methods/*.md from tests/printed: what a paper prints beside what we do, both as the tests run them.

python docs/build_methods.py          writes the pages
"""

from __future__ import annotations

import importlib
import inspect
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PAGES = ROOT / "docs" / "methods"
WHERE = {
    "one machine": "For one machine",
    "cluster": "For a cluster",
    "parties": "Between parties",
    "private": "Private",
}


def main() -> None:
    """Write every page."""
    PAGES.mkdir(exist_ok=True)
    for name, text in rendered().items():
        (PAGES / name).write_text(text)


def rendered() -> dict[str, str]:
    """{file name: text} of every page, and of the index."""
    pages = sorted(_pages(), key=lambda page: page[0].solver)
    texts = {f"{page.solver}.md": _page(page, source) for page, source in pages}
    return {**texts, "index.md": "# Methods\n" + "".join(_index(where, pages) for where in WHERE)}


def _index(where: str, pages: list[tuple[Any, str]]) -> str:
    here = [page for page, _ in pages if page.where == where]
    rows = "".join(f"| [{page.title}]({page.solver}.md) | {page.good_for} |\n" for page in here)
    return f"\n## {WHERE[where]}\n\n| method | good for |\n|---|---|\n{rows}" if here else ""


def _pages() -> Iterator[tuple[Any, str]]:
    """The `Page`s in tests/printed, each with the file that it is in."""
    if str(ROOT / "tests") not in sys.path:
        sys.path.insert(0, str(ROOT / "tests"))
    from printed.page import Page

    for path in sorted((ROOT / "tests" / "printed").glob("test_*.py")):
        module = importlib.import_module(f"printed.{path.stem}")
        yield from ((value, path.name) for value in vars(module).values() if isinstance(value, Page))


def _page(page: Any, source: str) -> str:
    table = "".join(f"| {paper} | {here} | {held} |\n" for paper, here, held in page.table)
    differences = "".join(f"- {difference}\n" for difference in page.differences) or "None.\n"
    return (
        f"# {page.title}\n\n{page.reference}\n\n**Good for.** {page.good_for}\n\n**Cost per iteration.** {page.cost}\n\n"
        f"| paper | here | held by |\n|---|---|---|\n{table}\n"
        f"## Where we differ\n\n{differences}\n"
        f"## As printed\n\nA literal transcription, in the paper's letters and orientation. `tests/printed/{source}` holds ours to it "
        f"over 20 iterations, to rounding.\n\n{_code(page.printed)}\n"
        f"## Here\n\n[One notation](../notation.md) for all methods.\n\n{_code(page.ours)}"
    )


def _code(objects: tuple[Any, ...]) -> str:
    return "\n".join(f"```python\n{_source(item)}```\n" for item in objects)


def _source(item: Any) -> str:
    lead = inspect.getcomments(item) if inspect.isfunction(item) else None
    return (lead or "") + textwrap.dedent(inspect.getsource(item))


if __name__ == "__main__":
    main()
