"""Count what a reader passes through: functions between `train FILE` and the saved model, and frames above a kernel.

    python scripts/functions_between.py            # both counts
    python scripts/functions_between.py --list     # and the names

The first count is of distinct functions of the package that run in a process of their own while `treewright train FILE`
reads 500 rows, grows a tree, estimates it by ten folds and saves it, imports included. Class bodies, which a profiler
reports as calls, are counted apart; a comprehension belongs to the function around it. The second is the depth of the
call stack, from `RandomForestClassifier.fit` to the first kernel that grows trees; a thread continues the stack of the
function that gives it work.
"""

from __future__ import annotations

import argparse
import importlib.util
import inspect
import os
import subprocess
import sys
import tempfile
import threading
from collections import defaultdict
from pathlib import Path
from types import CodeType, FrameType
from typing import Any


def made_table(path: Path) -> None:
    """Write 500 rows with numbers, categories, missing values and two classes."""
    import numpy as np

    random = np.random.default_rng(18)
    age, income = random.integers(18, 80, 500), random.normal(40, 12, 500).round(1)
    city = random.choice(["Basel", "Lyon", "Turin"], 500)
    buys = np.where((age > 40) & (income > 38) | (city == "Lyon") & (random.random(500) < 0.7), "yes", "no")
    rows = zip(age, ["" if row % 20 == 0 else one for row, one in enumerate(income)], city, buys, strict=True)
    lines = ["age,income,city,buys", *(",".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def train_and_count(path: str, *, names: bool) -> None:
    """Run the command in this process, which has imported nothing of the package, and print the counts."""
    found = importlib.util.find_spec("treewright")
    [package] = [] if found is None else found.submodule_search_locations or []
    seen: set[CodeType] = set()

    def profile(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            seen.add(frame.f_code)

    threading.setprofile(profile)
    sys.setprofile(profile)
    try:
        from treewright.cli.main import run

        code = run(["train", path, "--target", "buys", "--output", f"{path}.model.json"])
    finally:
        sys.setprofile(None)
    if code:
        sys.exit(code)
    functions: dict[str, set[str]] = defaultdict(set)
    classes: dict[str, set[str]] = defaultdict(set)
    for one in seen:
        if one.co_filename.startswith(package) and "<" not in one.co_name:
            found_in = functions if one.co_flags & inspect.CO_OPTIMIZED else classes
            found_in[os.path.relpath(one.co_filename, package)].add(one.co_qualname.split(".<locals>")[0])
    if names:
        for file in sorted({*functions, *classes}):
            bodies = [f"class:{name}" for name in sorted(classes[file])]
            print(f"{file}: {' '.join([*sorted(functions[file]), *bodies])}")
    n_functions, n_classes = (sum(map(len, one.values())) for one in (functions, classes))
    modules = len({file for one in (functions, classes) for file in one if one[file]})
    print(f"train: {n_functions} functions and {n_classes} class bodies in {modules} modules")


def frames_to_kernel() -> list[str]:
    """Return the functions of the package on the stack when the first kernel that grows trees is called."""
    import numpy as np

    import treewright
    from treewright.learners.kernels import bucketed_growth, node_loop

    random = np.random.default_rng(18)
    X = random.normal(size=(20_000, 8))
    y = (X[:, 0] + random.normal(size=20_000) > 0).astype(int)
    stacks: list[list[str]] = []
    package = str(Path(treewright.__file__).parent)

    def names(frame: FrameType | None) -> list[str]:
        found = []
        while frame is not None:
            if frame.f_code.co_filename.startswith(package) and "<listcomp>" not in frame.f_code.co_name:
                found.append(f"{Path(frame.f_code.co_filename).name}:{frame.f_code.co_qualname}")
            frame = frame.f_back
        return found[::-1]

    def noting(kernel: Any) -> Any:
        def call(*arguments: Any) -> Any:
            stacks.append(above.get(threading.current_thread().name, []) + names(sys._getframe(1)))
            return kernel(*arguments)

        return call

    for module in (bucketed_growth, node_loop):
        for name, one in list(vars(module).items()):
            if type(one).__name__ == "CPUDispatcher" and name.startswith("grow"):
                for user in list(sys.modules.values()):
                    if getattr(user, name, None) is one:
                        setattr(user, name, noting(one))
    above: dict[str, list[str]] = {}
    start = threading.Thread.start

    def started(self: threading.Thread) -> None:
        above[self.name] = names(sys._getframe(1))
        start(self)

    setattr(threading.Thread, "start", started)  # noqa: B010 - a method is replaced on purpose
    treewright.RandomForestClassifier(n_estimators=4, max_depth=6, random_state=1, n_jobs=1).fit(X, y)
    if not stacks:
        sys.exit("no kernel was called")
    return stacks[0]


def main() -> None:
    """Print both counts."""
    parser = argparse.ArgumentParser(description="Count functions and frames.")
    parser.add_argument("--list", action="store_true", help="print the names, too")
    parser.add_argument("--train", metavar="FILE", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.train:
        train_and_count(given.train, names=given.list)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "customers.csv"
        made_table(path)
        more = ["--list"] if given.list else []
        command = [sys.executable, __file__, "--train", str(path), *more]
        subprocess.run(command, check=True, capture_output=True)  # what is compiled or cached is so afterwards
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    lines = done.stdout.splitlines()
    print("\n".join(lines if given.list else lines[-1:]))
    frames = frames_to_kernel()
    if given.list:
        print("\n".join(f"{number:2} {name}" for number, name in enumerate(frames, start=1)))
    print(f"forest: {len(frames)} frames from fit to the kernel")


if __name__ == "__main__":
    main()
