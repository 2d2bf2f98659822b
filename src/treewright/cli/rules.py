"""treewright rules: a table in, IF ... THEN ... rules out."""

from __future__ import annotations

from typing import Any

import rich_click as click

from treewright.cli.learners import learner_options
from treewright.cli.options import FILE, json_option, reading_options, schema_options
from treewright.cli.train import learn_and_tell


@click.command("rules")
@click.argument("source", metavar="FILE", type=FILE)
@click.option("-t", "--target", metavar="COL", help="The column to predict.")
@click.option("-o", "--output", metavar="FILE", type=FILE, help="Where the model goes (default: NAME.model.json here).")
@click.option("--no-save", is_flag=True, help="Do not write a model.")
@click.option("--folds", type=click.IntRange(min=0), help="Folds of the estimate; 0 for none (default 10).")
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of the search and of the folds."
)
@learner_options
@schema_options
@reading_options
@json_option
def command(source: str, **rest: Any) -> None:
    """Learn C4.5 rules from FILE: the same as `train --algorithm rules`."""
    learn_and_tell(source, "rules", **rest)
