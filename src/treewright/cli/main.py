"""The command `treewright`: finds the verb, and turns errors into one line and an exit code.

Exit codes: 0 fine, 1 failed, 2 wrong call, 3 bad data, 130 interrupted.
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any

import rich_click as click
from click.exceptions import Exit

from treewright._base.errors import DataError, ModelFormatError, ParameterError, TreewrightError
from treewright._base.near_names import did_you_mean
from treewright._base.version import __version__

VERBS = ("train", "predict", "show", "explain", "data")

FAILED, USAGE, BAD_DATA, INTERRUPTED = 1, 2, 3, 130


class Verbs(click.RichGroup):
    """The verbs, imported one by one when they are asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the verbs in the order of their use."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a verb."""
        if cmd_name not in VERBS:
            return None
        module = importlib.import_module(f"treewright.cli.{cmd_name}")
        command: click.Command = module.command
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Say the nearest verb when there is none of that name."""
        if args and not args[0].startswith("-") and args[0] not in VERBS:
            hint = did_you_mean(args[0], VERBS) or f"; verbs: {', '.join(VERBS)}"
            raise click.UsageError(f"there is no verb {args[0]!r}{hint}", ctx)
        return super().resolve_command(ctx, args)


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="treewright")
def treewright() -> None:
    """Decision trees that show their working.

    First model in one command: treewright train sample:play-tennis
    """


def main() -> None:
    """Run the command line; the entry point of the package."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run with these arguments and return the exit code."""
    try:
        treewright.main(arguments, prog_name="treewright", standalone_mode=False)
        sys.stdout.flush()
    except Exit as stop:
        return stop.exit_code
    except click.UsageError as error:
        error.show()
        return USAGE
    except click.ClickException as error:
        error.show()
        return FAILED
    except BrokenPipeError:
        # The reader (head, less) has gone: nothing more to say, also not while Python closes the stream.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (KeyboardInterrupt, click.Abort):
        return _told("interrupted", INTERRUPTED)
    except ParameterError as error:
        return _told(str(error), USAGE)
    except (DataError, ModelFormatError) as error:
        return _told(str(error), BAD_DATA)
    except TreewrightError as error:
        return _told(str(error), FAILED)
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        return _told(f"{place}{error.strerror or error}", FAILED)
    except MemoryError:
        return _told("there is not enough memory for this", FAILED)
    return 0


def _told(message: str, code: int) -> int:
    from treewright._base.printable import printable

    click.echo(f"treewright: {printable(message)}", err=True)
    return code
