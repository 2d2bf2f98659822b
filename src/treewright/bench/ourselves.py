"""Treewright as one of the competitors: called as a user calls it, through its estimators."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from treewright._base.version import __version__
from treewright.bench.growth import Growth
from treewright.bench.made import Floats, Table

if TYPE_CHECKING:
    from treewright.data.dataset import Dataset


def dataset(table: Table) -> Dataset:
    """Give a made table its schema.

    Examples
    --------
    >>> from treewright.bench.made import mixed
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
