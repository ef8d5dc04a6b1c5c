"""Every test that the threat model names is there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
NAMED = re.compile(r"`(test_\w+\.py)::(test_\w+)`")


def test_every_property_has_its_test():
    found = NAMED.findall((ROOT / "docs" / "secure_sum.md").read_text(encoding="utf-8"))
    assert len(found) > 30
    for file, name in found:
        assert f"def {name}(" in (ROOT / "tests" / "federated" / file).read_text(encoding="utf-8"), (
            f"{file} has no {name}"
        )
