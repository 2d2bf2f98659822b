"""treewright rules: a table in, IF ... THEN ... rules out."""

from __future__ import annotations

from typing import Any

import click

from treewright.cli.help import option
from treewright.cli.learners import LearnerVerb
from treewright.cli.options import (
    FILE,
    json_option,
    model_options,
    reading_options,
    schema_options,
    seed_option,
    target_option,
)
from treewright.cli.train import train


class RulesVerb(LearnerVerb):
    """A verb with the options of the algorithm `rules` only."""

    algorithm = "rules"


@click.command(
    "rules",
    cls=RulesVerb,
    examples=(
        "treewright rules weather.csv --target play",
        "treewright rules sample:contact-lenses --confidence 0.1 --folds 3",
    ),
)
@click.argument("source", metavar="FILE", type=FILE)
@target_option
@model_options
@option(
    "evaluation",
    "--folds",
    type=click.IntRange(min=0),
    default_text="10",
    help="Folds of the accuracy estimate; 0 skips it.",
)
@seed_option("rule selection and folds")
@schema_options
@reading_options
@json_option
def command(source: str, **rest: Any) -> None:
    """Train C4.5 rules on FILE; same as `train --algorithm rules`."""
    train(source, "rules", **rest)
