"""Compares Treewright with the libraries that are installed, and with its targets.

python -m benchmarks.run                      the quick form, a minute's worth
python -m benchmarks.run --full --output results.json --plot growth.svg
python -m benchmarks.run --case continuous-8 --rows 100000
"""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING, Any

import click

from treewright.cli.help import Verb, option
from treewright.cli.main import run
from treewright.cli.options import FILE, json_option
from treewright.cli.output import is_terminal, json_text, note, progress_bar, require_writable, write_json

if TYPE_CHECKING:
    from benchmarks.results import CaseResult
    from benchmarks.runner import Settings

THREADS = 2
"""Threads for everyone, where there are as many processors: what the targets were set for."""


@click.command(
    "benchmarks",
    cls=Verb,
    examples=(
        "python -m benchmarks.run --list",
        "python -m benchmarks.run --case start-help --repeats 1",
        "python -m benchmarks.run --full -o results.json",
    ),
)
@option("evaluation", "--full/--quick", "full", default=False, help="Run all cases at full size, or a short selection.")
@option("evaluation", "--case", "cases", multiple=True, metavar="NAME", help="Run only this case; see --list.")
@option(
    "evaluation",
    "--peer",
    "peers",
    multiple=True,
    metavar="NAME",
    help="Compare only with this library; `treewright` runs no others.",
)
@option("data", "--rows", type=click.IntRange(min=100), metavar="N", help="Number of rows for every case.")
@option(
    "evaluation",
    "--repeats",
    type=click.IntRange(min=1),
    metavar="R",
    default_text="3, quick 1",
    help="Repetitions; the best one counts.",
)
@option(
    "engine",
    "--threads",
    type=click.IntRange(min=1),
    metavar="T",
    default_text=str(THREADS),
    help="Threads per library.",
)
@option(
    "engine",
    "--time-limit",
    type=click.FloatRange(min=1),
    metavar="SECONDS",
    default=900,
    show_default=True,
    help="Time limit of each run.",
)
@option("output", "-o", "--output", metavar="FILE", type=FILE, help="File to write the results to, as JSON.")
@option(
    "output", "--plot", metavar="FILE", type=FILE, help="File for the figure of time against rows (cases rows-...)."
)
@option("output", "--list", "listing", is_flag=True, help="List the cases and exit.")
@json_option
def command(cases: tuple[str, ...], listing: bool, output: str | None, plot: str | None, **rest: Any) -> None:
    """Compare speed, memory, tree size and accuracy with other libraries on generated data.

    Each measurement runs in its own process, on the same data. Libraries that are not installed are left out.
    """
    from benchmarks.cases import chosen_cases

    as_json, full = rest.pop("as_json"), rest["full"]
    chosen = chosen_cases(cases, full=full or listing)
    if listing:
        listed = [{"name": case.name, "title": case.title, "rows": case.rows, "quick": case.quick} for case in chosen]
        write_json(listed) if as_json else click.echo("\n".join(f"{case.name:<22}{case.title}" for case in chosen))
        return
    if output is not None:
        require_writable(output)
    if plot is not None:
        _require_growth(plot, [case.action for case in chosen])
    names = [case.name for case in chosen]
    _measure_and_report(names, _settings(**rest), output, plot, as_json=as_json, all_targets=full and not cases)


def _settings(
    *, full: bool, peers: tuple[str, ...], rows: int | None, repeats: int | None, threads: int | None, time_limit: float
) -> Settings:
    from benchmarks.peers import PEERS
    from benchmarks.runner import Settings

    usual = min(THREADS, os.cpu_count() or 1)
    return Settings(full, rows, peers or tuple(PEERS), repeats or (3 if full else 1), threads or usual, time_limit)


def _require_growth(plot: str, actions: list[str]) -> None:
    """Raise before the work begins if the figure would be empty or could not be drawn."""
    from treewright.drawing.figure import SUFFIXES
    from treewright.lazy_import import import_extra

    require_writable(plot)
    if os.path.splitext(plot)[1].lower() not in SUFFIXES:
        raise click.BadParameter(f"{plot!r} must end in {', '.join(SUFFIXES)}", param_hint="--plot")
    if not {"rows", "columns"} & set(actions):
        raise click.UsageError("--plot draws growing data: add --case rows-nominal or another of the cases rows-...")
    import_extra("matplotlib", "plots", "draw a figure")


def _measure_and_report(
    names: list[str], settings: Settings, output: str | None, plot: str | None, *, as_json: bool, all_targets: bool
) -> None:
    from benchmarks.cases import chosen_cases
    from benchmarks.report import case_text, growth_figure, summary, targets_text
    from benchmarks.results import target_statuses
    from benchmarks.runner import run_case
    from treewright.atomic_file import write_atomically
    from treewright.drawing.figure import save_figure
    from treewright.drawing.text_plot import can_draw_braille

    results: dict[str, CaseResult] = {}
    width = min(shutil.get_terminal_size((72, 24)).columns, 100) if is_terminal(sys.stdout) else 72
    braille = can_draw_braille(getattr(sys.stdout, "encoding", None))
    for case in chosen_cases(names, full=True):
        with progress_bar(f"measuring {case.name}") as bar:
            results[case.name] = run_case(case, settings, bar)
        if output is not None:
            write_atomically(output, json_text(summary(results, settings)) + "\n")
        if not as_json:
            click.echo(case_text(results[case.name], width=width, braille=braille) + "\n")
    if as_json:
        write_json(summary(results, settings))
    else:
        asked = [
            one for one in target_statuses(results) if one.case in results and (settings.full or one.met is not None)
        ]
        if all_targets or asked:
            click.echo(targets_text(target_statuses(results) if all_targets else asked))
        if not settings.full or settings.rows is not None:
            click.echo("The targets are for the full form: on smaller data these numbers are an indication only.")
    if output is not None:
        note(f"Results written to {output}")
    if plot is not None:
        save_figure(growth_figure([one for one in results.values() if one.action in ("rows", "columns")]), plot)
        note(f"Figure written to {plot}")


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:], command, "python -m benchmarks.run"))
