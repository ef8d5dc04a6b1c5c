"""Initial factors."""

from partwise.algorithms.distributed.products import Products, alone, over
from partwise.start.methods import METHODS, start

__all__ = ["METHODS", "Products", "alone", "over", "start"]
