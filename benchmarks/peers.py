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
    if table.classes:
        columns.append(Column("y", Kind.NOMINAL, tuple(map(str, range(table.classes))), LabelType.INTEGER))
    else:
        columns.append(Column("y", Kind.NUMERIC))
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
        estimator = self._regressor(growth, threads) if not table.classes else self._classifier(growth, threads)
        return estimator.fit(form, table.labels)

    def uses_threads(self, growth: Growth, action: str) -> bool:
        """Return True: trees, forests and predictions all use them."""
        return True

    def shares(self, model: Any, form: Any) -> Floats:
        """Return the probability of each class, or the predicted numbers."""
        return _asked(model, form)

    def size(self, model: Any) -> int:
        """Return the number of nodes, of all trees together."""
        tree = getattr(model, "tree_", None)
        if tree is not None:
            return int(tree.n_nodes)
        return sum(int(one.n_nodes) for one in model.trees_)

    def visits(self, model: Any, growth: Growth, columns: int, classes: int) -> float:
        """Return the sum, over all nodes that are split, of rows x columns tried.

        Examples
        --------
        >>> from benchmarks.made_data import continuous
        >>> table, ours, stump = continuous(200, columns=4), Treewright("interpreted"), Growth(max_depth=1)
        >>> ours.visits(ours.grow(table.numbers, table, stump, 1), stump, 4, 2)
        800.0
        """
        tried = columns_tried(columns, classes) if growth.kind == "forest" else columns
        trees = model.trees_ if hasattr(model, "trees_") else [model.tree_]
        return tried * sum(float(one.weight[np.diff(one.child_start) > 0].sum()) for one in trees)

    def save(self, model: Any, path: Path) -> None:
        """Write the model file."""
        model.save(path)

    def load(self, path: Path) -> Any:
        """Read the model file."""
        import treewright

        return treewright.load(path)

    def _regressor(self, growth: Growth, threads: int) -> Any:
        import treewright

        limits: dict[str, Any] = {"max_depth": growth.max_depth, "min_samples_leaf": growth.min_leaf, "n_jobs": threads}
        if growth.kind == "forest":
            return treewright.RandomForestRegressor(growth.trees, random_state=0, **limits)
        return treewright.CARTRegressor(engine=self.engine, **limits)

    def _classifier(self, growth: Growth, threads: int) -> Any:
        import treewright
        from treewright.learners.recipe import Stopping

        tree: dict[str, Any] = {"max_depth": growth.max_depth, "n_jobs": threads}
        many: dict[str, Any] = {"n_estimators": growth.trees, "random_state": 0}
        least = max(growth.min_leaf, 2)
        if growth.kind == "cart":
            tree |= {"min_samples_leaf": growth.min_leaf, "criterion": growth.criterion}
            return treewright.CARTClassifier(engine=self.engine, **tree)
        if growth.kind == "c45":
            return treewright.C45Classifier(prune=growth.pruned, min_objects=least, engine=self.engine, **tree)
        if growth.criterion == "gain_ratio":
            base = treewright.c45(prune=growth.pruned, min_objects=least, max_depth=growth.max_depth)
        else:
            stopping = Stopping(max_depth=growth.max_depth, min_leaf=growth.min_leaf)
            base = treewright.cart(criterion=growth.criterion, stopping=stopping)
        if growth.kind == "forest":
            return treewright.RandomForestClassifier(tree=base, n_jobs=threads, **many)
        return treewright.AdaBoostClassifier(tree=base, **many)


