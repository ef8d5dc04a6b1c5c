"""Methods for a cluster of trusted nodes: the matrix is too large for one."""
