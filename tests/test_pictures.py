"""The pictures of the README are made by their script, small, well-formed, and as the program is now."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import pytest

SCRIPT = Path(__file__).resolve().parent.parent / "scripts" / "pictures.py"


@pytest.fixture(scope="module")
def pictures() -> Iterator[ModuleType]:
    """Load the script as a module."""
    spec = importlib.util.spec_from_file_location("pictures", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["pictures"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["pictures"]


def test_every_picture_is_there_and_small(pictures: ModuleType) -> None:
    for name in pictures.PICTURES:
        size = (pictures.FOLDER / name).stat().st_size
        assert 0 < size < 150_000
        if name.endswith(".svg"):
            root = ElementTree.parse(pictures.FOLDER / name).getroot()  # noqa: S314
            assert root.tag == "{http://www.w3.org/2000/svg}svg"
            assert "http" not in (pictures.FOLDER / name).read_text(encoding="utf-8").replace(
                "http://www.w3.org/2000/svg", ""
            )


@pytest.mark.parametrize("name", ["play-tennis.svg", "iris.svg", "diabetes.svg"])
def test_trees_are_drawn_as_the_program_draws_them_now(pictures: ModuleType, tmp_path: Path, name: str) -> None:
    pictures.PICTURES[name](tmp_path / name)
    assert (tmp_path / name).read_bytes() == (pictures.FOLDER / name).read_bytes(), "run `make pictures`"


def test_screens_show_the_command_and_wrap_long_lines(pictures: ModuleType) -> None:
    text = pictures.screen("train <x>", "first\n\n  second  chosen\n" + "word " * 60)
    root = ElementTree.fromstring(text)  # noqa: S314
    shown = [(one.get("class"), one.text or "") for one in root.iter("{http://www.w3.org/2000/svg}text")]
    assert shown[:3] == [("ask", "$ treewright train <x>"), ("told", "first"), ("ask", "second  chosen")]
    assert len(shown) == 7
    assert all(len(words) <= pictures.COLUMNS for _, words in shown)


def test_screen_of_the_first_command(pictures: ModuleType, tmp_path: Path) -> None:
    pictures.PICTURES["train.svg"](tmp_path / "train.svg")
    assert "treewright train sample:play-tennis" in (tmp_path / "train.svg").read_text(encoding="utf-8")


@pytest.mark.slow
def test_all_pictures_are_made_again_byte_for_byte(
    pictures: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in ("one", "two"):
        assert pictures.main([str(tmp_path / folder)]) == 0
    assert capsys.readouterr().out.count(" bytes\n") == 2 * len(pictures.PICTURES)
    for name in pictures.PICTURES:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