def _asked(model: Any, form: Any) -> Floats:
    """Return what an estimator with scikit-learn's methods predicts: probabilities, or the numbers of a regression."""
    ask = getattr(model, "predict_proba", None) or model.predict
    found: Floats = ask(form)
    return found


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
        """Return the probability of each class, a score that orders the classes alike, or the predicted numbers.

        Of two classes there may be the probability of the second one only, see `by_class`.
        """

    def size(self, model: Any) -> int:
        """Return the number of nodes of all trees."""

    def uses_threads(self, growth: Growth, action: str) -> bool:
        """Return True if several threads are of use to it for this."""

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

    def uses_threads(self, growth: Growth, action: str) -> bool:
        """Return True unless a peer knows better."""
        return True

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
        """Fit the tree, the forest, or the series."""
        from sklearn.ensemble import AdaBoostClassifier, RandomForestClassifier, RandomForestRegressor
        from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

        limits: dict[str, Any] = {"max_depth": growth.max_depth, "min_samples_leaf": growth.min_leaf, "random_state": 0}
        if table.classes:
            by_gini = growth.kind != "c45" and growth.criterion == "gini"
            limits["criterion"] = "gini" if by_gini else "entropy"  # it has no gain ratio
        if growth.kind == "forest":
            forest = RandomForestClassifier if table.classes else RandomForestRegressor
            learner: Any = forest(
                growth.trees, n_jobs=threads, max_features=columns_tried(form.shape[1], table.classes), **limits
            )
        elif growth.kind == "adaboost":
            learner = AdaBoostClassifier(DecisionTreeClassifier(**limits), n_estimators=growth.trees, random_state=0)
        else:
            learner = (DecisionTreeClassifier if table.classes else DecisionTreeRegressor)(**limits)
        return learner.fit(form, table.labels)

    def uses_threads(self, growth: Growth, action: str) -> bool:
        """Return True for forests; the rest has one thread."""
        return growth.kind == "forest"

    def shares(self, model: Any, form: Any) -> Floats:
        """Return the probabilities, or the numbers."""
        return _asked(model, form)

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
            **_objective(table, "binary", "multiclass", "regression"),
        }
        if growth.kind == "forest":
            share = _share_tried(form.array.shape[1], table.classes)
            parameters |= {
                "boosting": "rf",
                "bagging_freq": 1,
                "bagging_fraction": IN_BAG,
                "feature_fraction_bynode": share,
            }
        data = lightgbm.Dataset(form.array, table.labels, categorical_feature=list(form.nominal) or "auto")
        return lightgbm.train(parameters, data, num_boost_round=growth.trees)

    def shares(self, model: Any, form: Any) -> Floats:
        """Return the probabilities, or the numbers."""
        found: Floats = model.predict(form.array)
        return found

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
            "tree_method": "hist",
            "max_depth": 0 if growth.max_depth is None else growth.max_depth,
            "max_cat_to_onehot": 1,
            # The nearest that it has to cases in a leaf is a bound on hessians: of classes 1/4 a case in the beginning.
            "min_child_weight": growth.min_leaf / (4 if table.classes else 1) if growth.min_leaf > 1 else 0,
            "lambda": 0,
            "eta": 1.0,
            "nthread": threads,
            "seed": 0,
            **_objective(table, "binary:logistic", "multi:softprob", "reg:squarederror"),
        }
        if growth.kind == "forest":
            share = _share_tried(form.array.shape[1], table.classes)
            parameters |= {"num_parallel_tree": growth.trees, "subsample": IN_BAG, "colsample_bynode": share}
        data = xgboost.QuantileDMatrix(
            form.array, table.labels, feature_types=form.types, enable_categorical=True, nthread=threads
        )
        return xgboost.train(parameters, data, num_boost_round=1)

    def shares(self, model: Any, form: Any) -> Floats:
        """Return the probabilities, or the numbers."""
        found: Floats
        if form.nominal:
            import xgboost

            found = model.predict(xgboost.DMatrix(form.array, feature_types=form.types, enable_categorical=True))
        else:
            found = model.inplace_predict(form.array)
        return found

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
        label = ("y", ydf.Semantic.CATEGORICAL) if table.classes else ("y", ydf.Semantic.NUMERICAL)
        columns = [ydf.Column(*label, **(whole if table.classes else {}))]
        columns += [ydf.Column(f"x{at + 1}", ydf.Semantic.NUMERICAL) for at in range(table.numbers.shape[1])]
        columns += [ydf.Column(f"a{at + 1}", ydf.Semantic.CATEGORICAL, **whole) for at in range(len(table.values))]
        return ydf.create_vertical_dataset(
            self.questions(table) | {"y": table.labels.astype(np.int64 if table.classes else np.float32)},
            columns=columns,
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
            "task": ydf.Task.CLASSIFICATION if table.classes else ydf.Task.REGRESSION,
        }
        if growth.kind == "forest":  # the columns that a node tries are those of `columns_tried` without being told
            if table.classes:
                limits["winner_take_all"] = False
            learner: Any = ydf.RandomForestLearner(
                "y", num_trees=growth.trees, compute_oob_performances=False, **limits
            )
        else:
            learner = ydf.CartLearner("y", validation_ratio=0.0, **limits)
        return learner.train(form, verbose=0)

    def shares(self, model: Any, form: Any) -> Floats:
        """Return the numbers, or the probabilities by class number, which is not always the order of YDF."""
        import ydf

        if model.task() == ydf.Task.REGRESSION:
            return np.asarray(model.predict(form), dtype=np.float64)
        found = by_class(model.predict(form), len(model.label_classes()))
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


def columns_tried(columns: int, classes: int) -> int:
    """Return how many columns a node of a forest tries, whoever grows it: the root of all, in regression a third.

    Examples
    --------
    >>> columns_tried(28, 2), columns_tried(28, 0)
    (5, 9)
    """
    return max(1, int(np.sqrt(columns)) if classes else columns // 3)


def _share_tried(columns: int, classes: int) -> float:
    """Return the same as a share; as some round down to a whole number of columns, it is a little larger."""
    return min(1.0, (columns_tried(columns, classes) + 1e-6) / columns)


def _objective(table: Table, two: str, several: str, regression: str) -> dict[str, Any]:
    """Return the parameters of LightGBM and XGBoost that depend on the number of classes."""
    if table.classes > 2:
        return {"objective": several, "num_class": table.classes}
    return {"objective": two if table.classes else regression}


def by_class(found: Any, classes: int) -> Floats:
    """Return a column for each class, also where only the probability of the second came; numbers stay as they are.

    Examples
    --------
    >>> by_class([0.25, 1.0], 2).tolist(), by_class([0.25, 1.0], 0).tolist()
    ([[0.75, 0.25], [0.0, 1.0]], [0.25, 1.0])
    """
    array = np.asarray(found, dtype=np.float64)
    return np.column_stack([1 - array, array]) if array.ndim == 1 and classes else array
