"""The file: escaped data, hashes that fit, modules in their order."""

from __future__ import annotations

import base64
import hashlib
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treewright.errors import TreewrightError
from treewright.html_report import document as document_module
from treewright.html_report.document import asset, bundle, document, json_block, page_words


def page(**data: object) -> str:
    return document("title", page_words("en"), data)


def block(html: str) -> str:
    return html.split('id="data-block">')[1].split("</script>", maxsplit=1)[0]


@given(st.dictionaries(st.text(), st.text()))
def test_any_text_comes_back_from_the_block_and_cannot_end_it(data: dict[str, str]) -> None:
    text = json_block(data)
    assert json.loads(text) == data
    assert not re.search("[<>&\u2028\u2029]", text)
    text.encode()  # also half a surrogate pair


def test_the_policy_names_the_hashes_of_style_and_script_and_nothing_else() -> None:
    html = page(a=1)
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', html)
    style = re.search(r"<style>(.*?)</style>", html, re.DOTALL)
    script = re.search(r'<script type="module">(.*?)</script>', html, re.DOTALL)
    assert policy is not None
    assert style is not None
    assert script is not None
    for part in (style[1], script[1]):
        digest = base64.b64encode(hashlib.sha256(part.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy[1]
    assert "unsafe" not in policy[1]
    assert policy[1].startswith("default-src 'none';")
    assert html.count("<script") == 2
    assert "http:" not in html.replace("http://www.w3.org/2000/svg", "")
    assert "https:" not in html


def test_title_and_words_are_escaped_and_placeholders_in_the_data_are_left_alone() -> None:
    html = document("<b>&</b>", page_words("it"), {"value": "{{word.tree}} {{style}}"}, "it")
    assert "<title>&lt;b&gt;&amp;&lt;/b&gt;</title>" in html
    assert '<html lang="it">' in html
    assert json.loads(block(html)) == {"value": "{{word.tree}} {{style}}"}
    assert "{{" not in html.replace("{{word.tree}} {{style}}", "")


def test_modules_stand_after_what_they_import_and_keep_no_import() -> None:
    text = bundle()
    assert not re.search(r"^(import|export) ", text, re.MULTILINE)
    assert text.index("function el(") < text.index("class TreeView") < text.index("function start(")
    names = re.findall(r"^(?:async )?(?:function|class|const|let) (\w+)", text, re.MULTILINE)
    assert len(names) == len(set(names)), "two modules use the same name at their top"


def test_every_import_is_exported_there() -> None:
    for name in re.findall(r'from "\./([a-z_]+\.js)"', "".join(asset(one) for one in _modules())):
        assert name in _modules()
    for module in _modules():
        for wanted, source in re.findall(r'^import \{([^}]*)\} from "\./([a-z_]+\.js)";', asset(module), re.MULTILINE):
            exported = set(re.findall(r"^export (?:function|const|class) (\w+)", asset(source), re.MULTILINE))
            used = {one.strip() for one in wanted.split(",") if one.strip()}
            assert used <= exported, f"{module} wants {used - exported} of {source}"
            for one in used:
                assert len(re.findall(rf"\b{one}\b", asset(module))) > 1, f"{module} imports {one} and does not use it"


def test_no_module_makes_html_of_text() -> None:
    for module in _modules():
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function", asset(module)
        )


def test_modules_that_import_each_other_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    circle = {"a.js": 'import { b } from "./b.js";\n', "b.js": 'import { a } from "./a.js";\n'}
    monkeypatch.setattr(document_module, "asset", circle.__getitem__)
    with pytest.raises(TreewrightError, match=r"circle: a\.js, b\.js, a\.js"):
        bundle.__wrapped__("a.js")


def _modules() -> list[str]:
    from importlib.resources import files

    folder = files("treewright.html_report") / "static"
    return sorted(one.name for one in folder.iterdir() if one.name.endswith(".js"))
