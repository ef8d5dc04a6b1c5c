"""Reading a matrix from a file; the suffix tells the format.

| suffix | X is | read |
|---|---|---|
| .npy | memory map, read-only | lazily |
| .npz | array, or CSR/CSC | in memory |
| .mtx, .mtx.gz | CSR, or array | in memory |
| .csv, .tsv, also .gz | float64 array | in memory |
| .parquet | array | in memory |
| .h5ad, .h5, .hdf5, .zarr, .zarr.zip | `LazyRows` where dense | lazily, by blocks of rows |
| the same | CSR/CSC where sparse | in memory |
| a directory of shards | memory map, or CSR | lazily; in memory |

What is read is checked for structure, not for values: those are the door's business. Nothing is ever unpickled.
"""

from partwise.data.readers.digests import digest
from partwise.data.readers.formats import FORMATS, Format, read
from partwise.data.readers.lazy import LazyRows
from partwise.data.readers.table import Table

__all__ = ["FORMATS", "Format", "LazyRows", "Table", "digest", "read"]
