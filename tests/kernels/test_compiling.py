"""The word to the user, and views that keep compilations few."""

import os
import subprocess
import sys

import numpy as np
import pytest

from partwise.kernels.compiling import kernel, sealed

CALL = "import numpy as np; from partwise.kernels.sums import sq64; sq64(np.ones(3, np.float32)); sq64(np.ones(3))"


def test_compilation_is_announced_once_and_only_when_it_happens(tmp_path):
    def messages():
        done = subprocess.run(
            [sys.executable, "-c", CALL],
            check=True,
            capture_output=True,
            text=True,
            env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)},
        )
        return done.stderr.count("compiling its kernels")

    assert messages() == 1
    assert messages() == 0


def test_sealed_is_a_view_that_cannot_be_written():
    A = np.zeros(3)
    view = sealed(A)
    assert np.shares_memory(A, view)
    assert A.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        view[0] = 1


def test_a_kernel_works_where_nothing_can_be_cached():
    namespace = {}
    exec("def twice(x):\n    return 2 * x", namespace)  # a function without a file
    assert kernel(namespace["twice"])(3) == 6
