"""The model file: versioned JSON.

A file is one object: ``format``, ``version``, ``kind`` (tree, rules or forest), ``schema``, ``recipe``, ``provenance``,
the model (``tree`` as flat arrays, ``rules``, or ``trees`` as packed arrays) and ``checksum`` (SHA-256 of the rest in
canonical form, which detects damage and edits). Reading executes nothing and validates everything: any invalid file
raises `ModelFormatError`.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any

from treewright.concurrency import processors
from treewright.data.schema import Schema
from treewright.errors import ModelFormatError, TreewrightError
from treewright.tree.io.tree_json import object_at, trace_from_plain, tree_from_plain
from treewright.tree.model import Predictor, TreeModel, Voting

if TYPE_CHECKING:
    from treewright.tree.forest import Forest
    from treewright.tree.rules import RuleModel

FORMAT = "treewright-model"
VERSION = 1
PARALLEL_CHARACTERS = 1_000_000
"""From this many characters on, threads compute the digests of packed arrays."""

MAX_BYTES = 2**31
"""A larger file is rejected before it is read."""

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def load_model(path: str | os.PathLike[str]) -> TreeModel | RuleModel | Forest:
    """Read a model file.

    Raises
    ------
    ModelFormatError
        If the file is damaged, is not a model file, or has an unsupported version.
    """
    name = os.fspath(path)
    size = os.stat(name).st_size
    if size > MAX_BYTES:
        raise ModelFormatError(f"{name}: {size} bytes are too many for a model file (at most {MAX_BYTES})")
    with open(name, "rb") as handle:
        content = handle.read(MAX_BYTES)
    try:
        return model_from_json(content)
    except ModelFormatError as error:
        raise ModelFormatError(f"{name}: {error}") from error


def model_to_json(model: Predictor) -> str:
    """Return the text of a model file; equal models give equal bytes."""
    own = model.to_plain()  # first, because it refuses a model of a kind that has no file
    document = {
        "format": FORMAT,
        "version": VERSION,
        "kind": model.kind,
        "schema": model.schema.to_dict(),
        "recipe": dict(model.recipe),
        "provenance": dict(model.provenance),
        **own,
    }
    document["checksum"] = _checksum(document)
    # One line per part, so that a diff of two models shows which part differs.
    dump = partial(json.dumps, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    text = "{\n" + ",\n".join(f"{dump(key)}: {dump(value)}" for key, value in document.items()) + "\n}\n"
    # A lone surrogate (from a file name that is not UTF-8) can only be written escaped.
    return _LONE_SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def model_from_json(content: bytes | str) -> TreeModel | RuleModel | Forest:
    """Read the text of a model file."""
    try:
        return _model_from_document(_parsed(content))
    except ModelFormatError:
        raise
    except TreewrightError as error:
        raise ModelFormatError(f"damaged: {error}") from error
    except RecursionError as error:  # while parsing, or while validating the parsed document
        raise ModelFormatError("not a model file: nested too deeply") from error


def _parsed(content: bytes | str) -> Any:
    try:
        text = content.decode("utf-8") if isinstance(content, bytes) else content
        return json.loads(text, parse_constant=_no_constant)
    except ModelFormatError:
        raise
    except ValueError as error:  # not UTF-8, not JSON, or a number with too many digits
        raise ModelFormatError(f"not a model file: {error}") from error


def _model_from_document(document: Any) -> TreeModel | RuleModel | Forest:
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ModelFormatError(f"not a model file: its format is not {FORMAT!r}")
    if document.get("version") != VERSION:
        raise ModelFormatError(f"version {document.get('version')!r:.40} is not supported, only {VERSION}")
    if document.pop("checksum", None) != _checksum(document):
        raise ModelFormatError("the checksum does not match: the file was damaged or changed after it was saved")
    schema = Schema.from_dict(object_at(document, "schema"))
    if schema.target is None:
        raise ModelFormatError("the schema names no target")
    recipe, provenance = object_at(document, "recipe"), object_at(document, "provenance")
    if document.get("kind") == "rules":
        from treewright.tree.rules import RuleModel, RuleSet

        return RuleModel(RuleSet.from_dict(schema, object_at(document, "rules")), recipe, provenance)
    if document.get("kind") == "forest":
        from treewright.tree.forest import Forest

        return Forest.from_plain(schema, recipe, provenance, document, _costs(document))
    if document.get("kind") != "tree":
        raise ModelFormatError(f"a model of kind {document.get('kind')!r:.40} is not supported")
    tree = tree_from_plain(schema, object_at(document, "tree"))
    trace = trace_from_plain(tree, object_at(document, "working"))
    voting, costs = _voting(document), _costs(document)
    return TreeModel(tree, recipe, provenance, trace, document.get("smoothing"), voting, costs)


def _voting(document: Mapping[str, Any]) -> Voting:
    try:
        return Voting(str(document.get("voting")))
    except ValueError as error:
        raise ModelFormatError(f"unknown voting {document.get('voting')!r:.40}") from error


def _costs(document: Mapping[str, Any]) -> tuple[tuple[float, ...], ...] | None:
    costs = document.get("costs")
    if costs is None:
        return None
    if not isinstance(costs, list) or not all(isinstance(row, list) for row in costs):
        raise ModelFormatError("'costs' must be a table")
    if not all(type(cost) in (int, float) for row in costs for cost in row):
        raise ModelFormatError("'costs' must hold numbers")
    return tuple(tuple(row) for row in costs)


def _checksum(document: Mapping[str, Any]) -> str:
    if document.get("kind") == "forest":
        document = with_digests(document)
    # "surrogatepass" encodes lone surrogates, so that every text has a digest.
    try:
        canonical = json.dumps(document, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except ValueError as error:  # 1e999 parses as infinity
        raise ModelFormatError(f"a number is not finite: {error}") from error
    return "sha256:" + hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()


def with_digests(document: Any) -> Any:
    """Return plain data with every packed array replaced by its digest; the checksum is computed from the result.

    Nothing else is changed; only dictionaries are searched. Threads compute the digests of a large model.
    """
    texts = list(_packed_texts(document))
    if sum(map(len, texts)) < PARALLEL_CHARACTERS:
        return _replaced(document, map(_digest, texts))
    with ThreadPoolExecutor(processors()) as pool:
        return _replaced(document, pool.map(_digest, texts))


def _packed_texts(document: Any) -> Iterator[str]:
    if _is_packed(document):
        yield document["data"]
    elif isinstance(document, dict):
        for value in document.values():
            yield from _packed_texts(value)


def _replaced(document: Any, digests: Iterator[str]) -> Any:
    """Replace the packed arrays by their digests, in the order of `_packed_texts`."""
    if _is_packed(document):
        return {"type": document["type"], "sha256": next(digests)}
    if isinstance(document, dict):
        return {key: _replaced(value, digests) for key, value in document.items()}
    return document


def _is_packed(document: Any) -> bool:
    return isinstance(document, dict) and set(document) == {"type", "data"} and isinstance(document["data"], str)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _no_constant(word: str) -> None:
    raise ModelFormatError(f"not a model file: {word} is not a number")
