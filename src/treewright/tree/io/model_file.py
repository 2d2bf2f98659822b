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
from collections.abc import Mapping
from typing import Any

from treewright.atomic_file import write_atomically
from treewright.data.schema import Schema
from treewright.errors import ModelFormatError, ParameterError, TreewrightError
from treewright.tree.forest import Forest
from treewright.tree.io.forest_json import forest_from_plain, forest_to_plain, with_digests
from treewright.tree.io.tree_json import (
    evaluated_split_to_plain,
    object_at,
    trace_from_plain,
    tree_from_plain,
    tree_to_plain,
)
from treewright.tree.model import Predictor, TreeModel, Voting
from treewright.tree.rules import RuleModel, RuleSet

FORMAT = "treewright-model"
VERSION = 1
MAX_BYTES = 2**31
"""A larger file is rejected before it is read."""

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def save_model(model: Predictor, path: str | os.PathLike[str]) -> None:
    """Write a model file; an old file stays until the new one is complete."""
    write_atomically(path, model_to_json(model))


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
    document = {"format": FORMAT, "version": VERSION, **_parts(model)}
    document["checksum"] = _checksum(document)
    # One line per part, so that a diff of two models shows which part differs.
    lines = [f"{json.dumps(key)}: {_dump(value)}" for key, value in document.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _parts(model: Predictor) -> dict[str, Any]:
    if isinstance(model, RuleModel):
        return {"kind": "rules", **_common(model), "rules": model.rules.to_dict()}
    if isinstance(model, Forest):
        return {"kind": "forest", **_common(model), **forest_to_plain(model)}
    if not isinstance(model, TreeModel):
        raise ParameterError(f"a {type(model).__name__} cannot be saved")
    return {
        "kind": "tree",
        **_common(model),
        "smoothing": model.smoothing,
        "voting": str(model.voting),
        "costs": None if model.costs is None else [list(row) for row in model.costs],
        "tree": tree_to_plain(model.tree),
        "working": {
            str(node): [evaluated_split_to_plain(one) for one in model.trace[node]] for node in sorted(model.trace)
        },
    }


def _common(model: TreeModel | RuleModel | Forest) -> dict[str, Any]:
    return {
        "schema": model.schema.to_dict(),
        "recipe": dict(model.recipe),
        "provenance": dict(model.provenance),
    }


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
        return RuleModel(RuleSet.from_dict(schema, object_at(document, "rules")), recipe, provenance)
    if document.get("kind") == "forest":
        return forest_from_plain(schema, recipe, provenance, document, _costs(document))
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


def _dump(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    # A lone surrogate (from a file name that is not UTF-8) can only be written escaped.
    return _LONE_SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _checksum(document: Mapping[str, Any]) -> str:
    if document.get("kind") == "forest":
        document = with_digests(document)
    # "surrogatepass" encodes lone surrogates, so that every text has a digest.
    try:
        canonical = json.dumps(document, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except ValueError as error:  # 1e999 parses as infinity
        raise ModelFormatError(f"a number is not finite: {error}") from error
    return "sha256:" + hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()


def _no_constant(word: str) -> None:
    raise ModelFormatError(f"not a model file: {word} is not a number")
