"""Treewright as one of the competitors: called as a user calls it, through its estimators.

The peers: what each of them is called with so that it grows what the case asks for.

All of them get the same numbers of threads and the form of data that they are quickest with, made before the clock
starts. Where a peer bins the numbers that is part of its training, and timed.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from benchmarks.cases import Growth
from benchmarks.made_data import Floats, Table
from treewright.errors import ParameterError
from treewright.lazy_import import import_extra
from treewright.version import __version__
from treewright.wording import unknown_name

if TYPE_CHECKING:
    from treewright.data.dataset import Dataset


def dataset(table: Table) -> Dataset:
    """Give a made table its schema.

    Examples
    --------
    >>> from benchmarks.made_data import mixed
    >>> data = dataset(mixed(100))
    >>> data.shape, data.schema.classes
    ((100, 14), ('0', '1'))
    """
    from treewright.data.dataset import Dataset
    from treewright.data.schema import Column, Kind, LabelType, Schema

    columns = [Column(f"x{at + 1}", Kind.NUMERIC) for at in range(table.numbers.shape[1])]
    columns += [
        Column(f"a{at + 1}", Kind.NOMINAL, tuple(f"v{code}" for code in range(values)))
        for at, values in enumerate(table.values)
    ]
    columns.append(Column("y", Kind.NOMINAL, tuple(map(str, range(table.classes))), LabelType.INTEGER))
    cells = (*table.numbers.T.copy(), *table.codes.T.copy())
    return Dataset(Schema(tuple(columns), target="y"), cells, table.n_rows, table.labels)


class Treewright:
    """Numbers come as a plain array, nominal columns as a `treewright.Dataset` with its schema.

    Parameters
    ----------
    engine : {"auto", "interpreted", "compiled"}
        Handed on to the estimators.
    """

    name = "treewright"
    package = "treewright"
    extra = ""
    grows = frozenset({"cart", "c45", "forest", "adaboost"})
    stores = True

    def __init__(self, engine: str = "auto") -> None:
        self.engine = engine

    @property
    def version(self) -> str:
        """Of the package."""
        return __version__

    def form(self, table: Table) -> Any:
        """Return the attributes as the estimators take them."""
        return dataset(table).X if table.values else table.numbers

    questions = form

    def grow(self, form: Any, table: Table, growth: Growth, threads: int) -> Any:
        """Fit the estimator that grows this."""
        return self._estimator(growth, threads).fit(form, table.labels)

    def shares(self, model: Any, form: Any) -> Floats:
        """Return the probability of each class."""
        found: Floats = model.predict_proba(form)
        return found

    def size(self, model: Any) -> int:
        """Return the number of nodes, of all trees together."""
        tree = getattr(model, "tree_", None)
        if tree is not None:
            return int(tree.n_nodes)
        return sum(int(one.n_nodes) for one in model.trees_)

    def save(self, model: Any, path: Path) -> None:
        """Write the model file."""
        model.save(path)

    def load(self, path: Path) -> Any:
        """Read the model file."""
        import treewright

        return treewright.load(path)

    def _estimator(self, growth: Growth, threads: int) -> Any:
        import treewright

        tree: dict[str, Any] = {"max_depth": growth.max_depth, "n_jobs": threads}
        many: dict[str, Any] = {"n_estimators": growth.trees, "random_state": 0}
        if growth.kind == "cart":
            return treewright.CARTClassifier(min_samples_leaf=growth.min_leaf, engine=self.engine, **tree)
        if growth.kind == "c45":
            least = max(growth.min_leaf, 2)
            return treewright.C45Classifier(prune=growth.pruned, min_objects=least, engine=self.engine, **tree)
        if growth.kind == "forest":
            return treewright.RandomForestClassifier(min_samples_leaf=growth.min_leaf, **many, **tree)
        return treewright.AdaBoostClassifier(max_depth=growth.max_depth, **many)


MOST_LEAVES = 131_072
"""LightGBM grows no larger tree."""

HISTOGRAM_MEGABYTES = 1024
"""Memory that LightGBM may keep for histograms: without a limit it takes 16 GB for its largest tree, and longer."""

IN_BAG = 1 - np.exp(-1)
"""Share of the cases in a bootstrap: what peers draw that sample without putting back."""


class Competitor(Protocol):
    """One that grows trees. `form` and `questions` are not timed, `grow` and `shares` are."""

    name: str
    package: str
    extra: str
    grows: frozenset[str]
    stores: bool

    @property
    def version(self) -> str:
        """Of its package."""

    def form(self, table: Table) -> Any:
        """Return the table as it is learned from."""

    def questions(self, table: Table) -> Any:
        """Return the table as it is predicted."""

    def grow(self, form: Any, table: Table, growth: Growth, threads: int) -> Any:
        """Learn; `table` has the labels, and the number of classes there are."""

    def shares(self, model: Any, form: Any) -> Floats:
        """Return the probability of each class, or a score that orders the classes alike."""

    def size(self, model: Any) -> int:
        """Return the number of nodes of all trees."""

    def save(self, model: Any, path: Path) -> None:
        """Write the model, where `stores` is true."""

    def load(self, path: Path) -> Any:
        """Read the model."""


class _Peer:
    """What the peers share."""

    name: str
    package: str
    extra = "bench"
    grows = frozenset({"cart", "c45", "forest"})
    stores = False

    @property
    def version(self) -> str:
        """Of its package."""
        return str(import_extra(self.package, self.extra, "compare with it").__version__)

    def form(self, table: Table) -> Any:
        """Return the table as it is learned from."""
        raise NotImplementedError  # each has its own

    def questions(self, table: Table) -> Any:
        """Return the table as it is predicted."""
        return self.form(table)

    def save(self, model: Any, path: Path) -> None:
        """Refuse: saving is only compared with scikit-learn."""
        raise ParameterError(f"{self.name} is not asked to save its model")

    def load(self, path: Path) -> Any:
        """Refuse, as `save` does."""
        raise ParameterError(f"{self.name} is not asked to load a model")


class ScikitLearn(_Peer):
    """Exact binary trees on one thread, nominal columns as one column of zeros and ones for each value."""

    name = "scikit-learn"
    package = "sklearn"
    extra = ""
    grows = frozenset({"cart", "c45", "forest", "adaboost"})
    stores = True

    def form(self, table: Table) -> Any:
        """Return an array; a nominal value that is missing is all zeros."""
        if not table.values:
            return table.numbers
        parts = [table.numbers.astype(np.float32)]
        for at, values in enumerate(table.values):
            parts.append((table.codes[:, at, None] == np.arange(values, dtype=np.int32)).astype(np.float32))
        return np.hstack(parts)

    def grow(self, form: Any, table: Table, growth: Growth, threads: int) -> Any:
        """Fit the tree, the forest, or the stumps."""
        from sklearn.ensemble import AdaBoostClassifier, RandomForestClassifier
        from sklearn.tree import DecisionTreeClassifier

        limits: dict[str, Any] = {"max_depth": growth.max_depth, "min_samples_leaf": growth.min_leaf, "random_state": 0}
        if growth.kind == "forest":
            learner: Any = RandomForestClassifier(growth.trees, n_jobs=threads, **limits)
        elif growth.kind == "adaboost":
            learner = AdaBoostClassifier(DecisionTreeClassifier(**limits), n_estimators=growth.trees, random_state=0)
        else:
            learner = DecisionTreeClassifier(criterion="entropy" if growth.kind == "c45" else "gini", **limits)
        return learner.fit(form, table.labels)

    def shares(self, model: Any, form: Any) -> Floats:
        """Return the probabilities."""
        found: Floats = model.predict_proba(form)
        return found

    def size(self, model: Any) -> int:
        """Return the number of nodes."""
        return sum(one.tree_.node_count for one in getattr(model, "estimators_", [model]))

    def save(self, model: Any, path: Path) -> None:
        """Write by joblib, as its guide recommends."""
        import joblib

        joblib.dump(model, path)

    def load(self, path: Path) -> Any:
        """Read a file that this process wrote a moment ago."""
        import joblib

        return joblib.load(path)


class _Boosted(_Peer):
    """What LightGBM and XGBoost share: histograms, and for several classes a tree for each class."""

    def form(self, table: Table) -> Any:
        """Return the numbers, with the nominal columns as codes and NaN where missing."""
        if not table.values:
            return _WithKinds(table.numbers, ())
        codes = np.where(table.codes < 0, np.nan, table.codes).astype(np.float32)
        first = table.numbers.shape[1]
        array = np.hstack([table.numbers.astype(np.float32), codes])
        return _WithKinds(array, tuple(range(first, first + codes.shape[1])))


class _WithKinds:
    """An array, and which of its columns are nominal."""

    def __init__(self, array: Any, nominal: tuple[int, ...]) -> None:
        self.array = array
        self.nominal = nominal

    @property
    def types(self) -> list[str]:
        """The kinds as XGBoost spells them."""
        return ["c" if at in set(self.nominal) else "q" for at in range(self.array.shape[1])]


class LightGBM(_Boosted):
    """One tree from histograms of 255 bins, grown by the leaf that gains most; a forest by its mode ``rf``."""

    name = "lightgbm"
    package = "lightgbm"

    def grow(self, form: Any, table: Table, growth: Growth, threads: int) -> Any:
        """Train one round."""
        import lightgbm

        depth = growth.max_depth
        parameters: dict[str, Any] = {
            "objective": "binary" if table.classes == 2 else "multiclass",
            "num_leaves": max(2, min(table.n_rows, MOST_LEAVES if depth is None else 2**depth)),
            "max_depth": -1 if depth is None else depth,
            "min_data_in_leaf": growth.min_leaf,
            "min_sum_hessian_in_leaf": 0.0,
            "min_data_per_group": 1,
            "cat_smooth": 0.0,
            "cat_l2": 0.0,
            "learning_rate": 1.0,
            "histogram_pool_size": HISTOGRAM_MEGABYTES,
            "num_threads": threads,
            "seed": 0,
            "verbosity": -1,
        }
        if table.classes > 2:
            parameters["num_class"] = table.classes
        if growth.kind == "forest":
            share = _root_share(form.array.shape[1])
            parameters |= {
                "boosting": "rf",
                "bagging_freq": 1,
                "bagging_fraction": IN_BAG,
                "feature_fraction_bynode": share,
            }
        data = lightgbm.Dataset(form.array, table.labels, categorical_feature=list(form.nominal) or "auto")
        return lightgbm.train(parameters, data, num_boost_round=growth.trees)

    def shares(self, model: Any, form: Any) -> Floats:
        """Return the probabilities."""
        return _both(model.predict(form.array))

    def size(self, model: Any) -> int:
        """Return the number of nodes: two for each leaf, less one a tree."""
        leaves = [int(found) for found in re.findall(r"^num_leaves=(\d+)", model.model_to_string(), re.MULTILINE)]
        return 2 * sum(leaves) - len(leaves)


class XGBoost(_Boosted):
    """One tree from histograms of 256 bins, level by level; a forest by trees in parallel."""

    name = "xgboost"
    package = "xgboost"

    def grow(self, form: Any, table: Table, growth: Growth, threads: int) -> Any:
        """Train one round."""
        import xgboost

        parameters: dict[str, Any] = {
            "objective": "binary:logistic" if table.classes == 2 else "multi:softprob",
            "tree_method": "hist",
            "max_depth": 0 if growth.max_depth is None else growth.max_depth,
            "max_cat_to_onehot": 1,
            # The nearest that it has to cases in a leaf is a bound on hessians: 1/4 a case in the beginning.
            "min_child_weight": growth.min_leaf / 4 if growth.min_leaf > 1 else 0,
            "lambda": 0,
            "eta": 1.0,
            "nthread": threads,
            "seed": 0,
        }
        if table.classes > 2:
            parameters["num_class"] = table.classes
        if growth.kind == "forest":
            share = _root_share(form.array.shape[1])
            parameters |= {"num_parallel_tree": growth.trees, "subsample": IN_BAG, "colsample_bynode": share}
        data = xgboost.QuantileDMatrix(
            form.array, table.labels, feature_types=form.types, enable_categorical=True, nthread=threads
        )
        return xgboost.train(parameters, data, num_boost_round=1)

    def shares(self, model: Any, form: Any) -> Floats:
        """Return the probabilities."""
        if not form.nominal:
            return _both(model.inplace_predict(form.array))
        import xgboost

        return _both(model.predict(xgboost.DMatrix(form.array, feature_types=form.types, enable_categorical=True)))

    def size(self, model: Any) -> int:
        """Return the number of nodes: a line for each in its dump."""
        return sum(tree.count("\n") for tree in model.get_dump())


class YDF(_Peer):
    """Exact trees of Yggdrasil: CART without its pruning, so that all cases are learned from; and random forests."""

    name = "ydf"
    package = "ydf"

    def form(self, table: Table) -> Any:
        """Return its own dataset, with the label, made before the clock starts."""
        import ydf

        whole = {"max_vocab_count": -1, "min_vocab_frequency": 1}
        columns = [ydf.Column("y", ydf.Semantic.CATEGORICAL, **whole)]
        columns += [ydf.Column(f"x{at + 1}", ydf.Semantic.NUMERICAL) for at in range(table.numbers.shape[1])]
        columns += [ydf.Column(f"a{at + 1}", ydf.Semantic.CATEGORICAL, **whole) for at in range(len(table.values))]
        return ydf.create_vertical_dataset(
            self.questions(table) | {"y": table.labels.astype(np.int64)}, columns=columns
        )

    def questions(self, table: Table) -> Any:
        """Return the columns by name."""
        numeric = {f"x{at + 1}": np.ascontiguousarray(table.numbers[:, at]) for at in range(table.numbers.shape[1])}
        texts = [np.array([*(f"v{code}" for code in range(values)), ""]) for values in table.values]
        return numeric | {f"a{at + 1}": names[table.codes[:, at]] for at, names in enumerate(texts)}

    def grow(self, form: Any, table: Table, growth: Growth, threads: int) -> Any:
        """Train; its depth counts nodes, not tests."""
        import ydf

        limits: dict[str, Any] = {
            "max_depth": -1 if growth.max_depth is None else growth.max_depth + 1,
            "min_examples": growth.min_leaf,
            "num_threads": threads,
        }
        if growth.kind == "forest":
            learner: Any = ydf.RandomForestLearner(
                "y", num_trees=growth.trees, winner_take_all=False, compute_oob_performances=False, **limits
            )
        else:
            learner = ydf.CartLearner("y", validation_ratio=0.0, **limits)
        return learner.train(form, verbose=0)

    def shares(self, model: Any, form: Any) -> Floats:
        """Return the probabilities in the order of the class numbers, which is not always the order of YDF."""
        found = _both(model.predict(form))
        order = np.argsort([int(label) for label in model.label_classes()])
        return found[:, order]

    def size(self, model: Any) -> int:
        """Return the number of nodes."""
        return int(model.num_nodes())


PEERS: dict[str, type[ScikitLearn | LightGBM | XGBoost | YDF]] = {
    one.name: one for one in (ScikitLearn, LightGBM, XGBoost, YDF)
}


def competitor_named(name: str, engine: str = "auto") -> Competitor:
    """Return Treewright or a peer.

    Examples
    --------
    >>> competitor_named("scikit-lern")
    Traceback (most recent call last):
        ...
    treewright.errors.ParameterError: there is no competitor 'scikit-lern'; did you mean 'scikit-learn'? ...
    """
    if name == Treewright.name:
        return Treewright(engine)
    if name not in PEERS:
        raise ParameterError(unknown_name("competitor", name, (Treewright.name, *PEERS)))
    return PEERS[name]()


def _root_share(columns: int) -> float:
    """Return the share of the columns that is their square root, rounded down as the others round."""
    return int(np.sqrt(columns)) / columns


def _both(found: Any) -> Floats:
    """Return a column for each class, also where only the probability of the second came."""
    array = np.asarray(found, dtype=np.float64)
    return np.column_stack([1 - array, array]) if array.ndim == 1 else array
