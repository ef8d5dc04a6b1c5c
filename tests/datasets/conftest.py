"""Where the local data sets are."""

import os
from pathlib import Path

import pytest

FOLDER = os.environ.get("PARTWISE_DATA")


@pytest.fixture
def local_data() -> Path:
    if not FOLDER:
        pytest.skip("PARTWISE_DATA names no directory with the local data sets")
    return Path(FOLDER)
