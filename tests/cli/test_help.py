"""Help pages: groups, examples that run, widths, and the options of each algorithm."""

from __future__ import annotations

import importlib
import re
import shlex
from pathlib import Path

import click
import pytest
from rich.text import Text

from cli.shell import WEATHER, Shell
from treewright.cli import help as help_pages
from treewright.cli.help import GROUPS, Option, Page, Section, Verb, plain
from treewright.cli.learners import (
    DEFAULT,
    LearnerVerb,
    is_learner_option,
    learner_for,
    learner_parameters,
    listed_names,
    options_of,
)
from treewright.cli.main import EXAMPLES, VERBS
from treewright.errors import ParameterError
from treewright.fitting.algorithms import algorithms

TITLES = [group.capitalize() for group in GROUPS]


def command_of(verb: str) -> Verb:
    command = importlib.import_module(f"treewright.cli.{verb.replace('-', '_')}").command
    assert isinstance(command, Verb)
    return command


OPTIONS = {str(one.name): one for one in learner_parameters(algorithms(variants=False)) if one.known_to is not None}


def parameters_of(command: Verb) -> list[click.Parameter]:
    return command.get_params(click.Context(command, help_option_names=["-h", "--help"]))


def listed_options(page: str) -> set[str]:
    """Return the long names (or the only letter) at the beginning of the rows of a page."""
    heads = re.findall(r"^  (-[^\n]*?)(?:  |$)", page, flags=re.MULTILINE)
    return {max(re.findall(r"--?[\w-]+", head), key=len) for head in heads}


# -- groups and order --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", VERBS)
def test_every_option_of_every_verb_has_a_group_and_help(verb: str) -> None:
    for parameter in parameters_of(command_of(verb))[:-1]:
        if isinstance(parameter, click.Option):
            assert isinstance(parameter, Option), parameter.name
            assert parameter.group in GROUPS
            assert (parameter.help or "").endswith("."), parameter.name


