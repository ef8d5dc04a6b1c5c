"""The only compiled code, and the only door to Numba. Kernels release the GIL; `threads.spread` runs them side by side."""
