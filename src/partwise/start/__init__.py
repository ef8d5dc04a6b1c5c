"""Initial factors."""

from partwise.start.methods import METHODS, start

__all__ = ["METHODS", "start"]
