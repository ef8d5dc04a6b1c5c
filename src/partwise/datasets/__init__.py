"""Named data sets: found under $PARTWISE_DATA, in the cache ($PARTWISE_CACHE), or fetched from their publishers by checksum.

None is shipped: each is fetched under its own terms, which `describe(name).terms` tells.
"""

from partwise.datasets.catalogue import available, describe, fetch, load, whereabouts
from partwise.datasets.record import Dataset, Origin

__all__ = ["Dataset", "Origin", "available", "describe", "fetch", "load", "whereabouts"]
