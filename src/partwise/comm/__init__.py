"""Talks: sums, gathers and messages among the ranks of a run, each kind of communicator with the same words (`protocols.Comm`)."""

from partwise.comm.grid import Grid, grids
from partwise.comm.job import as_comm, job, one_fate
from partwise.comm.metered import Metered
from partwise.comm.network import Cost, Network
from partwise.comm.own import OWN, Own
from partwise.comm.side import Side
from partwise.comm.simulated import Simulated, Simulation, simulate
from partwise.comm.together import sum_numbers, sum_together

__all__ = [
    "OWN",
    "Cost",
    "Grid",
    "Metered",
    "Network",
    "Own",
    "Side",
    "Simulated",
    "Simulation",
    "as_comm",
    "grids",
    "job",
    "one_fate",
    "simulate",
    "sum_numbers",
    "sum_together",
]
