"""The HTML file of the report: template, style, modules, data, and the texts in four languages.

The texts are in the languages of `treewright.explain.language`. The page has its own catalogue, `words.json`: a list of
texts for each key, in the order of `LANGUAGES`. The texts of explanations (status of attributes, reasons to stop,
notes) come from the catalogue of the explanations.

The page is one self-contained file, built from a template, a style sheet, plain ES modules and data. The template is
the HTML of the page, with ``{{word.key}}`` for each text of the language. Modules are the JavaScript files of
`static/`; they import each other by name (``import { a } from "./other.js";``) and run as they are, but the page has
all of them concatenated in import order. The data are JSON in a block that browsers do not execute, with the characters
that could end the block escaped.

Invariants: Data reach HTML only as JSON or as escaped text. The content security policy names the hashes of our own
style and script: nothing else runs, and no request can leave the page.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any

from treewright.errors import TreewrightError
from treewright.explain.language import LANGUAGES, catalogue, words
from treewright.tree.split import SplitStatus
from treewright.tree.tree import STOPS


def page_words(lang: str | None = None) -> dict[str, str]:
    """Return all texts of the page in a language.

    Examples
    --------
    >>> page_words("de")["leaves"], page_words("en")["status.chosen"]
    ('Blätter', 'chosen')
    """
    message = words(lang)
    index = LANGUAGES.index(message.lang)
    texts_of_page = {key: texts[index] for key, texts in page_catalogue().items()}
    keys = [f"status.{status.name.lower()}" for status in SplitStatus]
    keys += [f"stop.{stop.name.lower()}" for stop in STOPS]
    keys += [key for key in catalogue() if key.startswith("note.")]
    return texts_of_page | {key: message(key) for key in keys}


@cache
def page_catalogue() -> dict[str, list[str]]:
    """Return the texts of the page: for each key one in every language."""
    text = (files("treewright.html_report") / "words.json").read_text(encoding="utf-8")
    catalogue_of_page: dict[str, list[str]] = json.loads(text)
    return catalogue_of_page


ENTRY = "main.js"
"""The module that starts the page."""

_IMPORT = re.compile(r'^import \{[^}]*\} from "\./([a-z_]+\.js)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?function |const |class |let )", re.MULTILINE)
_WORD = re.compile(r"\{\{([a-z_.]+)\}\}")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_ESCAPES = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}


def document(title: str, words: Mapping[str, str], data: Mapping[str, Any], lang: str = "en") -> str:
    """Return the text of the page.

    Parameters
    ----------
    title : str
        Shown by the browser; any text.
    words : dict of str to str
        Texts of the template.
    data : dict
        Data of the modules; plain data without NaN.
    lang : str
        Language tag of the page.

    Examples
    --------
    >>> from treewright.html_report.document import page_words
    >>> page = document("<T>", page_words("en"), {"name": "</script>"})
    >>> "<title>&lt;T&gt;</title>" in page, "</script>" in page.split('id="data-block">')[1].split("</script>")[0]
    (True, False)
    """
    style, script = asset("report.css"), bundle()
    policy = "; ".join(
        (
            "default-src 'none'",
            f"style-src '{_digest(style)}'",
            f"script-src '{_digest(script)}'",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )
    parts = {
        "lang": escape(lang),
        "policy": policy,
        "title": escape(title),
        "style": style,
        "script": script,
        "data": json_block(data),
    }

    def filled(found: re.Match[str]) -> str:
        key = found[1]
        return parts[key] if key in parts else escape(words[key.removeprefix("word.")])

    return _WORD.sub(filled, asset("report.html"))


def json_block(data: Mapping[str, Any]) -> str:
    r"""Return JSON that is safe inside a script element, whatever its texts contain.

    Examples
    --------
    >>> json_block({"name": "</script> & \u2028"})
    '{"name":"\\u003c/script\\u003e \\u0026 \\u2028"}'
    """
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    # A lone surrogate is not a character and cannot be encoded as UTF-8.
    return _LONE_SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text.translate(_ESCAPES))


@cache
def asset(name: str) -> str:
    """Return a file of `static/`."""
    return (files("treewright.html_report") / "static" / name).read_text(encoding="utf-8")


@cache
def bundle(entry: str = ENTRY) -> str:
    """Return all modules as one, each after those that it imports, without `import` and `export` statements."""
    order: list[str] = []
    _visit(entry, order, ())
    return "\n".join(_EXPORT.sub("", _IMPORT.sub("", asset(name))) for name in order)


def _visit(name: str, order: list[str], above: tuple[str, ...]) -> None:
    if name in above:
        raise TreewrightError(f"the modules of the report import each other in a circle: {', '.join((*above, name))}")
    if name in order:
        return
    for other in _IMPORT.findall(asset(name)):
        _visit(other, order, (*above, name))
    order.append(name)


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
