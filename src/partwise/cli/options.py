"""The options that verbs share, each with its one meaning."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from partwise.cli.failures import DEBUG

CLUSTER = "auto, did, sketched, hpc-anls-hals, hpc-anls-bpp, hpc-anls-mu, dsanls, dbcd, dadmm, d-hals, maxios"


def _remember(context: typer.Context, wanted: bool) -> bool:
    context.meta[DEBUG] = wanted
    return wanted


def _option(*names: str, help: str, panel: str | None = None, **more: object):  # noqa: A002
    return typer.Option(*names, help=help, rich_help_panel=panel, **more)  # type: ignore[arg-type]


Data = Annotated[
    str,
    typer.Argument(
        help="A file (.npy .npz .mtx .csv .tsv .parquet .h5ad .h5 .zarr): rows are samples. Or a directory of shards, or the name of a "
        "data set.",
        show_default=False,
    ),
]
Run = Annotated[Path, typer.Argument(help="The directory of an earlier fit.", show_default=False)]
Components = Annotated[
    int, _option("-k", "--n-components", min=1, metavar="K", help="How many parts.", show_default=False)
]
Key = Annotated[str | None, _option("--key", metavar="NAME", help="Which array or layer of the file.", panel="Data")]
Missing = Annotated[
    str, _option("--missing", metavar="error|nan|zero", help="What marks entries that were not observed.", panel="Data")
]
Negative = Annotated[
    str, _option("--negative", metavar="error|clip", help="Negative entries: refuse, or take as zero.", panel="Data")
]
Dtype = Annotated[
    str | None,
    _option("--dtype", metavar="float32|float64", help="Working precision; else that of the data.", panel="Data"),
]

Loss = Annotated[
    str,
    _option(
        "--loss",
        metavar="NAME|BETA",
        help="frobenius, kullback-leibler, itakura-saito, or the β of a β-divergence.",
        panel="Method",
    ),
]
Solver = Annotated[
    str,
    _option(
        "--solver",
        metavar="NAME",
        help="auto, hals, bpp, mu, pgd, nesterov, ipalm, admm, …; auto says why.",
        panel="Method",
    ),
]
SolverOption = Annotated[
    list[str] | None,
    _option(
        "--solver-option",
        metavar="NAME=VALUE",
        help="An option of the solver or the algorithm; may be repeated.",
        panel="Method",
    ),
]
Init = Annotated[
    str | None,
    _option("--init", metavar="NAME", help="random, nndsvd, nndsvda, nndsvdar or kmeans.", panel="Method"),
]
Seed = Annotated[
    int, _option("--seed", min=0, max=2**63 - 1, metavar="N", help="Names all random numbers.", panel="Method")
]
AlphaW = Annotated[
    float, _option("--alpha-w", metavar="NUMBER", help="Penalty on W (scikit-learn's alpha_W).", panel="Method")
]
AlphaH = Annotated[
    str, _option("--alpha-h", metavar="NUMBER|same", help="Penalty on H; same: as on W.", panel="Method")
]
L1Ratio = Annotated[
    float, _option("--l1-ratio", metavar="SHARE", help="Share of ℓ₁ in the penalties, 0 to 1.", panel="Method")
]
Normalize = Annotated[
    str | None,
    _option("--normalize", metavar="sum|length", help="Make this of each component one, at the end.", panel="Method"),
]

MaxIter = Annotated[
    int, _option("--max-iter", min=1, metavar="N", help="At most so many iterations.", panel="When to stop")
]
Tol = Annotated[
    float,
    _option(
        "--tol",
        metavar="SHARE",
        help="Stop when the KKT residual fell to this share of its first.",
        panel="When to stop",
    ),
]
MaxSeconds = Annotated[
    float | None, _option("--max-seconds", metavar="SECONDS", help="At most so long.", panel="When to stop")
]
TargetError = Annotated[
    float | None, _option("--target-error", metavar="ERROR", help="Stop at this relative error.", panel="When to stop")
]

Algorithm = Annotated[
    str | None,
    _option("--algorithm", metavar="NAME", help=f"How ranks share the work: {CLUSTER}.", panel="Ranks"),
]
Grid = Annotated[
    str | None,
    _option(
        "--grid",
        metavar="RxC",
        help="Rows and columns of ranks, for the algorithms that cut X into blocks.",
        panel="Ranks",
    ),
]
Latency = Annotated[
    float | None,
    _option(
        "--latency",
        min=0,
        metavar="µs",
        help="Before a message's first byte arrives (2), for auto's choice.",
        panel="Ranks",
    ),
]
Bandwidth = Annotated[
    float | None,
    _option(
        "--bandwidth", min=1e-6, metavar="Gbit/s", help="Out of each rank (100), for auto's choice.", panel="Ranks"
    ),
]
Deterministic = Annotated[
    bool,
    _option(
        "--deterministic",
        help="Sum over ranks in their order: the same bits in every run and with every MPI.",
        panel="Ranks",
    ),
]

Threads = Annotated[
    int | None,
    _option(
        "--threads", min=1, metavar="N", help="Threads of BLAS and kernels; else as the machine has it, on ranks one."
    ),
]
CheckpointEvery = Annotated[
    str | None,
    _option(
        "--checkpoint-every",
        metavar="N|TIME",
        help="Iterations between checkpoints, or time: 50, 90s, 10min, 2h; else half a minute.",
        panel="Output",
    ),
]
Output = Annotated[Path, _option("-o", "--output", metavar="RUN", help="The run directory to make.", panel="Output")]
Resume = Annotated[bool, _option("--resume", help="Go on from the last checkpoint.", panel="Output")]
Force = Annotated[bool, _option("--force", help="Replace what an earlier run left under this name.", panel="Output")]
Json = Annotated[
    bool, _option("--json", help="The last line on standard output is one JSON object, and the only.", panel="Output")
]
Quiet = Annotated[bool, _option("--quiet", "-q", help="No progress and no table.", panel="Output")]
Debug = Annotated[bool, _option("--debug", callback=_remember, help="Show where an error happened.", panel="Output")]
