"""Transcripts of the command line, kept as text: help, output, messages and the words of the report page.

``python -m frozen.transcripts --write`` (from ``tests``) rewrites them. Each difference is reviewed like any other
change of the text, and the upgrade notes list those that users notice.
"""

from __future__ import annotations

import argparse
import difflib
import html
import re
import shlex
import sys
import tempfile
from pathlib import Path

import treewright as tw
from frozen import command

FOLDER = Path(__file__).resolve().parent / "transcripts"

VERBS = (
    "train", "predict", "evaluate", "cv", "compare", "tune", "explain", "show", "export", "prune", "report", "rules",
    "distil", "data", "warm-up",
)  # fmt: skip

SESSIONS: dict[str, tuple[str, ...]] = {
    "help": ("--help", *(f"{verb} --help" for verb in VERBS)),
    "data": ("data sample:play-tennis", "data --list", "data sample:contact-lenses --json"),
    "train": (
        "train sample:play-tennis --output m.json",
        "train sample:play-tennis -a id3 --no-save",
        "train sample:contact-lenses -a cart --folds 4 --no-save",
        "train sample:contact-lenses -a chaid --folds 0 --no-save",
        "train sample:cal3 -a cal3 --folds 0 --no-save",
        "train sample:contact-lenses -a rules --folds 3 --no-save",
        "train sample:contact-lenses --dialect r8 --folds 3 --no-save",
        "train sample:contact-lenses --dialect j48 --folds 3 --no-save",
        "train sample:contact-lenses -a cart --missing-values surrogate --cp 0.01 --folds 0 --no-save",
        "train sample:contact-lenses -a forest --trees 5 --no-save",
        "train sample:contact-lenses -a adaboost --trees 5 --folds 3 --no-save",
        "train sample:play-tennis --json --no-save",
        "train cases.csv --target y --dry-run --engine duckdb",
        "train cases.csv --target y --engine duckdb --finish-rows 0 --no-save",
    ),
    "use": (
        "train sample:play-tennis --output m.json --folds 0",
        "predict m.json sample:play-tennis --proba",
        "evaluate m.json sample:play-tennis",
        "show m.json",
        "show m.json --json",
        "rules m.json",
        "export m.json --to dot",
        "prune m.json --method mdl --output p.json",
        "train sample:restaurant -a cart --output c.json --folds 0",
        "evaluate c.json sample:restaurant --json",
    ),
    "explain": (
        "train sample:play-tennis --output m.json --folds 0",
        "explain m.json",
        "explain m.json --node root",
        "explain m.json --node root --lang de",
        "explain m.json --node root --lang it",
        "explain m.json --node root --lang zh",
        "explain m.json --pruning --data sample:play-tennis",
        "explain m.json --case Outlook=Sunny",
        "train sample:contact-lenses -a chaid --output h.json --folds 0",
        "explain h.json --node root",
        "train sample:cal3 -a cal3 --output k.json --folds 0",
        "explain k.json --node root",
    ),
    "evaluation": (
        "cv sample:restaurant --folds 3",
        "cv sample:restaurant -a cart --folds 3 --json",
        "compare sample:restaurant --folds 3",
        "tune sample:restaurant --folds 3 --grid confidence=0.1,0.25",
    ),
    "messages": (
        "train",
        "train absent.csv",
        "train empty.csv --target y",
        "train cases.csv --target nothing",
        "train cases.csv --target y -a nothing",
        "train cases.csv --target y --criterion nothing",
        "train cases.csv --target y -a id3 --cp 0.1",
        "train cases.csv --target y --max-depth 0",
        "train cases.csv --target y -a cal2 --weight x",
        "train cases.csv --target x -a c45",
        "show absent.json",
        "show damaged.json",
        "predict damaged.json cases.csv",
        "explain absent.json",
        "nothing",
    ),
}
"""The commands of each transcript."""


def transcript(name: str) -> str:
    """Run the commands of a transcript in a fresh folder and return what they print."""
    with tempfile.TemporaryDirectory() as folder, command.fixed_environment(Path(folder)):
        _write_files(Path(folder))
        parts = [_run(line, Path(folder)) for line in SESSIONS[name]]
    return "\n".join(parts)


def page_words() -> str:
    """Return the words of a report page, line by line, without its data and scripts."""
    with tempfile.TemporaryDirectory() as folder, command.fixed_environment(Path(folder)):
        printed = command.run("report", "sample:play-tennis", "--folds", "3", "--no-curve", "-o", "page.html")
        assert printed.code == 0, printed.err
        page = Path("page.html").read_text(encoding="utf-8")
    page = re.sub(r"<(script|style)\b.*?</\1>", "", page, flags=re.DOTALL)
    lines = (
        html.unescape(re.sub(r"<[^>]*>", "", line)).strip() for line in re.sub(r"(<[^/])", r"\n\1", page).split("\n")
    )
    return masked("\n".join(line for line in lines if line) + "\n", Path("page"))


def masked(text: str, folder: Path) -> str:
    """Leave out what changes with the release, the folder and the hour."""
    text = text.replace(str(folder.resolve()), "FOLDER").replace(str(folder), "FOLDER")
    text = text.replace(tw.__version__, "VERSION")
    text = re.sub(r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2})?)?", "DATE", text)
    text = re.sub(r"sha256:[0-9a-f]+", "sha256:HASH", text)
    text = re.sub(r"\b\d+(\.\d+)? (ms|s|seconds)\b", "TIME", text)
    if re.search(r" seconds$", text, re.MULTILINE):  # a table whose last column is the time
        text = re.sub(r"\b\d+\.\d\d$", "TIME", text, flags=re.MULTILINE)
    text = re.sub(r'"seconds": [-+.e\d]+', '"seconds": TIME', text)
    return "\n".join(line.rstrip() for line in text.split("\n"))


def _write_files(folder: Path) -> None:
    rows = [f"{number},{'abc'[number % 3]},{'yes' if number % 3 == 1 or number > 25 else 'no'}" for number in range(40)]
    (folder / "cases.csv").write_text("\n".join(["x,letter,y", *rows]) + "\n", encoding="utf-8")
    (folder / "empty.csv").write_text("", encoding="utf-8")
    (folder / "damaged.json").write_text('{"format": "treewright', encoding="utf-8")


def _run(line: str, folder: Path) -> str:
    printed = command.run(*shlex.split(line))
    parts = [f"$ treewright {line}", printed.out.rstrip("\n")]
    if printed.err.strip():
        parts += ["-- to standard error:", printed.err.rstrip("\n")]
    if printed.code:
        parts.append(f"-- exit status {printed.code}")
    return masked("\n".join(part for part in parts if part) + "\n", folder)


def current() -> dict[str, str]:
    """Return all transcripts as they are now."""
    return {name: transcript(name) for name in SESSIONS} | {"page": page_words()}


def main() -> int:
    """Compare or rewrite the transcripts."""
    parser = argparse.ArgumentParser(prog="python -m frozen.transcripts", description="Compare what is printed.")
    parser.add_argument("--write", action="store_true", help="rewrite the transcripts")
    write = parser.parse_args().write
    failed = False
    for name, text in current().items():
        path = FOLDER / f"{name}.txt"
        before = path.read_text(encoding="utf-8") if path.exists() else ""
        lines = difflib.unified_diff(before.splitlines(), text.splitlines(), f"kept/{name}", f"now/{name}", lineterm="")
        changes = "\n".join(lines)
        failed = failed or bool(changes)
        if write:
            FOLDER.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        elif changes:
            sys.stdout.write(changes + "\n")
    return int(failed and not write)


if __name__ == "__main__":
    sys.exit(main())
