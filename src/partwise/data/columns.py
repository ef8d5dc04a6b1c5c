"""Some columns of a matrix, in a wanted order."""

from __future__ import annotations

from typing import Any, final

import numpy as np
from numpy.typing import NDArray


def picked(X: Any, places: NDArray[np.intp]) -> Any:
    """(n, len(places)): in memory where X is, else read from disk by blocks of rows."""
    if hasattr(X, "indptr") or (isinstance(X, np.ndarray) and not isinstance(X, np.memmap)):
        return X[:, places]
    return Picked(X, places)


@final
class Picked:
    """Some columns of a matrix that stays on disk, read by blocks of rows."""

    ndim = 2

    def __init__(self, source: Any, places: NDArray[np.intp]) -> None:
        self._source, self._places = source, places
        self.shape, self.dtype = (source.shape[0], len(places)), source.dtype

    def __getitem__(self, rows: Any) -> NDArray[Any]:
        """The rows asked for, in memory."""
        return np.asarray(self._source[rows])[:, self._places]
