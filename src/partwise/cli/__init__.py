"""The command line. Each verb is a module; what it computes with is imported when it is called, so that `--help` is quick."""

from partwise.cli.app import app, main

__all__ = ["app", "main"]
