"""A table of a TOML file: values are taken out by name and kind, and what is left over in the end is refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, final

from partwise.errors import OptionError

REQUIRED: Any = object()


@final
class Table:
    """One table, and what it is called in errors."""

    def __init__(self, where: str, content: Mapping[str, Any]) -> None:
        self.where, self._left, self._taken = where, dict(content), list[str]()

    def __contains__(self, name: str) -> bool:
        return name in self._left

    def left(self) -> list[str]:
        """What nobody has asked for yet."""
        return list(self._left)

    def pop(self, name: str, default: Any = None) -> Any:
        """The value as it is."""
        self._taken.append(name)
        return self._left.pop(name, default)

    def text(self, name: str, default: Any = REQUIRED) -> Any:
        """A string."""
        return self._take(name, default, "text in quotes", lambda value: isinstance(value, str) and value != "")

    def whole(self, name: str, default: Any = REQUIRED) -> Any:
        """A whole number ≥ 0."""
        fits = lambda value: isinstance(value, int) and not isinstance(value, bool) and value >= 0  # noqa: E731
        return self._take(name, default, "a whole number, without quotes", fits)

    def number(self, name: str, default: float) -> float:
        """Any number."""
        fits = lambda value: isinstance(value, (int, float)) and not isinstance(value, bool)  # noqa: E731
        return self._take(name, default, "a number, without quotes", fits)

    def choice(self, name: str, among: Sequence[str], default: str | None) -> str | None:
        """One of some words."""
        return self._take(name, default, " or ".join(f'"{word}"' for word in among), lambda value: value in among)

    def table(self, name: str) -> Table:
        """A table inside; empty if it is not there."""
        value = self._take(name, {}, f"a table, as in [{name}]", lambda value: isinstance(value, dict))
        return Table(f"{self.where}, [{name}]", value)

    def tables(self, name: str) -> list[Table]:
        """An array of tables."""
        fits = lambda value: isinstance(value, list) and all(isinstance(one, dict) for one in value)  # noqa: E731
        value = self._take(name, [], f"tables, each begun by [[{name}]]", fits)
        return [Table(f"{self.where}, [[{name}]] {number}", one) for number, one in enumerate(value, start=1)]

    def refuse_rest(self, expected: str, also: Sequence[str] = ()) -> None:
        """What is left over is a mistake."""
        for name in self._left:
            close = get_close_matches(name, [*self._taken, *also], 1)
            hint = f" Did you mean {close[0]}?" if close else ""
            raise OptionError(f"{self.where}: {name} is not known.{hint} Known: {expected}.")

    def _take(self, name: str, default: Any, expected: str, fits: Any) -> Any:
        self._taken.append(name)
        if name not in self._left:
            if default is REQUIRED:
                raise OptionError(f"{self.where} does not say {name}; expected {expected}.")
            return default
        value = self._left.pop(name)
        if not fits(value):
            raise OptionError(f"{self.where}: {name} = {value!r}; expected {expected}.")
        return value
