"""Numbers as people read them."""

from __future__ import annotations

import math


def count(number: int) -> str:
    """1797 → 1,797."""
    return f"{number:,}"


def shape(extents: tuple[int, ...]) -> str:
    """(1797, 64) → 1,797 × 64."""
    return " × ".join(count(extent) for extent in extents)


def counted(number: int, thing: str) -> str:
    """3, "file" → 3 files."""
    return f"{count(number)} {thing}{'' if number == 1 else 's'}"


def duration(seconds: float) -> str:
    """0.0123 → 12 ms; 75 → 1 min 15 s."""
    if seconds < 0.0995:
        return f"{seconds * 1e3:.2g} ms" if seconds < 0.00995 else f"{seconds * 1e3:.0f} ms"
    if seconds < 9.95:
        return f"{seconds:.2g} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    return f"{minutes} min {rest:02d} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"


def size(count_of_bytes: float) -> str:
    """1_500_000 → 1.5 MB."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if count_of_bytes < 999.5:
            return f"{count_of_bytes:.0f} {unit}" if unit == "bytes" else f"{count_of_bytes:.3g} {unit}"
        count_of_bytes /= 1000
    return f"{count_of_bytes:.3g} TB"


def ratio(number: float) -> str:
    """Four digits of an error or a loss; a dash where it is not known."""
    return "–" if math.isnan(number) else f"{number:.4g}"


def share(part: float) -> str:
    """0.0042 → 0.42 %."""
    return f"{100 * part:.3g} %"


def value_of(text: str) -> int | float | bool | str:
    """What was typed: a number, true, false, or a word."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
