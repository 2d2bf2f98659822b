"""The full comparison: ``treewright bench --full``, which takes an hour or more; all of its options can be added.

python -m benchmarks.run --output results.json --plot growth.svg
python -m benchmarks.run --case continuous-8 --rows 100000
"""

from __future__ import annotations

import sys

from treewright.cli.main import run

if __name__ == "__main__":
    sys.exit(run(["bench", "--full", *sys.argv[1:]]))
