"""Initial factors."""

from partwise.start.methods import METHODS, start
from partwise.start.spread import Spread, alone, over

__all__ = ["METHODS", "Spread", "alone", "over", "start"]
