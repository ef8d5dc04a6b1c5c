"""What the user reads when something fails, and the exit code: 0 done, 1 failed, 2 a bad call."""

from __future__ import annotations

import sys
import traceback
from typing import Any

import typer
from typer.core import TyperGroup

from partwise.errors import OptionError, PartwiseError, RunError
from partwise.launch import let_rank_0_speak, started

UsageError: Any = (
    typer.BadParameter.__base__
)  # Typer has brought its own click for a while, and no public name for this
DEBUG = "partwise.debug"  # the key under which a call remembers --debug


class Stopped(RunError):
    """The user ended the run; that is no error, but it is no result either."""


class Verbs(TyperGroup):
    """The verbs of the command line; every failure of theirs ends here."""

    def main(self, *args: Any, standalone_mode: bool = True, **extra: Any) -> Any:
        """Run, and leave the process with its exit code."""
        if not standalone_mode:
            return super().main(*args, standalone_mode=False, **extra)
        try:
            code = super().main(*args, standalone_mode=False, **extra)
        except UsageError as error:
            said = error.format_message().rstrip(".")
            tell(f"{said}{'' if said.endswith('?') else '.'} {_help_of(error)}")
            code = 2
        sys.exit(code or 0)

    def invoke(self, ctx: Any) -> Any:
        """Run the verb; an error becomes its sentence and its exit code."""
        try:
            return super().invoke(ctx)
        except (typer.Exit, typer.Abort, UsageError, BrokenPipeError):
            raise
        except KeyboardInterrupt:
            tell("Stopped at once, as asked.")
            raise typer.Exit(1) from None
        except Stopped as stopped:
            let_rank_0_speak()
            typer.echo(str(stopped), err=True)
            raise typer.Exit(1) from None
        except Exception as error:
            if ctx.meta.get(DEBUG):
                traceback.print_exc()
            tell(sentence(error))
            raise typer.Exit(2 if isinstance(error, OptionError) else 1) from None


def tell(message: str) -> None:
    """One line on standard error; of ranks that fail alike, rank 0's."""
    let_rank_0_speak()
    typer.echo(f"{typer.style('error:', fg='red', bold=True)} {message}", err=True)


def sentence(error: Exception) -> str:
    """What to say of an error; of one of several ranks, whose it is."""
    launched = started()
    plain = launched.size == 1 or isinstance(error, OptionError)  # a bad call is everyone's
    plain = plain or (isinstance(error, PartwiseError) and error.on_all_ranks)
    return _said(error) if plain else f"rank {launched.rank} of {launched.size}: {_said(error)}"


def _said(error: Exception) -> str:
    if isinstance(error, PartwiseError):
        return str(error)
    if isinstance(error, MemoryError):
        return (
            f"There is not enough memory ({error}). `partwise plan` says what a run needs; --dtype float32 halves it."
        )
    return (
        f"This is a bug in partwise, please report it ({type(error).__name__}: {error}); "
        "the same call with --debug shows where it happened."
    )


def _help_of(error: Any) -> str:
    return f"See: {error.ctx.command_path if error.ctx else 'partwise'} --help"
