"""`partwise version`: what to put into a bug report."""

from __future__ import annotations

from partwise.cli import options as o

EXAMPLE = "Example:  partwise version --json"


def version(json: o.Json = False, debug: o.Debug = False) -> None:
    """Show the versions of partwise and of what its numbers depend on, the BLAS and the machine."""
    from partwise.cli import screen
    from partwise.reports import machine
    from partwise.reports.quantities import size

    versions, blas, facts = machine.versions(), machine.blas(), machine.machine()
    if json:
        screen.show_json({**versions, "blas": blas, **facts})
        return
    lines = [f"{b['internal_api']} {b['version']} for {b['architecture']}, {b['num_threads']} threads" for b in blas]
    memory = "" if facts["memory_bytes"] is None else f", {size(facts['memory_bytes'])}"
    rows = [(name, number) for name, number in versions.items() if name != "partwise"]
    rows += [("blas", line) for line in lines]
    rows.append(("machine", f"{facts['processor']}, {facts['cores']} cores{memory}, {facts['system']}"))
    screen.show(f"partwise {versions['partwise']}", rows)
