"""Qian, Tan, Ding, Li & Mamoulis: DSANLS, fast and secure distributed NMF."""

from __future__ import annotations

from functools import partial

from partwise.reproduce.experiment import Experiment, Size
from partwise.reproduce.material import DSANLS_NAMES, DSANLS_SETS
from partwise.reproduce.papers import dsanls_nodes, dsanls_secure, dsanls_secure_nodes, dsanls_solvers, dsanls_why
from partwise.reproduce.papers.dsanls_cluster import (
    ends,
    fig2_cases,
    fig2_judge,
    fig2_measure,
    fig4_cases,
    fig4_figure,
    fig4_judge,
    fig4_measure,
    fig4_table,
    over_time,
)  # fmt: skip
from partwise.reproduce.papers.dsanls_damping import DAMPED
from partwise.reproduce.ranks import SIMULATED

NAMED = tuple(name for name in DSANLS_NAMES if name.split(":")[0] in dsanls_secure.DATA)
TIME = (
    "seconds: processor time of the parties, as if side by side, and of the server, with a network of 1 Gb/s and 50 µs"
)
HALF = "half of the rows at one of the nodes"
FEWER = "full form: 10,000 rows of MNIST, 3,000 of GISETTE"
SEEDS = "full form: six rounds of ten local steps, k = 100; three seeds on FACE, else one"
TEN = "ten local iterations, where the paper has 100; 2, 4, 8 and 16 nodes"
CURVE = ("data", "method", "damping", "seed", "t")
ROUNDS, NODES = ("data", "method", "steps", "seed", "t"), ("data", "method", "nodes", "seed")
SCALED = (
    "full form: all rows, k = 100; 8 to 60 iterations, of DSANLS as many as of HALS; Gaussian sketches on FACE alone, as they take "
    "0.8 Tflop an iteration on MNIST and draw 44 million numbers on every node on BOATS; three seeds on FACE, else one; with Gaussian "
    "sketches and on MNIST β = 0.1 alone"
)
FEW = "full form: all rows; of the grid β = 0.1 alone; 16 iterations (k = 500: 8), half as many more with sketches, half with ABPP"
EXPERIMENTS = (
    Experiment(
        "dsanls", "fig2", "DSANLS beside MPI-FAUN: error over time, ten nodes",
        "DSANLS/S performs best on all six data sets, although DSANLS/G converges faster per iteration; MU converges slowly, HALS well, "
        "and ANLS/BPP is held back by its cost per iteration.",
        (*DSANLS_NAMES, SIMULATED, DAMPED, SCALED), fig2_cases, fig2_measure, fig2_judge, ends, over_time,
        {Size.QUICK: 1.0, Size.FULL: 4}, CURVE, {"error": 1e-4, "bytes": 0.0}, DSANLS_SETS, reason=dsanls_why.fig2,
    ),
    Experiment(
        "dsanls", "fig3", "Iterations a second over nodes",
        "All algorithms scale well but on FACE; DSANLS/S has the lowest cost per iteration, ANLS/BPP the highest, and DSANLS/G costs about "
        "as much as MU and HALS.",
        (*DSANLS_NAMES, SIMULATED,
         "full form: all rows and k = 100; four iterations, where the paper has 100, on 2, 4, 8 and 16 nodes; Gaussian sketches on "
         "FACE alone"),
        dsanls_nodes.cases, dsanls_nodes.measure, dsanls_nodes.judge, dsanls_nodes.table, dsanls_nodes.figure,
        {Size.QUICK: 1.0, Size.FULL: 4}, ("data", "method", "nodes", "seed"), {"messages": 1e-9, "bytes": 1e-9}, DSANLS_SETS,
        reason=dsanls_why.fig3,
    ),
    Experiment(
        "dsanls", "fig4", "k from 20 to 500",
        "DSANLS outperforms the others for all k; errors fall as k grows, and all take longer.",
        (*(name for name in DSANLS_NAMES if name.startswith("RCV1")), SIMULATED, DAMPED, FEW), fig4_cases,
        fig4_measure, fig4_judge, fig4_table, fig4_figure, {Size.QUICK: 0.5, Size.FULL: 5},
        ("data", "method", "damping", "k", "seed", "t"),
        {"error": 1e-4, "bytes": 0.0}, DSANLS_SETS, reason=dsanls_why.fig4,
    ),
    Experiment(
        "dsanls", "fig5", "Proximal coordinate descent against projected gradient, by iterations",
        "Proximal coordinate descent (DSANLS-RCD) converges faster than projected gradient descent (DSANLS-PGD), "
        "whichever random matrix is used.",
        (*DSANLS_NAMES, f"{DAMPED}; of projected gradients they count in units of the gram's largest eigenvalue", SCALED),
        dsanls_solvers.cases, dsanls_solvers.measure, dsanls_solvers.judge, dsanls_solvers.table, dsanls_solvers.figure,
        {Size.QUICK: 0.5, Size.FULL: 5}, CURVE, {"error": 1e-6}, DSANLS_SETS,
    ),
    Experiment(
        "dsanls", "fig6", "Secure methods, rows spread evenly: error over time",
        "Syn-SSD-UV performs best on BOATS, FACE and GISETTE; Syn-SD and Asyn-SD converge relatively slowly; Asyn-SSD-V converges slowly "
        "but consistently better than both.",
        (*NAMED, TIME, FEWER, SEEDS), dsanls_secure.error_cases, dsanls_secure.error_measure(dsanls_secure.UNIFORM),
        dsanls_secure.fig6_judge, dsanls_secure.error_table, dsanls_secure.error_figure,
        {Size.QUICK: 0.5, Size.FULL: 4}, ROUNDS, {"error": 1e-4, "bytes": 0.0}, DSANLS_SETS, reason=dsanls_secure.why,
    ),
    Experiment(
        "dsanls", "fig7", "Secure methods, half of the rows at one node: error over time",
        "Asynchronous methods generally outperform synchronous ones; Asyn-SSD-V is best on all data sets but FACE; Syn-SSD-UV does not "
        "perform well.",
        (*NAMED, HALF, TIME, FEWER, SEEDS), dsanls_secure.error_cases, dsanls_secure.error_measure(dsanls_secure.SKEWED),
        dsanls_secure.fig7_judge, dsanls_secure.error_table, dsanls_secure.error_figure,
        {Size.QUICK: 0.5, Size.FULL: 4}, ROUNDS, {"error": 1e-4, "bytes": 0.0}, DSANLS_SETS, reason=dsanls_secure.why,
    ),
    Experiment(
        "dsanls", "fig8", "Secure methods, rows spread evenly: iterations a second over nodes",
        "All methods exhibit good scalability on all data sets but FACE; Syn-SSD-UV has the lowest time per iteration.",
        (*NAMED, TIME, FEWER, TEN), dsanls_secure_nodes.scale_cases, dsanls_secure_nodes.scale_measure(dsanls_secure.UNIFORM),
        dsanls_secure_nodes.fig8_judge, dsanls_secure_nodes.scale_table, dsanls_secure_nodes.scale_figure,
        {Size.QUICK: 0.5, Size.FULL: 4}, NODES, {"error": 1e-4, "bytes": 0.0}, DSANLS_SETS,
        reason=partial(dsanls_secure_nodes.why, parties=dsanls_secure_nodes.SHRINKS),
    ),
    Experiment(
        "dsanls", "fig9", "Secure methods, half of the rows at one node: iterations a second over nodes",
        "Barriers make the synchronous methods' time per iteration nearly flat over nodes; asynchronous methods scale decently.",
        (*NAMED, HALF, TIME, FEWER, TEN), dsanls_secure_nodes.scale_cases, dsanls_secure_nodes.scale_measure(dsanls_secure.SKEWED),
        dsanls_secure_nodes.fig9_judge, dsanls_secure_nodes.scale_table, dsanls_secure_nodes.scale_figure,
        {Size.QUICK: 0.5, Size.FULL: 4}, NODES, {"error": 1e-4, "bytes": 0.0}, DSANLS_SETS,
        reason=partial(dsanls_secure_nodes.why, parties=dsanls_secure_nodes.STAYS),
    ),
)  # fmt: skip
