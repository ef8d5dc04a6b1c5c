"""docs/methods is what docs/build_methods.py makes of these files, and no method is left out."""

import importlib.util
from pathlib import Path

from partwise.algorithms.distributed.methods import METHODS
from partwise.algorithms.private.methods import METHODS as PRIVATE
from partwise.algorithms.single.methods import SOLVERS

ROOT = Path(__file__).resolve().parents[2]


def build_methods():
    spec = importlib.util.spec_from_file_location("build_methods", ROOT / "docs" / "build_methods.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_pages_are_up_to_date():
    rendered = build_methods().rendered()
    written = {path.name: path.read_text() for path in (ROOT / "docs" / "methods").glob("*.md")}
    stale = sorted(name for name in {*rendered, *written} if rendered.get(name) != written.get(name))
    assert not stale, f"docs/methods: {', '.join(stale)} differ from the source; run: python docs/build_methods.py"


def test_every_solver_has_a_page():
    assert {f"{solver}.md" for solver in SOLVERS} <= set(build_methods().rendered())


def test_every_method_for_a_cluster_has_a_page():
    """HPC-ANLS has one for all its updates."""
    pages = {name.removesuffix(".md") for name in build_methods().rendered()}
    assert {name for name in METHODS if name not in pages and not name.startswith("hpc-anls-")} == set()
    assert "hpc-anls" in pages


def test_every_private_method_has_a_page():
    """PPNMF has one for both its forms."""
    pages = {name.removesuffix(".md") for name in build_methods().rendered()}
    assert set(PRIVATE) - pages == {"ppnmf-as-published"}
