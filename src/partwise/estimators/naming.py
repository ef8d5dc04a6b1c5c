"""Parties by their names. Methods, drivers and transports know them by number; a user is told what the study calls them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from partwise.errors import PartwiseError

NUMBERED = re.compile(r"\b(party|parties) (\d+(?:, \d+)*(?: and \d+(?! more))?)\b", re.IGNORECASE)


def named(sentence: str, names: Sequence[str] | None) -> str:
    """The sentence with names for numbers: "party 3" becomes "party north", or "party-3" if that is its name."""
    if names is None:
        return sentence

    def by_name(found: re.Match[str]) -> str:
        numbers = [int(number) for number in re.findall(r"\d+", found[2])]
        if max(numbers) >= len(names):
            return found[0]
        listed = re.sub(r"\d+", lambda number: names[int(number[0])], found[2])
        alone = all(names[number].lower().startswith("party") for number in numbers)
        return listed if alone else f"{found[1]} {listed}"

    return NUMBERED.sub(by_name, sentence)


@contextmanager
def by_name(names: Sequence[str] | None) -> Iterator[None]:
    """What is refused here is refused with the parties' names."""
    try:
        yield
    except PartwiseError as error:
        error.args = (named(str(error), names),)
        raise
