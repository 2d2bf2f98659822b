"""Nothing that the library makes changes unnoticed: models, SQL statements, drawings, printed text, old model files."""

from __future__ import annotations

import json
import sys

import pytest

import treewright as tw
from frozen import first_edition, manifest, transcripts
from frozen.canonical import canonical
from frozen.made import made_tables
from oracle_sets import set_names


def test_models_statements_and_drawings_have_the_recorded_hashes() -> None:
    found = manifest.short_tier()
    assert manifest.differences(manifest.kept(manifest.SHORT), found, absent=manifest.is_absent) == []


@pytest.mark.slow
@pytest.mark.oracle
@pytest.mark.parametrize("name", set_names())
def test_models_of_a_recorded_set_have_the_recorded_hashes(name: str) -> None:
    expected = {key: value for key, value in manifest.kept(manifest.LONG).items() if key.split("/", 1)[0] == name}
    if not expected:
        pytest.skip(f"{name} was not there when the hashes were recorded")
    assert manifest.differences(expected, manifest.recorded(name), absent=lambda _: False) == []


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="the wording of the parser differs between versions")
@pytest.mark.parametrize("name", [*transcripts.SESSIONS, "page"])
def test_commands_print_what_the_transcript_holds(name: str) -> None:
    expected = (transcripts.FOLDER / f"{name}.txt").read_text(encoding="utf-8")
    found = transcripts.page_words() if name == "page" else transcripts.transcript(name)
    assert found.splitlines() == expected.splitlines()


@pytest.mark.parametrize("name", first_edition.KINDS)
def test_a_model_of_version_0_1_loads_and_predicts_the_same(name: str) -> None:
    model = tw.load(first_edition.FOLDER / f"{name}.model.json")
    expected = json.loads((first_edition.FOLDER / f"{name}.predictions.json").read_text(encoding="utf-8"))
    assert first_edition.predictions(model, made_tables()[first_edition.KINDS[name][0]]) == expected


@pytest.mark.parametrize(("factor", "same"), [(1 + 1e-13, True), (1 + 1e-6, False)])
def test_rounding_leaves_a_hash_alone_and_another_number_does_not(factor: float, same: bool) -> None:
    weights = [0.1, 2 / 3, 17.0]
    changed = [weight * factor for weight in weights]
    assert (canonical({"weights": weights}) == canonical({"weights": changed})) is same
