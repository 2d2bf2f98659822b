"""The entry point of the command: so light that Ctrl-C is answered from the first moment."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line."""
    try:
        from treewright.cli.main import main as run_command_line

        run_command_line()
    except KeyboardInterrupt:  # while the imports still run
        sys.stderr.write("treewright: interrupted\n")
        sys.exit(130)
    finally:
        # Where Ctrl-C meets a text that Python runs (modules make their classes so), CPython takes it for unhandled
        # whoever handles it, and ends the process by the signal. The next text that it runs makes it forget that.
        exec("")  # noqa: S102
