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
