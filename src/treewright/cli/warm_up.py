"""treewright warm-up: compile the kernels once, before they are needed."""

from __future__ import annotations

import time

import click

from treewright.cli.help import Verb, option
from treewright.cli.options import json_option
from treewright.cli.output import progress_bar, write_json


@click.command(
    "warm-up",
    cls=Verb,
    examples=(
        "treewright warm-up             # in an image, or before a lesson",
        "treewright warm-up --jobs 1    # leave the other processors to others",
    ),
)
@option("engine", "--jobs", type=int, metavar="N", default_text="all cores", help="Number of processes.")
@json_option
def command(jobs: int | None, as_json: bool) -> None:
    """Compile the kernels for all usual kinds of tables, once, and store the code.

    Without it, large tables wait for their kernels the first time, and tables of some thousand rows are trained by the
    slower interpreter while a second process compiles. TREEWRIGHT_COMPILE=off prevents that process, =foreground waits
    for its work, =background is the default. The code belongs to this version, this Python and this
    processor; NUMBA_CACHE_DIR names another folder for it, which later commands need as well.
    """
    from treewright.fitting.warm_up import compile_all

    start = time.perf_counter()
    with progress_bar("compiling") as bar:
        folder = compile_all(jobs, bar)
    seconds = time.perf_counter() - start
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    if as_json:
        write_json({"seconds": round(seconds, 1), "folder": str(folder), "bytes": size})
        return
    click.echo(f"Kernels compiled in {seconds:.0f} s, {size / 1e6:.0f} MB in {folder}")
