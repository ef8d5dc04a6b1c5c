"""The command `partwise`: its verbs, and what becomes of errors."""

from __future__ import annotations

from typing import Annotated

import typer

from partwise._version import __version__
from partwise.cli import apply, audit, compare, datasets, federate, fit, plan, reproduce, run, shard, version
from partwise.cli.failures import Verbs
from partwise.errors import OptionError
from partwise.launch import ON_RANKS, started

app = typer.Typer(
    name="partwise",
    cls=Verbs,
    help="Find the parts that a nonnegative matrix is made of: X ≈ W H, with W ≥ 0 and H ≥ 0.",
    epilog="Begin with:  partwise fit digits -k 16 -o run",
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"partwise {__version__}")
        raise typer.Exit


@app.callback()
def _start(
    context: typer.Context,
    _version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit(2)
    if started().size > 1 and context.invoked_subcommand not in ON_RANKS:
        raise OptionError(f"{context.invoked_subcommand} runs in one process: leave {started().by} out. On ranks run: "
                          f"{', '.join(ON_RANKS)}.")  # fmt: skip


app.command("fit", epilog=fit.EXAMPLE)(fit.fit)
app.command("apply", epilog=apply.EXAMPLE)(apply.apply)
app.command("compare", epilog=compare.EXAMPLE)(compare.compare)
app.command("run", epilog=run.EXAMPLE, context_settings=run.PASSED_ON)(run.run)
app.command("plan", epilog=plan.EXAMPLE)(plan.plan)
app.command("shard", epilog=shard.EXAMPLE)(shard.shard)
app.command("audit", epilog=audit.EXAMPLE)(audit.audit)
app.add_typer(datasets.app, name="datasets")
app.add_typer(federate.app, name="federate")
app.command("reproduce", epilog=reproduce.EXAMPLE)(reproduce.reproduce)
app.command("version", epilog=version.EXAMPLE)(version.version)


def main() -> None:
    """Run the command line of this process, which may be one of several ranks."""
    if started().size == 1:
        app(prog_name="partwise")
        return
    from partwise.cli import together

    together.main(lambda: app(prog_name="partwise"))
