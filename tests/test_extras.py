"""Optional packages."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from treewright.errors import MissingExtraError
from treewright.lazy_import import import_extra


def test_a_module_that_is_there_is_returned() -> None:
    assert import_extra("json", "plots", "test") is json
    assert import_extra("os.path", "plots", "test").__name__ == sys.modules["os.path"].__name__


def test_a_missing_package_names_the_line_that_installs_it() -> None:
    with pytest.raises(MissingExtraError) as caught:
        import_extra("nosuchpackage.inner", "plots", "draw a curve")
    assert str(caught.value) == 'nosuchpackage is needed to draw a curve: pip install "treewright[plots]"'


def test_a_package_that_lacks_something_itself_reports_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "brokenpackage.py").write_text("import anothermissing\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ModuleNotFoundError, match="anothermissing") as caught:
        import_extra("brokenpackage", "plots", "draw")
    assert not isinstance(caught.value, MissingExtraError)


def test_every_extra_named_in_the_package_exists() -> None:
    import re
    import tomllib

    root = Path(__file__).resolve().parents[1]
    extras = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    asked = {
        match[1]
        for file in (root / "src").rglob("*.py")
        for match in re.finditer(r'\bneed\(\s*"[^"]+",\s*"([^"]+)"', file.read_text(encoding="utf-8"))
        if "no_such_module" not in match[0]
    }
    assert asked <= set(extras)
