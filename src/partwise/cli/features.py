"""The features that a run was fitted on, found again in new data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from partwise.data.columns import picked
from partwise.data.readers import Table
from partwise.errors import DataError

SHOWN = 10  # names in an error, at most


class Features(NamedTuple):
    """How many, and their names where the run has them."""

    width: int
    names: Sequence[str] | None

    def of(self, table: Table) -> Any:
        """The columns of a table that are these features, in this order; by name where both have names."""
        theirs = table.feature_names
        if self.names is None or theirs is None or tuple(self.names) == tuple(theirs):
            if table.shape[1] != self.width:
                raise DataError(f"{table.path} has {table.shape[1]} features; the run was fitted on {self.width}. "
                                "Give the same features in the same order.")  # fmt: skip
            return table.X
        return picked(table.X, self._places(table))

    def _places(self, table: Table) -> np.ndarray:
        assert self.names is not None
        assert table.feature_names is not None
        where = {name: at for at, name in enumerate(table.feature_names)}
        absent = [name for name in self.names if name not in where]
        if absent:
            listed = ", ".join(absent[:SHOWN]) + (", …" if len(absent) > SHOWN else "")
            raise DataError(f"{table.path} lacks {len(absent)} of the {self.width} features that the run was fitted on: {listed}. "
                            "Add them (as zeros, if that is what their absence means).")  # fmt: skip
        if len(where) < len(table.feature_names) or len(set(self.names)) < len(self.names):
            raise DataError(f"Features cannot be matched by name: some names stand twice in {table.path} or in the run. "
                            "Give the same features in the same order.")  # fmt: skip
        return np.array([where[name] for name in self.names])
