"""Runs the cases: each measurement in a new process, the competitors in turn, the best of the rounds counts."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.cases import Case
from benchmarks.made_data import RECIPES
from benchmarks.peers import PEERS, Treewright, competitor_named
from benchmarks.results import CaseResult, Measurement
from treewright.errors import ParameterError, TreewrightError

GROWING_STEPS = 5
"""Tables of a case with growing rows, from the smallest to all rows."""

GROWING_COLUMNS = (10, 20, 40, 80, 160)

MOST_TEST_ROWS = 200_000

PEER_PATIENCE = 60.0

COMMAND_RUNS = 7
"""A command line takes a moment only, so that more runs are affordable and needed."""

COLD_RUNS = 2
"""Without compiled code it takes longer."""

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Settings:
    """How to measure.

    Parameters
    ----------
    full : bool
        The rows of the full form, or of the quick one.
    rows : int or None
        Rows of every case instead.
    peers : tuple of str
        Who is compared with, if installed.
    repeats : int
        Rounds.
    threads : tuple of int
        For everyone who can use several: all of them for fitting and predicting, the largest for everything else.
    time_limit : float
        Seconds for one measurement.
    recipes : tuple of str
        By which the data are made.
    """

    full: bool = False
    rows: int | None = None
    peers: tuple[str, ...] = tuple(PEERS)
    repeats: int = 3
    threads: tuple[int, ...] = (2,)
    time_limit: float = 900.0
    recipes: tuple[str, ...] = tuple(RECIPES)

    def __post_init__(self) -> None:
        for name in self.peers:
            competitor_named(name)
        if self.rows is not None and self.rows < 100:
            raise ParameterError(f"rows must be at least 100, not {self.rows}")

    def threads_of(self, case: Case) -> tuple[int, ...]:
        """Return the numbers of threads of a case."""
        return self.threads if case.action in ("fit", "predict") else (max(self.threads),)

    def recipes_of(self, case: Case) -> tuple[str, ...]:
        """Return the recipes of a case; where it has one only, this is measured whatever was asked for."""
        return tuple(recipe for recipe in case.recipes if recipe in self.recipes) or case.recipes[:1]

    def rows_of(self, case: Case) -> int:
        """Return the rows of a case; iris has what it has."""
        if case.maker == "iris" or (case.action == "command" and not case.rows):
            return case.rows
        return self.rows or (case.rows if self.full else case.quick_rows)


@dataclass
class _Runs:
    """The runs of one competitor on one table, as they come in."""

    results: list[dict[str, Any]] = field(default_factory=list)
    failed: str | None = None


def installed(peer: str) -> bool:
    """Return True if the package of a peer is there, without importing it."""
    return find_spec(PEERS[peer].package) is not None


def run_case(case: Case, settings: Settings, progress: Progress | None = None) -> CaseResult:
    """Measure one case.

    Parameters
    ----------
    case : Case
    settings : Settings
    progress : callable or None
        Called with the measurements done and those in all.
    """
    rows = settings.rows_of(case)
    names, skipped = _who(case, settings)
    with tempfile.TemporaryDirectory(prefix="treewright-bench-") as folder:
        workspace = _Workspace(Path(folder), settings)
        if case.action in ("command", "cold"):
            found = _commands(case, settings, workspace, rows, progress)
        elif case.action == "rows":
            found = _growing(case, settings, workspace, names, _sizes(rows, case.span), progress)
        elif case.action == "columns":
            shapes = [(rows, case.shape | {"columns": columns}) for columns in GROWING_COLUMNS]
            found = _growing(case, settings, workspace, names, shapes, progress)
        else:
            found = _one_table(case, settings, workspace, names, (rows, case.shape), progress)
    return CaseResult(case.name, case.title, case.action, rows, tuple(found), tuple(skipped))


def _who(case: Case, settings: Settings) -> tuple[list[str], list[str]]:
    """Return who competes, and a line for each who is not there."""
    names, skipped = [Treewright.name], []
    for name in case.peers:
        if name not in settings.peers:
            continue
        if installed(name):
            names.append(name)
        else:
            skipped.append(f'{name} is not installed: pip install "treewright[{PEERS[name].extra}]"')
    return names, skipped


def _sizes(rows: int, span: int) -> list[tuple[int, dict[str, Any]]]:
    shares = [span ** (step / (GROWING_STEPS - 1) - 1) for step in range(GROWING_STEPS)]
    return [(size, {}) for size in sorted({max(round(rows * share), 50) for share in shares})]


def _growing(
    case: Case,
    settings: Settings,
    workspace: _Workspace,
    names: Sequence[str],
    tables: Sequence[tuple[int, dict[str, Any]]],
    progress: Progress | None,
) -> list[Measurement]:
    """Measure on one table after the other, without those who have become too slow."""
    settings = replace(settings, threads=settings.threads_of(case))
    found: list[Measurement] = []
    still = list(names)
    for done, (rows, shape) in enumerate(tables):
        if progress is not None:
            progress(done, len(tables))
        fit = replace(case, action="fit", shape=case.shape | shape)
        now = _one_table(fit, settings, workspace, still, (rows, fit.shape), None, accuracy=False)
        found += now
        factor = tables[done + 1][0] / rows if done + 1 < len(tables) and tables[done + 1][0] > rows else 2.0
        slow = {
            one.competitor
            for one in now
            if one.seconds is None or (not one.is_ours and one.seconds * factor > PEER_PATIENCE)
        }
        still = [name for name in still if name not in slow]
    return found


def _one_table(
    case: Case,
    settings: Settings,
    workspace: _Workspace,
    names: Sequence[str],
    table: tuple[int, dict[str, Any]],
    progress: Progress | None,
    *,
    accuracy: bool = True,
) -> list[Measurement]:
    """Make the data by each recipe and let everybody have them in turn, with each number of threads."""
    rows, shape = table
    shown = rows if case.action == "predict" else case.training_rows(rows)
    rounds = 1 if case.action == "compile" else settings.repeats
    recipes = settings.recipes_of(case)
    asked = [(threads, name) for threads in settings.threads_of(case) for name in names if _threaded(name, case)]
    asked += [(1, name) for name in names if not _threaded(name, case)]
    found: list[Measurement] = []
    for at, recipe in enumerate(recipes):
        columns = workspace.made(case, rows, shape, recipe)
        runs = {one: _Runs() for one in asked}
        for turn in range(rounds):
            first = turn % len(asked) if asked else 0
            for done, (threads, name) in enumerate((*asked[first:], *asked[:first])):
                if progress is not None:
                    progress((at * rounds + turn) * len(asked) + done, len(recipes) * rounds * len(asked))
                if runs[threads, name].failed is None:
                    job = {
                        "action": case.action,
                        "competitor": name,
                        "growth": case.growth.to_dict(),
                        "data": str(workspace.data),
                        "engine": case.engine,
                        "threads": threads,
                        "store": case.store,
                        "accuracy": accuracy,
                        "scratch": str(workspace.folder),
                    }
                    _run_once(runs[threads, name], job, workspace, first=turn == 0)
        for (threads, name), one in runs.items():
            best = _best(name, one, shown, columns)
            found.append(replace(best, recipe=recipe, threads=threads, threaded=_threaded(name, case)))
    return found


def _threaded(name: str, case: Case) -> bool:
    return competitor_named(name).uses_threads(case.growth, case.action)


def _run_once(runs: _Runs, job: dict[str, Any], workspace: _Workspace, *, first: bool) -> None:
    environment = {}
    if job["action"] == "compile":
        environment["NUMBA_CACHE_DIR"] = tempfile.mkdtemp(dir=workspace.folder)
    if job["action"] == "start":
        environment["PYTHONDONTWRITEBYTECODE"] = ""  # whoever installs a package has its modules compiled
        if first:
            workspace.work(job, environment)  # fills the caches of the disk and of compiled code
    result, seconds = workspace.work(job, environment)
    if "failed" in result:
        runs.failed = result["failed"]
    else:
        runs.results.append({"seconds": seconds} | result)


def _best(name: str, runs: _Runs, rows: int, columns: int) -> Measurement:
    """Put the runs together: all statistics are those of the quickest run."""
    if not runs.results:
        return Measurement(name, "", rows, columns, None, (), {}, runs.failed)
    facts = dict(min(runs.results, key=lambda one: float(one["seconds"])))
    every = tuple(float(one["seconds"]) for one in runs.results)
    if "load_and_predict_seconds" in facts:
        facts["load_and_predict_seconds"] = min(one["load_and_predict_seconds"] for one in runs.results)
    version, seconds = str(facts.pop("version")), float(facts.pop("seconds"))
    return Measurement(name, version, rows, columns, seconds, every, facts, runs.failed)


def _commands(
    case: Case, settings: Settings, workspace: _Workspace, rows: int, progress: Progress | None
) -> list[Measurement]:
    """Time the command line as a process; a cold one finds an empty folder of compiled code each time."""
    beside = Path(sys.executable).with_name("treewright")
    program = [str(beside)] if beside.exists() else [sys.executable, "-P", "-m", "treewright"]
    arguments = [argument.format(table=workspace.data / "table.csv") for argument in case.command]
    needs_data = arguments != list(case.command)
    count, found = COLD_RUNS if case.action == "cold" else COMMAND_RUNS, []
    for at, recipe in enumerate(settings.recipes_of(case)):
        columns = workspace.made(case, rows, case.shape, recipe, file=True) if needs_data else 0
        times: list[float] = []
        failed = None
        for run in range(count):
            if progress is not None:
                progress(at * count + run, len(settings.recipes_of(case)) * count)
            environment = os.environ | {"PYTHONPATH": _python_path()}
            if case.action == "cold":
                environment["NUMBA_CACHE_DIR"] = tempfile.mkdtemp(dir=workspace.folder)
            failed, seconds = _timed([*program, *arguments], workspace.folder, environment, settings.time_limit)
            if failed is not None:
                break
            times.append(seconds)
        best = min(times) if times else None
        point = Measurement(Treewright.name, Treewright().version, rows, columns, best, tuple(times), failed=failed)
        found.append(replace(point, recipe=recipe, threads=max(settings.threads)))
    return found


def _python_path() -> str:
    """Return where a process in any folder finds this package: the folder above it, then what is set already."""
    already = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    return os.pathsep.join([str(Path(__file__).resolve().parents[1]), *map(os.path.abspath, already)])


def _timed(
    command: list[str], folder: Path | None, environment: dict[str, str], limit: float
) -> tuple[str | None, float]:
    """Run a process; return why it failed, or None, and its seconds."""
    start = time.perf_counter()
    try:
        done = subprocess.run(command, check=False, capture_output=True, cwd=folder, env=environment, timeout=limit)
    except subprocess.TimeoutExpired:
        return f"gave up after {limit:g} s", limit
    seconds = time.perf_counter() - start
    if done.returncode == 0:
        return None, seconds
    printed = done.stderr.decode(errors="replace").strip().splitlines()
    return printed[-1] if printed else f"ended with code {done.returncode}", seconds


class _Workspace:
    """A folder to work in, and the processes that work there."""

    def __init__(self, folder: Path, settings: Settings) -> None:
        self.folder = folder
        self.data = folder / "data"
        self._limit = settings.time_limit

    def made(self, case: Case, rows: int, shape: dict[str, Any], recipe: str, *, file: bool = False) -> int:
        """Make the data of a case, also as a file if a command is to read them; return the number of columns."""
        test = case.test_rows(rows)
        job = {
            "action": "make",
            "maker": case.maker,
            "recipe": recipe,
            "rows": case.training_rows(rows),
            "test_rows": test if case.action == "predict" else min(test, MOST_TEST_ROWS),
            "shape": shape,
            "data": str(self.data),
            "file": file,
        }
        shutil.rmtree(self.data, ignore_errors=True)  # those before
        result, _ = self.work(job)
        if "failed" in result:
            raise TreewrightError(f"the data of {case.name} could not be made: {result['failed']}")
        return int(result["columns"])

    def work(self, job: dict[str, Any], environment: dict[str, str] | None = None) -> tuple[dict[str, Any], float]:
        """Do a job in a new process; return its result, or why it failed, and the seconds from the start of it.

        They end with the process, unless the job reports when it was done: what comes then is tidying up.
        """
        job_file, result_file = self.folder / "job.json", self.folder / "result.json"
        job_file.write_text(json.dumps(job))
        result_file.unlink(missing_ok=True)
        command = [sys.executable, "-P", "-m", "benchmarks.worker", str(job_file), str(result_file)]
        begun_at = time.time()
        environment = os.environ | {"PYTHONPATH": _python_path()} | (environment or {})
        failed, seconds = _timed(command, None, environment, self._limit)
        if failed is not None:
            return {"failed": failed}, seconds
        result: dict[str, Any] = json.loads(result_file.read_text())
        if "done_at" in result:
            seconds = result.pop("done_at") - begun_at
        return result, seconds
