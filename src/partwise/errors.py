"""Errors are sentences: what was seen, what was expected, what to do."""


class PartwiseError(Exception):
    """Anything that partwise refuses or cannot do."""

    on_all_ranks = False  # whether all ranks of a job raise it, with a sentence that says on which of them it happened


class DataError(PartwiseError, ValueError):
    """The data, or a file that should hold it, is not what it must be (exit code 1)."""


class DataTypeError(DataError, TypeError):
    """The data holds things that cannot be numbers (exit code 1)."""


class OptionError(PartwiseError, ValueError):
    """The call asks for something that does not exist or does not fit (exit code 2)."""


class RunError(PartwiseError, RuntimeError):
    """A run could not go on, or what an earlier one left cannot be used (exit code 1)."""


class MissingExtraError(PartwiseError, ImportError):
    """An optional library is needed (exit code 1)."""

    def __init__(self, what: str, library: str, extra: str) -> None:
        super().__init__(f"{what} needs {library}, which is not installed: pip install 'partwise[{extra}]'")
