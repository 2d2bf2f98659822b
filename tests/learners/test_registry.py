"""The registry of algorithms: names, and options that are effective or refused."""

from __future__ import annotations

import io
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest

import treewright as tw
from treewright.data.schema import Task
from treewright.errors import ParameterError
from treewright.fitting.algorithms import algorithm_named, algorithms
from treewright.learners.registry import Algorithm, AlgorithmOption, UnknownOptionError, register
from treewright.learners.shared_options import shared

BESIDE: dict[str, dict[str, Any]] = {
    "alpha": {"prune": "cost_complexity"},
    "binary": {"dialect": "j48"},
    "bonferroni": {"prune": "chi_square"},
    "collapse": {"prune": False},
    "max_resets": {"base": "c45", "trees": 40},
    "max_surrogates": {"missing_values": "surrogate"},
    "significance": {"prune": "chi_square"},
    "xval": {"choose": "min"},
}
"""Options beside which another has an effect, or one that is seen on small tables."""

TABLES = ("noise", "classes", "missing values", "number")


@cache
def made(kind: str) -> tw.Dataset:
    """Return a table of numbers and categories with noise and few cases."""
    random = np.random.default_rng(18)
    n = 60 if kind == "noise" else 240
    x, z = random.normal(size=n).round(1), random.integers(0, 40, n)
    color, shape = random.choice(list("rgbkwy"), n), random.choice(["round", "flat"], n)
    score = x + (color == "r") - 0.8 * (shape == "flat") + 0.02 * z + 0.6 * random.normal(size=n)
    target = score.round(3).astype(str) if kind == "number" else np.where(score > 0.5, "yes", "no")
    if kind == "noise":
        target = random.choice(["yes", "no", "maybe"], n)
    hidden = random.random(n) < (0.15 if kind == "missing values" else 0)
    lines = [
        f"{a},{'' if gone else b},{c},{d},{y}"
        for a, b, c, d, y, gone in zip(x, z, color, shape, target, hidden, strict=True)
    ]
    text = "x,z,color,shape,target\n" + "\n".join(lines)
    return tw.read(io.BytesIO(text.encode()), target="target", format="csv")


def learned(algorithm: Algorithm, options: dict[str, Any], kind: str) -> str:
    """Return the text of what an algorithm learns, but for the record of its options."""
    ensemble = {"trees": 3} if algorithm.makes == "ensemble" else {}
    model = tw.fit(made(kind), algorithm.learner({**ensemble, **options}))
    trees = model.trees if algorithm.makes == "ensemble" else [model.tree if algorithm.makes == "tree" else model]
    text = "".join(f"{tree.to_dict()}" if hasattr(tree, "to_dict") else str(tree) for tree in trees)
    return f"{text} {getattr(model, 'log', '')} {model.predict(made(kind)).tolist()}"


def values_of(option: AlgorithmOption) -> Iterator[Any]:
    """Return values that the option takes, and that differ from its default."""
    if option.type is bool:
        yield option.flag_value
    elif option.values:
        words = option.values() if callable(option.values) else option.values
        yield from (word for word in words if word != option.default)
    elif option.low is None:
        yield from (1, 0.4)
    else:
        low, high = option.low, 1e6 if option.high is None else option.high
        tried = [1, 30, 8, 3, 2] if option.type is int else [0.9, 0.6, 0.3, 0.05, 1e-3, 1e-6, 1e-15, 4.0, 25.0]
        yield from (value for value in tried if low < value < high and str(value) != option.default)


def refusal(algorithm: Algorithm, options: dict[str, Any]) -> str | None:
    """Return why the algorithm does not take options, None if it does."""
    try:
        algorithm.learner(options)
    except ParameterError as error:
        return str(error)
    return None


OPTIONS = [(one.key, option) for one in algorithms() for option in one.options]


@pytest.mark.parametrize(("key", "option"), OPTIONS, ids=[f"{key}-{option.name}" for key, option in OPTIONS])
def test_every_option_changes_a_model_and_is_refused_by_name_where_it_cannot(key: str, option: AlgorithmOption) -> None:
    algorithm = algorithm_named(key)
    tasks = algorithm.learner().abilities.tasks
    beside = BESIDE.get(option.name, {})
    default = {} if option.name == "alpha" else beside  # cost-complexity pruning has no default alpha
    for value in values_of(option):
        refused = refusal(algorithm, {**beside, option.name: value})
        if refused is not None:
            assert option.name in refused
            continue
        for kind in TABLES:
            if kind == "number" and (Task.REGRESSION not in tasks or "prune" in beside):
                continue
            if learned(algorithm, {**beside, option.name: value}, kind) != learned(algorithm, default, kind):
                return
    pytest.fail(f"{option.name} of {key} changes nothing, silently")


@pytest.mark.parametrize(
    ("key", "options", "message"),
    [
        ("cart", {"xval": 5}, "xval=5 has an effect only where cp is chosen"),
        ("cart", {"max_surrogates": 3}, "max_surrogates=3 has an effect only with missing='surrogate'"),
        ("cart", {"max_surrogates": 3, "missing_values": "majority", "cp": 0.1}, "only with missing='surrogate'"),
        ("c45", {"alpha": 0.5}, "alpha=0.5 .* has an effect only on prune='cost_complexity'"),
        (
            "c45",
            {"dialect": "r8", "prune": False, "confidence": 0.01},
            "confidence=0.01 has an effect only on prune='error_based'",
        ),
        (
            "c45",
            {"dialect": "j48", "prune": False, "raising": False},
            "raising=False has an effect only on prune='error_based'",
        ),
        ("rules", {"validation": 0.3, "confidence": 0.01}, "confidence=0.01 has no effect with validation"),
        ("chaid", {"exhaustive": True, "alpha_merge": 0.5}, "alpha_merge=0.5 has no effect with exhaustive"),
        ("c45", {"bonferroni": True}, "bonferroni=True has an effect only on prune='chi_square'"),
    ],
)
def test_an_option_that_another_makes_effective_is_refused_without_it(
    key: str, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ParameterError, match=message):
        algorithm_named(key).learner(options)


@pytest.mark.parametrize("options", [{"alpha": 0.01}, {"significance": 0.01}, {"bonferroni": True}])
def test_an_option_of_pruning_implies_it_where_there_is_no_other(options: dict[str, Any]) -> None:
    assert len(algorithm_named("cart").learner(options).pruning) == 1


def test_options_of_other_algorithms_are_refused_with_those_that_know_them() -> None:
    with pytest.raises(UnknownOptionError, match="min_split is not an option of c45, only of id3, cart, chaid"):
        algorithm_named("c45").learner({"min_split": 3})
    with pytest.raises(UnknownOptionError, match="features_per is not an option of bagging, only of forest"):
        algorithm_named("bagging").learner({"features_per": "tree"})
    with pytest.raises(ParameterError, match="did you mean 'chaid'"):
        algorithm_named("chiad")


def test_a_name_is_registered_once() -> None:
    with pytest.raises(ParameterError, match="there is an algorithm 'c45' already"):
        register(Algorithm("c45", algorithm_named("c45").make))


def test_options_that_cannot_be_listed_are_refused_at_registration() -> None:
    shared_options: Any = shared("max_depth")
    with pytest.raises(ParameterError, match="must be AlgorithmOption objects, not tuple"):
        register(Algorithm("broken", algorithm_named("c45").make, (shared_options,)))
    with pytest.raises(ParameterError, match="'seed' is an option of the commands"):
        register(Algorithm("broken", algorithm_named("c45").make, (AlgorithmOption("seed", "A seed."),)))
