"""Fetching a publisher's file, by its digest."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pooch

from partwise.datasets.progress import Bar
from partwise.datasets.record import Origin
from partwise.errors import DataError


class Unreachable(DataError):
    """No mirror answered."""


def download(origin: Origin, folder: Path) -> Path:
    """The file in `folder`, from the first mirror that answers with the bytes expected."""
    import requests  # late: it comes with pooch, and half of our own time to import would be its

    tried: list[str] = []
    for url in origin.urls:
        bar = Bar(origin.file) if sys.stderr.isatty() else None
        try:
            return Path(_retrieve(url, origin, folder, bar))
        except requests.RequestException as error:
            tried.append(f"{url} ({_reason(error)})")
        except ValueError:  # pooch's word for another digest; it has removed the file
            tried.append(f"{url} (other bytes than expected: SHA-256 is not {origin.sha256})")
        finally:
            if bar is not None:
                bar.close()
    raise Unreachable(f"tried {', '.join(tried)}")


def _retrieve(url: str, origin: Origin, folder: Path, bar: Bar | None) -> str:
    fetch: Any = pooch.HTTPDownloader(progressbar=bar or False)  # type: ignore[arg-type]
    return pooch.retrieve(url, f"sha256:{origin.sha256}", fname=origin.file, path=folder, downloader=fetch)


def _reason(error: Any) -> str:
    import requests

    if error.response is not None:
        return f"it answers {error.response.status_code}"
    if isinstance(error, requests.Timeout):
        return "it does not answer in time"
    return "no connection" if isinstance(error, requests.ConnectionError) else type(error).__name__
