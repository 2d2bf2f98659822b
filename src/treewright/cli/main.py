"""The command `treewright`: finds the verb, and turns errors into one line and an exit code.

Exit codes: 0 fine, 1 failed, 2 wrong call, 3 bad data, 130 interrupted.
"""

from __future__ import annotations

import importlib
import io
import os
import sys
from typing import Any

import click
from click.exceptions import Exit

from treewright.cli.help import Page, Section, in_groups, paragraphs, printed, usage_line
from treewright.errors import DataError, ModelFormatError, ParameterError, TreewrightError
from treewright.version import __version__
from treewright.wording import did_you_mean

VERBS = {
    "train": "Train a tree, rules or an ensemble on FILE, print it and estimate its accuracy.",
    "rules": "Train C4.5 rules on FILE; same as `train --algorithm rules`.",
    "predict": "Predict the cases of FILE with MODEL.",
    "evaluate": "Evaluate the predictions of MODEL on FILE, which must contain the target.",
    "cv": "Estimate the accuracy of an algorithm on unseen cases by cross-validation.",
    "compare": "Compare algorithms on FILE by cross-validation, with tests of significance.",
    "tune": "Choose the options of an algorithm by nested cross-validation and save the best model.",
    "show": "Print the tree or the rules of MODEL, or draw the tree (-o tree.svg, .html, .png, .pdf).",
    "export": "Write the tree of MODEL for Graphviz, Mermaid, LaTeX, browsers or printers.",
    "explain": "Explain a split of MODEL: frequency tables and calculation for every attribute at a node.",
    "report": "Write a report on a tree as one HTML file: tree, splits, pruning, accuracy, rules, data.",
    "prune": "Prune the tree of MODEL and print the result.",
    "distil": "Approximate FOREST by a single tree; FILE is the training data of the forest.",
    "data": "Show the type, the values and the missing values of each column of FILE.",
    "warm-up": "Compile the kernels for all usual kinds of tables, once, and store the code.",
}
"""The verbs in the order of their use, each with its first line of help: `--help` imports none of their modules."""

EXAMPLES = (
    "treewright train sample:play-tennis",
    "treewright train weather.csv --target play",
    "treewright explain weather.model.json",
    "treewright predict weather.model.json new.csv",
)

FAILED, USAGE, BAD_DATA, INTERRUPTED = 1, 2, 3, 130


class Verbs(click.Group):
    """The verbs, each imported when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the verbs in the order of their use."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a verb for a list of verbs, which needs its line of help and none of its modules."""
        return click.Command(cmd_name, help=VERBS[cmd_name]) if cmd_name in VERBS else None

    def get_help(self, ctx: click.Context) -> str:
        """Return the help page: examples, verbs, options."""
        sections = [Section("Verbs", list(VERBS.items())), *in_groups(self.get_params(ctx))]
        return printed(Page(usage_line(ctx), EXAMPLES, paragraphs(self.help), sections))

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Import the verb that is to be run; suggest the nearest one if there is none of that name."""
        name = args[0]
        if name in VERBS:
            return name, importlib.import_module(f"treewright.cli.{name.replace('-', '_')}").command, args[1:]
        if name.startswith("-"):
            return super().resolve_command(ctx, args)
        hint = did_you_mean(name, VERBS) or f"; verbs: {', '.join(VERBS)}"
        raise click.UsageError(f"there is no verb {name!r}{hint}", ctx)


@click.group(
    "treewright",
    cls=Verbs,
    invoke_without_command=True,
    subcommand_metavar="COMMAND [ARGS]...",
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="treewright")
@click.pass_context
def treewright(ctx: click.Context) -> None:
    """Decision trees that explain every split."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help(), err=True)
        ctx.exit(USAGE)


def main() -> None:
    """Run the command line; the entry point of the package."""
    for stream in (sys.stdout, sys.stderr):
        _widen(stream)
    sys.exit(run(sys.argv[1:]))


def _widen(stream: Any) -> None:
    """Let every character through: UTF-8 into files and pipes, an escape where a terminal lacks the character."""
    if isinstance(stream, io.TextIOWrapper):
        chosen = stream.isatty() or "PYTHONIOENCODING" in os.environ
        stream.reconfigure(encoding=None if chosen else "utf-8", errors="backslashreplace")


def run(arguments: list[str], command: click.Command = treewright, name: str = "treewright") -> int:
    """Run a command with these arguments and return the exit code."""
    try:
        code = command.main(arguments, prog_name=name, standalone_mode=False)
        if sys.stdout is not None:
            sys.stdout.flush()
    except Exit as stop:
        return stop.exit_code
    except SystemExit as stop:
        # The reader (head, less) stopped reading, which Click turns into an exit: not a failure.
        if isinstance(stop.__context__, BrokenPipeError):
            return _reader_left()
        return stop.code if isinstance(stop.code, int) else FAILED
    except BrokenPipeError:
        return _reader_left()
    except click.UsageError as error:
        help_line = f" (see {error.ctx.command_path} --help)" if error.ctx is not None else ""
        return _failed(f"{error.format_message().rstrip('.')}{help_line}", USAGE)
    except click.ClickException as error:
        return _failed(error.format_message(), FAILED)
    except (KeyboardInterrupt, click.Abort):
        return _failed("interrupted", INTERRUPTED)
    except ParameterError as error:
        return _failed(str(error), USAGE)
    except (DataError, ModelFormatError) as error:
        return _failed(str(error), BAD_DATA)
    except TreewrightError as error:
        return _failed(str(error), FAILED)
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        return _failed(f"{place}{error.strerror or error}", FAILED)
    except MemoryError:
        return _failed("there is not enough memory for this", FAILED)
    return code if isinstance(code, int) else 0  # Click hands back the code of `ctx.exit`


def _reader_left() -> int:
    """Print nothing more, not even while Python closes the stream."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _failed(message: str, code: int) -> int:
    from treewright.wording import printable

    click.echo(f"treewright: {printable(message)}", err=True)
    return code
