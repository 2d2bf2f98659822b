"""The library as its users meet it: from a table to a tree, its reasons, and a file; and what its surface promises."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import treewright

SURFACE = {
    "C45",
    "CART",
    "ID3",
    "C45Classifier",
    "CARTClassifier",
    "CARTRegressor",
    "Column",
    "DataError",
    "DataWarning",
    "Dataset",
    "Bootstrap632",
    "GivenFolds",
    "Grouped",
    "HoldOut",
    "ID3Classifier",
    "KFold",
    "Kind",
    "Learn",
    "LeaveOneOut",
    "ModelFormatError",
    "ParameterError",
    "Recipe",
    "Repeated",
    "Schema",
    "SchemaError",
    "Split",
    "Tree",
    "TreeModel",
    "TreewrightError",
    "__version__",
    "classification_report",
    "compare",
    "compare_over",
    "complexity_curve",
    "estimate",
    "evaluate_model",
    "fit",
    "learning_curve",
    "load",
    "read",
    "regression_report",
    "sample",
    "tune",
}
"""What may not disappear; more may come."""


def test_a_first_tree_and_its_reasons(tmp_path: Path) -> None:
    # A table comes from a file, a dataframe, or from the lectures.
    weather = treewright.read("sample:play-tennis")
    assert weather.shape == (14, 4)
    assert weather.schema.classes == ("Yes", "No")

    # An algorithm is a value; fitting it gives a model.
    model = treewright.fit(weather, treewright.ID3())
    assert str(model).splitlines()[0] == "Outlook"
    assert model.tree.n_leaves == 5

    # The model takes new cases as they are.
    tomorrow = {"Outlook": ["Sunny"], "Temperature": ["Cool"], "Humidity": ["High"], "Wind": ["Strong"]}
    assert model.predict(tomorrow).tolist() == ["No"]

    # Every node can be inspected.
    root = model.tree.node(0)
    assert root.attribute.name == "Outlook"
    assert root.distribution == {"Yes": 9, "No": 5}
    assert [child.outcome for child in root.children] == ["No", "Yes", "Yes"]

    # It goes into a file that any later version reads.
    model.save(tmp_path / "weather.json")
    again = treewright.load(tmp_path / "weather.json")
    assert again.predict(tomorrow).tolist() == ["No"]


def test_a_table_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "fruit.csv"
    path.write_text("colour,weight,fruit\nred,120,apple\ngreen,130,apple\nyellow,150,banana\ngreen,6,grape\n")
    fruit = treewright.read(path, target="fruit")
    assert [column.kind for column in fruit.schema.attributes] == [treewright.Kind.NOMINAL, treewright.Kind.NUMERIC]
    model = treewright.fit(fruit, treewright.CART())
    assert model.predict(fruit).tolist() == ["apple", "apple", "banana", "grape"]


def test_the_same_as_an_estimator() -> None:
    weather = treewright.read("sample:play-tennis")
    clf = treewright.C45Classifier().fit(weather.X, weather.y)
    assert clf.predict(weather.X).tolist() == weather.y.tolist()
    assert clf.tree_.node(0).attribute.name == "Outlook"


def test_a_number_is_predicted_by_cart() -> None:
    reg = treewright.CARTRegressor(max_depth=1).fit([[1.0], [2.0], [8.0], [9.0]], [10.0, 10.0, 20.0, 20.0])
    assert reg.predict([[0.0], [100.0]]).tolist() == [10.0, 20.0]


def test_every_error_is_a_treewright_error_and_a_value_error() -> None:
    for error in (treewright.DataError, treewright.SchemaError, treewright.ModelFormatError, treewright.ParameterError):
        assert issubclass(error, treewright.TreewrightError)
        assert issubclass(error, ValueError)


# -- the surface -----------------------------------------------------------------------------------------------------


def test_the_surface_keeps_its_names() -> None:
    assert set(treewright.__all__) >= SURFACE
    assert len(treewright.__all__) == len(set(treewright.__all__))


@pytest.mark.parametrize("name", treewright.__all__)
def test_every_name_of_the_surface_is_there(name: str) -> None:
    assert getattr(treewright, name) is not None
    assert name in dir(treewright)


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="RandomJungle"):
        treewright.RandomJungle  # noqa: B018


@pytest.mark.parametrize(
    "code",
    [
        "import treewright",
        "import treewright; treewright.fit(treewright.sample('play-tennis'), treewright.ID3())",
        "import treewright; treewright.fit(treewright.read('sample:restaurant'), treewright.CART()).predict("
        "treewright.sample('restaurant'))",
    ],
    ids=["import", "fit", "predict"],
)
def test_small_work_imports_neither_scikit_learn_nor_numba(code: str) -> None:
    heavy = "import sys; print(*[name for name in ('sklearn', 'numba', 'pandas', 'polars') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", f"{code}\n{heavy}"], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_a_recipe_is_learned_without_the_learners_of_other_programs() -> None:
    code = (
        "import sys, treewright\n"
        "treewright.CARTClassifier().fit([[1.0], [2.0]], [0, 1])\n"
        "others = (\n"
        "    'learners.cal.growing', 'learners.chaid.growing', 'learners.j48.growing', 'learners.c45r8.growing',\n"
        "    'learners.rpart.growing', 'tree.forest', 'learners.c45rules.induce', 'drawing.svg',\n"
        ")\n"
        "print(*[name for name in others if f'treewright.{name}' in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_reading_a_model_imports_no_learner(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    treewright.fit(treewright.sample("play-tennis"), treewright.ID3()).save(path)
    code = (
        "import sys, treewright\n"
        "model = treewright.load(sys.argv[1])\n"
        "model.predict({'Outlook': ['Rain'], 'Temperature': ['Hot'], 'Humidity': ['High'], 'Wind': ['Weak']})\n"
        "above = ('treewright.learners', 'treewright.fitting', 'treewright.counting')\n"
        "print(*[n for n in sys.modules if n.startswith(above)])"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
