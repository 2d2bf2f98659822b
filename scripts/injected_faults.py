"""Put one fault at a time into a copy of the package, and show which test of the short tier finds it.

    python scripts/injected_faults.py            # all faults, a few minutes
    python scripts/injected_faults.py pruning    # those of one package

Each fault is a small mistake that a change could make. Only the tests that mirror the file are run, without those of
the full tier. A fault that no test finds, or that is no longer to be found in the source, makes the script fail.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Fault:
    """A text of a source file and the wrong text in its place."""

    file: str
    right: str
    wrong: str
    tests: str

    @property
    def package(self) -> str:
        """The package in which the fault is made."""
        return self.file.split("/")[0]


FAULTS = (
    Fault(
        "data/infer.py", "0 < len(distinct) <= limit and", "0 < len(distinct) < limit and", "tests/data/test_infer.py"
    ),
    Fault(
        "tree/split.py",
        "np.where(values <= self.cut, 0, 1)",
        "np.where(values < self.cut, 0, 1)",
        "tests/tree/test_split.py",
    ),
    Fault(
        "counting/numpy.py",
        "weights * share, weights)[mask]",
        "weights, weights)[mask]",
        "tests/counting/test_numpy.py",
    ),
    Fault(
        "learners/criteria.py",
        "branches = np.concatenate((unknown.sum(keepdims=True), branches))",
        "pass",
        "tests/learners/test_criteria.py",
    ),
    Fault(
        "pruning/error_based.py",
        "return number <= bound or",
        "return number < 0.9 * bound or",
        "tests/pruning/test_error_based.py",
    ),
    Fault("ensembles/adaboost.py", "+ log(classes - 1)", "+ log(classes)", "tests/ensembles/test_adaboost.py"),
    Fault(
        "fitting/learn.py",
        "weights=own * factors[dataset.target]",
        "weights=factors[dataset.target]",
        "tests/fitting/test_learn.py tests/fitting/test_learn_more.py",
    ),
    Fault(
        "evaluation/cross_validation.py",
        "NormalDist().inv_cdf(0.5 + confidence / 2)",
        "NormalDist().inv_cdf(confidence)",
        "tests/evaluation/test_cross_validation.py",
    ),
    Fault(
        "explain/attribute.py",
        "log2(one.tries) / weight",
        "log2(one.tries + 1) / weight",
        "tests/explain/test_blackboard.py tests/explain/test_node.py",
    ),
    Fault(
        "drawing/layout.py",
        "for node in range(len(parents) - 1, -1, -1):",
        "for node in range(len(parents) - 1, 0, -1):",
        "tests/drawing/test_layout.py tests/drawing/test_tree_layout.py",
    ),
    Fault("export/dot.py", """.replace("&", "&amp;")""", "", "tests/export/test_dot.py"),
    Fault(
        "html_report/pruning_slider.py",
        "sqrt(alpha * after)",
        "alpha + after",
        "tests/html_report/test_pruning_slider.py",
    ),
    Fault(
        "estimators/base.py",
        "else shares[:, self._columns]",
        "else shares",
        "tests/estimators/test_c45.py tests/estimators/test_cart.py",
    ),
    Fault(
        "cli/main.py",
        "return _failed(str(error), BAD_DATA)",
        "return _failed(str(error), FAILED)",
        "tests/cli/test_main.py",
    ),
)


def copy_of(folder: Path) -> Path:
    """Copy what the tests need, with the compiled kernels."""
    for name in ("src", "tests", "benchmarks", "docs", "README.md", "pyproject.toml", "scripts"):
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name)
        else:
            shutil.copy2(source, folder / name)
    return folder


def first_failure(copy: Path, fault: Fault) -> str | None:
    """Return the first test that fails with the fault, None if all pass."""
    path = copy / "src" / "treewright" / fault.file
    text = path.read_text(encoding="utf-8")
    if text.count(fault.right) != 1:
        sys.exit(f"{fault.file} must have {fault.right!r} once: change the fault")
    path.write_text(text.replace(fault.right, fault.wrong), encoding="utf-8")
    try:
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "pytest",
                "-q",
                "-x",
                "-p",
                "no:cacheprovider",
                "-m",
                "not full",
                *fault.tests.split(),
            ],
            cwd=copy,
            env={**os.environ, "PYTHONPATH": str(copy / "src"), "TREEWRIGHT_ORACLE": oracle()},
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        path.write_text(text, encoding="utf-8")
    found = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, flags=re.MULTILINE)
    return None if found is None else found[1]


def oracle() -> str:
    """Return the folder of the recorded results, which is relative to the checkout by default."""
    return os.environ.get("TREEWRIGHT_ORACLE", str(ROOT.parent / "shared" / "oracle"))


def main() -> None:
    """Try the faults of all packages, or of those that are named."""
    unknown = set(sys.argv[1:]) - {fault.package for fault in FAULTS}
    if unknown:
        sys.exit(f"no faults for {', '.join(sorted(unknown))}")
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = copy_of(Path(folder))
        for fault in FAULTS:
            if sys.argv[1:] and fault.package not in sys.argv[1:]:
                continue
            found = first_failure(copy, fault)
            missed += found is None
            print(f"{fault.file:32} {fault.right[:44]:46} {found or 'NOT FOUND'}", flush=True)
    sys.exit(missed)


if __name__ == "__main__":
    main()
