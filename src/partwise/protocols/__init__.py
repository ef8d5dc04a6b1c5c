"""What the rooms expect of one another."""

from partwise.protocols.data import Matrix, Passes, Sketch
from partwise.protocols.methods import Iteration, Update
from partwise.protocols.parties import Round, Transport
from partwise.protocols.ranks import Comm, Received

__all__ = ["Comm", "Iteration", "Matrix", "Passes", "Received", "Round", "Sketch", "Transport", "Update"]
