"""Make the pictures of the README and the guide from the programs they show: ``python scripts/pictures.py [FOLDER]``.

Everything comes from bundled tables, so that the same version makes the same pictures.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import textwrap
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path

from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine

import treewright
from treewright.atomic_file import write_atomically
from treewright.drawing.figure import DARK, LIGHT, Ground, save_figure
from treewright.drawing.markup import decimal, xml_text
from treewright.drawing.plot_compare import critical_difference_figure
from treewright.errors import DataWarning

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "pictures"

COLUMNS = 96
LETTER, ROW = 7.8, 18.0
"""Width of a letter and height of a line on a screen, in pixels."""

Picture = Callable[[Path], None]


def main(arguments: list[str]) -> int:
    """Make all pictures in a folder, `docs/pictures` if none is named."""
    folder = Path(arguments[0]) if arguments else FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for name, picture in PICTURES.items():
        picture(folder / name)
        sys.stdout.write(f"{folder / name}  {(folder / name).stat().st_size:,} bytes\n")
    return 0


# -- trees -------------------------------------------------------------------------------------------------------------


def play_tennis(path: Path) -> None:
    """Draw the tree of the lectures."""
    model = treewright.fit(treewright.sample("play-tennis"), treewright.c45())
    model.draw(path, title="Play tennis? C4.5 on 14 days")


def iris(path: Path) -> None:
    """Draw a tree of numbers, with the cases and the cuts at its nodes."""
    flowers = load_iris(as_frame=True)
    species = flowers.target_names[flowers.target]
    model = treewright.CARTClassifier(max_depth=3).fit(flowers.data, species)
    model.draw(path, data=flowers.data, y=species, title="Iris: CART, three levels, with the cases at each cut")


def diabetes(path: Path) -> None:
    """Draw a tree that predicts a number."""
    patients = load_diabetes(as_frame=True, scaled=False)
    model = treewright.CARTRegressor(max_depth=3).fit(patients.data, patients.target)
    model.draw(path, title="Diabetes: CART for a number, mean and spread at each node")


def critical_difference(path: Path) -> None:
    """Draw the ranks of four learners over small tables."""
    save_figure(critical_difference_figure(treewright.compare_over(_scores())), path)


@cache
def _scores() -> dict[str, dict[str, float]]:
    """Return the accuracies of four learners on small tables."""
    tables = {name: treewright.sample(name) for name in ("play-tennis", "contact-lenses", "restaurant")}
    for name, load in (("iris", load_iris), ("wine", load_wine), ("breast cancer", load_breast_cancer)):
        frame = load(as_frame=True).frame
        with tempfile.TemporaryDirectory() as folder:
            frame.to_csv(Path(folder) / "table.csv", index=False)
            tables[name] = treewright.read(Path(folder) / "table.csv", target="target")
    plans = {"ID3": treewright.id3(), "C4.5": treewright.c45(), "CART": treewright.cart(), "CHAID": treewright.chaid()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # small tables have folds without one class or another
        return {
            table: {name: treewright.estimate(data, plan, n_jobs=1).pooled for name, plan in plans.items()}
            for table, data in tables.items()
        }


# -- screens -----------------------------------------------------------------------------------------------------------


def train_screen(path: Path) -> None:
    """Show the first command that people meet."""
    write_atomically(path, screen("train sample:play-tennis", _ran("train", "sample:play-tennis")))


def explain_screen(path: Path) -> None:
    """Show the split trace of a root, as on a blackboard."""
    printed = _ran("explain", "play-tennis.model.json", first="sample:play-tennis")
    write_atomically(path, screen("explain play-tennis.model.json", printed))


def _ran(*arguments: str, first: str | None = None) -> str:
    """Run the command line in a folder of its own, on request after training on a table."""
    surroundings = {**os.environ, "COLUMNS": str(COLUMNS), "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"}

    def run(folder: str, *words: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "treewright", *words],
            cwd=folder, env=surroundings, capture_output=True, check=True, encoding="utf-8",
        )  # fmt: skip
        return done.stdout

    with tempfile.TemporaryDirectory() as folder:
        if first is not None:
            run(folder, "train", first)
        return run(folder, *arguments)


def screen(command: str, output: str) -> str:
    """Return a terminal window with a command and what it printed.

    Lines have a set length, so that columns stand under each other in any fixed-width font.
    """
    lines = [f"$ treewright {command}"]
    for line in output.rstrip("\n").split("\n"):
        lines += textwrap.wrap(line, COLUMNS) if len(line) > COLUMNS else [line]
    width = 2 * 18 + LETTER * max(len(line) for line in lines)
    height = 44 + ROW * len(lines) + 14
    fonts = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
    name = xml_text(f"Terminal: treewright {command}")
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="screen" role="img" aria-label="{name}" '
        f'width="{decimal(width)}" height="{decimal(height)}" viewBox="0 0 {decimal(width)} {decimal(height)}" '
        f'font-family="{fonts}" font-size="13">',
        f"<style>.ask{{font-weight:600}}{_colours(LIGHT)}",
        f"@media (prefers-color-scheme:dark){{{_colours(DARK)}}}</style>",
        f'<rect class="ground" x=".5" y=".5" width="{decimal(width - 1)}" height="{decimal(height - 1)}" rx="9"/>',
        *(f'<circle class="b{index}" cx="{20 + 18 * index}" cy="20" r="5.5"/>' for index in range(3)),
    ]
    for index, line in enumerate(lines):
        if line.strip():
            start = len(line) - len(line.lstrip())
            words = line.strip()
            x, y = 18 + LETTER * start, 56 + ROW * index
            kind = "ask" if index == 0 or line.endswith("  chosen") else "told"
            parts.append(
                f'<text class="{kind}" xml:space="preserve" x="{decimal(x)}" y="{decimal(y)}" '
                f'textLength="{decimal(LETTER * len(words))}" lengthAdjust="spacingAndGlyphs">{xml_text(words)}</text>'
            )
    return "\n".join([*parts, "</svg>"]) + "\n"


def _colours(ground: Ground) -> str:
    lights = "".join(f".b{index}{{fill:{ground.classes[code]}}}" for index, code in enumerate((1, 4, 2)))
    return (
        f".ground{{fill:{ground.box};stroke:{ground.border}}}"
        f".told{{fill:{ground.words}}}.ask{{fill:{ground.classes[0]}}}{lights}"
    )


PICTURES: dict[str, Picture] = {
    "play-tennis.svg": play_tennis,
    "play-tennis.png": play_tennis,
    "iris.svg": iris,
    "iris.png": iris,
    "diabetes.svg": diabetes,
    "critical-difference.png": critical_difference,
    "train.svg": train_screen,
    "explain.svg": explain_screen,
}
"""Every picture and who makes it."""

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
