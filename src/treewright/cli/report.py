"""treewright report: a table (or a model) in, one HTML file that can be handed over out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, cast

import click

from treewright.cli.help import option
from treewright.cli.learners import LearnerVerb, algorithm_options, learner_for, listed_names, spelled
from treewright.cli.options import (
    FILE,
    json_option,
    open_model,
    read_cases,
    reading_options,
    schema_options,
    seed_option,
    target_option,
)
from treewright.cli.output import note, progress_bar, reading, require_writable, warnings_as_notes, write_json

if TYPE_CHECKING:
    from treewright.data.dataset import Dataset
    from treewright.data.infer import Overrides
    from treewright.data.schema import Schema
    from treewright.fitting.algorithms import Learner
    from treewright.html_report.make import ReportPage
    from treewright.tree.model import TreeModel
    from treewright.tree.rules import RuleModel


@click.command(
    "report",
    cls=LearnerVerb,
    examples=(
        "treewright report weather.csv --target play --no-curve",
        "treewright report weather.csv --target play --algorithm cart -o cart.html",
        "treewright report --model weather.model.json weather.csv --lang de --no-curve",
    ),
)
@click.argument("source", metavar="[FILE]", type=FILE, required=False)
@target_option
@algorithm_options(lambda: listed_names("tree", "rules"), show_default=False)
@option(
    "data",
    "--model",
    "model_file",
    metavar="MODEL",
    type=FILE,
    help="Report on this model instead of training one; FILE is its training or test data.",
)
@option("evaluation", "--test", "test_file", metavar="FILE", type=FILE, help="Test data for the evaluation.")
@option(
    "output",
    "-o",
    "--output",
    metavar="FILE",
    type=FILE,
    default_text="NAME.report.html",
    help="File to write the report to.",
)
@option("output", "--title", metavar="TEXT", help="Title of the page.")
@option(
    "output", "--lang", metavar="en|de|it|zh", default_text="$TREEWRIGHT_LANG or English", help="Language of the page."
)
@option(
    "evaluation",
    "--folds",
    type=click.IntRange(min=0),
    default=10,
    show_default=True,
    help="Folds of the accuracy estimate; 0 skips it.",
)
@option("evaluation", "--no-curve", is_flag=True, help="Skip the learning curve, which trains about forty models.")
@seed_option("the folds")
@schema_options
@reading_options
@json_option
def command(
    source: str | None,
    target: str | None,
    algorithm: str | None,
    model_file: str | None,
    test_file: str | None,
    output: str | None,
    title: str | None,
    lang: str | None,
    folds: int,
    no_curve: bool,
    seed: int,
    options: dict[str, Any],
    overrides: Overrides,
    schema: Schema | None,
    how: dict[str, Any],
    as_json: bool,
) -> None:
    """Write a report on a tree as one HTML file: tree, splits, pruning, accuracy, rules, data.

    The file works offline: open it in a browser, send it or print it.
    """
    if source is None and model_file is None:
        raise click.UsageError("name a FILE to train on, or a model: --model MODEL")
    if folds == 1:
        raise click.BadParameter("1 is not 0 or at least 2", param_hint="--folds")
    if model_file is not None:
        _refuse_training_options(target, algorithm, options, overrides, schema)
    path = output or default_report_path(source or model_file or "")
    require_writable(path, *(one for one in (source, model_file, test_file) if one is not None))
    with warnings_as_notes():
        page = _page(
            source,
            model_file,
            test_file,
            target=target,
            algorithm=algorithm or "c45",
            options=options,
            overrides=overrides,
            schema=schema,
            how=how,
            seed=seed,
            settings={"title": title, "lang": lang, "folds": folds, "curve": not no_curve},
        )
    page.save(path)
    size = len(page.html.encode())
    if as_json:
        write_json({"report": path, "bytes": size})
    else:
        click.echo(f"Report written to {path} ({size / 1000:,.0f} kB); open it in a browser.")


def default_report_path(source: str) -> str:
    """Return NAME.report.html in the working folder.

    Examples
    --------
    >>> default_report_path("data/weather.csv.gz"), default_report_path("sample:restaurant"), default_report_path("-")
    ('weather.report.html', 'restaurant.report.html', 'stdin.report.html')
    """
    if source == "-":
        return "stdin.report.html"
    name = PurePath(source.removeprefix("sample:")).name.removesuffix(".gz").removesuffix(".model.json")
    return f"{PurePath(name).stem or 'tree'}.report.html"


def _refuse_training_options(
    target: str | None, algorithm: str | None, options: dict[str, Any], overrides: Overrides, schema: Schema | None
) -> None:
    from treewright.data.infer import Overrides

    given = [spelled(name, value) for name, value in options.items()]
    given += ["--target"] if target is not None else []
    given += ["--algorithm"] if algorithm is not None else []
    given += ["--schema"] if schema is not None else []
    given += ["options for columns"] if overrides != Overrides() else []
    if given:
        raise click.UsageError(f"--model is already trained: {', '.join(given)} would have no effect")


def _page(
    source: str | None,
    model_file: str | None,
    test_file: str | None,
    *,
    target: str | None,
    algorithm: str,
    options: dict[str, Any],
    overrides: Overrides,
    schema: Schema | None,
    how: dict[str, Any],
    seed: int,
    settings: dict[str, Any],
) -> ReportPage:
    """Learn or load, and make the page."""
    from treewright.explain.language import words
    from treewright.html_report.make import report
    from treewright.tree.forest import Forest

    words(settings["lang"])  # an unknown language is refused before training
    data: Dataset | None = None
    learner: Learner | None = None
    if model_file is None:
        learner = learner_for(algorithm, options, seed)
        data = read_cases(str(source), target, schema, overrides, how, learner)
        model = _trained(data, learner)
        test = None if test_file is None else _cases(model, test_file, how)
    else:
        opened = open_model(model_file)
        if isinstance(opened, Forest):
            raise click.UsageError("a report needs a tree or rules, but this model is a forest")
        model = opened
        test = None if test_file is None else _cases(model, test_file, how)
        cases = None if source is None else _cases(model, source, how)
        if cases is not None and _was_trained_on(model, cases):
            data = cases
        elif cases is not None and test is None:
            note("note: the model was not trained on these cases: they are used for the evaluation")
            test = cases
        elif cases is not None:
            raise click.UsageError("FILE is not the model's training data: omit it, or omit --test")
    with progress_bars() as bars:
        return report(model, data, test=test, plan=learner, seed=seed, progress=bars, **settings)


@contextmanager
def progress_bars() -> Iterator[Callable[[str, int, int], None]]:
    """Show one bar after the other, each for a part of the work."""
    with ExitStack() as opened:
        bars: dict[str, Callable[[int, int], None]] = {}

        def show(what: str, done: int, total: int) -> None:
            if what not in bars:
                opened.close()
                bars.clear()
                bars[what] = opened.enter_context(progress_bar(what))
            bars[what](done, total)

        yield show


def _trained(data: Dataset, learner: Learner) -> TreeModel | RuleModel:
    from treewright.fitting.learn import fit

    with progress_bar("growing") as bar:
        return cast("TreeModel | RuleModel", fit(data, learner, progress=bar))  # no ensembles are offered


def _cases(model: TreeModel | RuleModel, source: str, how: dict[str, Any]) -> Dataset:
    """Read cases as the model's schema has them, with their target; attributes may have new values, as always."""
    from treewright.data.dataset import Unseen, encode
    from treewright.data.read import read_for, require_rows
    from treewright.errors import DataError
    from treewright.wording import unknown_name

    with reading(source):
        raw = read_for(source, model.schema, **how)
    require_rows(raw)
    target = str(model.schema.target)
    if target not in raw.columns:
        raise DataError(f"{unknown_name('column', target, raw.columns)}; the target is needed", source=raw.source)
    return encode(raw, model.schema, unseen=Unseen.MISSING)


def _was_trained_on(model: TreeModel | RuleModel, cases: Dataset) -> bool:
    """Return True if cases have the name and the number of the training cases."""
    trained_on = model.provenance
    same_name = PurePath(str(trained_on.get("source"))).name == PurePath(str(cases.source)).name
    return same_name and trained_on.get("rows") == cases.n_rows
