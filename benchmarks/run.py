"""Compares Treewright with the libraries that are installed, and with its targets.

python -m benchmarks.run                      the quick form, a minute's worth
python -m benchmarks.run --full --output results.json --plot growth.svg > results.md
python -m benchmarks.run --case full-entropy --rows 100000 --threads 1 --threads 2
python -m benchmarks.run --set kernels --summary
python -m benchmarks.run --read one.json --read other.json --summary
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from treewright.cli.help import Verb, option
from treewright.cli.main import run
from treewright.cli.options import FILE, json_option
from treewright.cli.output import is_terminal, json_text, note, progress_bar, require_writable, write_json
from treewright.concurrency import processors

if TYPE_CHECKING:
    from benchmarks.cases import Case
    from benchmarks.results import CaseResult
    from benchmarks.runner import Settings

THREADS = 2
"""Threads of the quick form, where there are as many processors: what most targets were set for."""

FULL_THREADS = (1, 2, 4, 8, 16)
"""Threads of the full form, as far as there are as many processors."""


@click.command(
    "benchmarks",
    cls=Verb,
    examples=(
        "python -m benchmarks.run --list",
        "python -m benchmarks.run --case start-help --repeats 1",
        "python -m benchmarks.run --set kernels --summary",
        "python -m benchmarks.run --full -o results.json",
    ),
)
@option("evaluation", "--full/--quick", "full", default=False, help="Run all cases at full size, or a short selection.")
@option("evaluation", "--case", "cases", multiple=True, metavar="NAME", help="Run only this case; see --list.")
@option(
    "evaluation",
    "--set",
    "sets",
    multiple=True,
    metavar="NAME",
    help="Run `tables` (every kind under every learner), `kernels` (the same without peers) or `targets`.",
)
@option(
    "evaluation",
    "--peer",
    "peers",
    multiple=True,
    metavar="NAME",
    help="Compare only with this library; `treewright` runs no others.",
)
@option(
    "data",
    "--recipe",
    "recipes",
    multiple=True,
    type=click.Choice(["plain", "skewed"]),
    help="Make the data by this recipe only.",
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
    multiple=True,
    metavar="T",
    default_text="2, full 1 2 4 8 16 as far as there are processors",
    help="Threads per library; may be given several times.",
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
@option("output", "--summary", is_flag=True, help="Print only the costs per visit and the targets.")
@option("output", "--read", "saved", multiple=True, metavar="FILE", type=FILE, help="Report saved results, do not run.")
@option("output", "--list", "listing", is_flag=True, help="List the cases and exit.")
@json_option
def command(
    cases: tuple[str, ...],
    sets: tuple[str, ...],
    listing: bool,
    output: str | None,
    plot: str | None,
    summary: bool,
    saved: tuple[str, ...],
    as_json: bool,
    **rest: Any,
) -> None:
    """Compare speed, memory, tree size and accuracy with other libraries on generated data.

    Each measurement runs in its own process, on the same data. Libraries that are not installed are left out.
    """
    from benchmarks.cases import chosen_cases
    from benchmarks.results import TARGETS

    full, settings = rest["full"], _settings(**rest)
    if "targets" in sets:
        cases += tuple(target.case for target in TARGETS)
        sets = tuple(name for name in sets if name != "targets")
    chosen = chosen_cases(cases, full=full or listing, sets=sets)
    if listing:
        listed = [{"name": case.name, "title": case.title, "rows": case.rows, "quick": case.quick} for case in chosen]
        write_json(listed) if as_json else click.echo("\n".join(f"{case.name:<22}{case.title}" for case in chosen))
        return
    if output is not None:
        require_writable(output)
    if plot is not None:
        _require_growth(plot, [case.action for case in chosen])
    quiet = summary or as_json
    results = _read(saved, quiet=quiet) if saved else _measured(chosen, settings, output, quiet=quiet)
    if saved and output is not None:
        _write(results, settings, output)
    _report(results, settings, as_json=as_json, all_targets=full and not cases and not sets)
    if output is not None:
        note(f"Results written to {output}")
    if plot is not None:
        _draw(results, plot)


def _settings(
    *,
    full: bool,
    peers: tuple[str, ...],
    recipes: tuple[str, ...],
    rows: int | None,
    repeats: int | None,
    threads: tuple[int, ...],
    time_limit: float,
) -> Settings:
    from benchmarks.peers import PEERS
    from benchmarks.runner import Settings

    usual = [count for count in (FULL_THREADS if full else (THREADS,)) if count <= processors()] or [1]
    return Settings(
        full,
        rows,
        peers or tuple(PEERS),
        repeats or (3 if full else 1),
        tuple(sorted(set(threads or usual))),
        time_limit,
        **({"recipes": recipes} if recipes else {}),
    )


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


def _measured(chosen: Iterable[Case], settings: Settings, output: str | None, *, quiet: bool) -> dict[str, CaseResult]:
    """Measure the cases one after the other; after each, the file has what was measured so far."""
    from benchmarks.runner import run_case

    results: dict[str, CaseResult] = {}
    for case in chosen:
        with progress_bar(f"measuring {case.name}") as bar:
            results[case.name] = run_case(case, settings, bar)
        if output is not None:
            _write(results, settings, output)
        if not quiet:
            _print_case(results[case.name])
    return results


def _read(saved: Iterable[str], *, quiet: bool) -> dict[str, CaseResult]:
    """Return the results of several files; what was measured twice counts as in the last one."""
    from benchmarks.report import read_results

    results: dict[str, CaseResult] = {}
    for path in saved:
        for name, result in read_results(path).items():
            results[name] = results[name].joined(result) if name in results else result
    if not quiet:
        for result in results.values():
            _print_case(result)
    return results


def _write(results: dict[str, CaseResult], settings: Settings, output: str) -> None:
    from benchmarks.report import summary
    from treewright.atomic_file import write_atomically

    write_atomically(output, json_text(summary(results, settings)) + "\n")


def _print_case(result: CaseResult) -> None:
    from benchmarks.report import case_text
    from treewright.drawing.text_plot import can_draw_braille

    width = min(shutil.get_terminal_size((72, 24)).columns, 100) if is_terminal(sys.stdout) else 72
    braille = can_draw_braille(getattr(sys.stdout, "encoding", None))
    click.echo(case_text(result, width=width, braille=braille) + "\n")


def _report(results: dict[str, CaseResult], settings: Settings, *, as_json: bool, all_targets: bool) -> None:
    """Print everything as JSON, or what the cases show together: costs per visit and targets."""
    from benchmarks.cases import CASES
    from benchmarks.report import costs_text, summary, targets_text
    from benchmarks.results import target_statuses

    if as_json:
        write_json(summary(results, settings))
        return
    costs, statuses = costs_text(results), target_statuses(results)
    if costs:
        click.echo(costs + "\n")
    asked = [one for one in statuses if one.case in results and (settings.full or one.met is not None)]
    if all_targets or asked:
        click.echo(targets_text(statuses if all_targets else asked))
    full_rows = {case.name: case.rows for case in CASES}
    if any(result.rows < full_rows[result.name] for result in results.values()):
        click.echo("\nThe targets are for the full form: on smaller data these numbers are an indication only.")


def _draw(results: dict[str, CaseResult], plot: str) -> None:
    from benchmarks.report import growth_figure
    from treewright.drawing.figure import save_figure

    save_figure(growth_figure([one for one in results.values() if one.action in ("rows", "columns")]), plot)
    note(f"Figure written to {plot}")


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:], command, "python -m benchmarks.run"))