@pytest.mark.parametrize("verb", VERBS)
def test_examples_follow_the_usage_and_groups_have_one_order(shell: Shell, verb: str) -> None:
    lines = shell.fine(verb, "--help").out.splitlines()
    assert lines[0].startswith(f"Usage: treewright {verb}")
    assert lines[2] == "Examples:"
    assert 2 <= len(command_of(verb).examples) <= 4
    titles = [line.removesuffix(":") for line in lines[3:] if line.removesuffix(":") in TITLES]
    assert titles == [title for title in TITLES if title in titles]
    assert titles[-1] == "Help"


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("width", [80, 100, 140])
def test_pages_are_plain_text_as_wide_as_the_terminal(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, verb: str, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    page = shell.fine(verb, "--help").out
    assert max(map(len, page.splitlines())) <= width
    assert page.isascii()


def test_help_on_training_fits_two_screens(shell: Shell) -> None:
    assert len(shell.fine("train", "--help").out.splitlines()) <= 85


@pytest.mark.parametrize("width", [80, 100])
def test_a_terminal_gets_the_same_words_with_style(monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    command = command_of("train")
    page = command.page(click.Context(command, info_name="treewright train"))
    monkeypatch.setattr(help_pages, "_takes_style", lambda: True)
    shown = help_pages.printed(page)
    assert "\x1b[" in shown
    bare = Text.from_ansi(shown).plain
    assert max(map(len, bare.splitlines())) <= width
    assert sorted(re.findall(r"[\w-]+", bare)) == sorted(re.findall(r"[\w-]+", plain(page, width)))


def test_long_names_have_a_line_of_their_own() -> None:
    page = Page("x", sections=[Section("Data", [("--" + "a" * 40, "Long."), ("-b", "Short.")])])
    assert plain(page, 60).splitlines()[2:] == ["Data:", f"  --{'a' * 40}", "      Long.", "  -b  Short."]


# -- examples ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def prepared(shell: Shell) -> Shell:
    """Return a shell in a folder with the files that the examples name."""
    duckdb = pytest.importorskip("duckdb")
    for name in ("test.csv", "new.csv"):
        shell.write(name, WEATHER)
    shell.fine("train", "weather.csv", "-t", "play", "--folds", "0", "-o", "weather.model.json")
    shell.fine("train", "weather.csv", "-t", "play", "-a", "forest", "--trees", "5", "-o", "forest.json")
    Path("data").mkdir()
    with duckdb.connect("w.db") as database:
        database.execute("CREATE TABLE new AS SELECT * FROM 'new.csv'")
        database.execute("COPY (SELECT * FROM 'weather.csv') TO 'data/weather.parquet'")
    return shell


@pytest.mark.parametrize("verb", [None, *VERBS])
def test_examples_run(prepared: Shell, verb: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("treewright.fitting.warm_up.compile_all", lambda *_: prepared.folder)  # it takes minutes
    for example in EXAMPLES if verb is None else command_of(verb).examples:
        program, *arguments = shlex.split(example, comments=True)
        assert program == "treewright"
        result = prepared(*arguments)
        assert result.code == 0, f"{example}: {result.err}"


# -- the options of an algorithm ---------------------------------------------------------------------------------------


def test_help_of_an_algorithm_lists_exactly_its_options(shell: Shell) -> None:
    for algorithm in listed_names():
        known = {max(OPTIONS[name].opts, key=len) for name in options_of(algorithm)}
        letters = {"-g": "criterion", "-c": "confidence", "--no-prune": "prune"}
        accepted = {letter for letter, name in letters.items() if name in options_of(algorithm)}
        if algorithm == "cart":
            accepted.discard("-g")  # the gain is no criterion of CART
        assert listed_options(shell.fine("train", "--help-algorithm", algorithm).out) == known | accepted


def test_an_ensemble_names_the_options_of_its_trees(shell: Shell) -> None:
    for algorithm in listed_names("ensemble"):
        page = shell.fine("train", "--help-algorithm", algorithm).out
        assert "Options of the trees" in page
        assert "--missing-values" in page


@pytest.mark.parametrize("verb", ["train", "cv", "report"])
def test_help_lists_the_options_of_the_default_and_names_the_others(shell: Shell, verb: str) -> None:
    page = shell.fine(verb, "--help").out
    command = command_of(verb)
    assert isinstance(command, LearnerVerb)
    known = {max(one.opts, key=len) for one in parameters_of(command) if one.name in options_of(DEFAULT)}
    rows = listed_options(page)
    assert known <= rows
    strangers = {max(one.opts, key=len) for one in parameters_of(command) if is_learner_option(one)} - known
    assert strangers & rows == {"-g", "-c", "--no-prune"}
    assert re.search(r"^  chaid +--min-split .*--alpha-split", page, flags=re.MULTILINE)


def test_rules_show_their_own_options_only(shell: Shell) -> None:
    page = shell.fine("rules", "--help").out
    assert "--validation" in page
    assert "other algorithms" not in page
    assert "--alpha-split" not in page


def test_an_unknown_algorithm_gets_the_list_and_the_nearest_name(shell: Shell) -> None:
    result = shell("train", "--help-algorithm", "chiad")
    assert result.code == 2
    assert "'chiad' is not one of c45, " in result.error
    assert "; did you mean 'chaid'?" in result.error
    assert "'xyzzy' is not one of c45, id3, " in shell("cv", "weather.csv", "-a", "xyzzy").error


def test_tuning_shows_what_it_tries(shell: Shell) -> None:
    assert "confidence 10 %, 2 objects" in shell.fine("tune", "--help-algorithm", "c45").out


NEEDED = {
    "significance": {"prune": "chi_square"},
    "alpha": {"prune": "cost_complexity"},
    "xval": {"choose": "min"},
    "max_surrogates": {"missing_values": "surrogate"},
}
"""Options without which another is not checked."""


@pytest.mark.parametrize("name", [name for name, one in OPTIONS.items() if one.bounds is not None])
def test_shown_ranges_are_the_ones_that_hold(name: str) -> None:
    bounds = OPTIONS[name].bounds
    assert bounds is not None
    step = 1 if isinstance(bounds, click.IntRange) else 1e-9
    for algorithm in OPTIONS[name].known_to or ():
        for limit, is_open, direction in ((bounds.min, bounds.min_open, 1), (bounds.max, bounds.max_open, -1)):
            if limit is None:
                continue
            inside = limit + direction * step if is_open else limit
            beyond = limit if is_open else limit - direction * step
            learner_for(algorithm, {**NEEDED.get(name, {}), name: inside})
            with pytest.raises(ParameterError):
                learner_for(algorithm, {**NEEDED.get(name, {}), name: beyond})


PLAIN_DEFAULTS = [
    (algorithm, str(option.name), default)
    for option in OPTIONS.values()
    for algorithm in option.known_to or ()
    for default in [option.default_text.get(algorithm) if isinstance(option.default_text, dict) else None]
    if default is not None and re.fullmatch(r"[\w.]+", default) and default not in ("none", "all")
]


@pytest.mark.parametrize(("algorithm", "name", "default"), PLAIN_DEFAULTS)
def test_shown_defaults_are_the_ones_that_hold(algorithm: str, name: str, default: str) -> None:
    option = OPTIONS[name]
    value = option.type.convert(default, option, None)
    needed = NEEDED.get(name, {})
    assert learner_for(algorithm, {**needed, name: value}).to_dict() == learner_for(algorithm, dict(needed)).to_dict()
