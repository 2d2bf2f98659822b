"""What every learned model can do: take new cases as they are, say their class or number, save itself.

No learner is needed for any of this.
"""

from __future__ import annotations

import os
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright._base.errors import ParameterError, SchemaError
from treewright.data.dataset import Dataset, labels_of
from treewright.data.encode import Unseen, encode
from treewright.data.frames import raw_table
from treewright.data.raw import RawTable
from treewright.data.schema import Schema, Task


class Predictor:
    """Base of the models; subclasses have a `schema` and say class codes."""

    @property
    def schema(self) -> Schema:
        """The schema the model was learned with."""
        raise NotImplementedError  # every model has its own

    def predict_codes(self, cases: Dataset) -> npt.NDArray[np.intp]:
        """Return class indices in declared order."""
        raise NotImplementedError  # every model has its own

    @cached_property
    def classes_(self) -> npt.NDArray[Any]:
        """The classes in declared order: the columns of probabilities."""
        if self.schema.task is Task.REGRESSION:
            raise ParameterError("a model of numbers has no classes")
        return labels_of(self.schema.target_column)

    def cases(self, data: Any) -> Dataset:
        """Encode new cases: a dataset, a raw table, a dataframe, an array, rows or columns.

        Columns are matched by name (arrays by position); values never seen while learning count as missing, with a
        warning that counts them.
        """
        if isinstance(data, Dataset):
            if data.schema.attributes == self.schema.attributes:
                return data
            data = decoded_table(data)
        raw = data if isinstance(data, RawTable) else raw_table(data, names=self._names_for(data))
        return encode(raw, self.schema, unseen=Unseen.MISSING, with_target=False)

    def _names_for(self, data: Any) -> tuple[str, ...] | None:
        """Plain arrays have no names: they are matched by position, so the number must fit."""
        shape = getattr(data, "shape", None)
        if isinstance(data, np.ndarray) and shape is not None and len(shape) == 2:
            names = self.schema.attribute_names
            if shape[1] != len(names):
                raise SchemaError(f"the array has {shape[1]} columns, the model wants {len(names)}: {', '.join(names)}")
            return names
        return self.schema.attribute_names if isinstance(data, (list, tuple)) else None

    def predict(self, data: Any) -> npt.NDArray[Any]:
        """Return the predicted label of each case."""
        return self.classes_[self.predict_codes(self.cases(data))]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model as JSON; see `treewright.load`."""
        from treewright.model.format import save_model

        save_model(self, path)


def decoded_table(data: Dataset) -> RawTable:
    """Decode a dataset, to be encoded by another schema."""
    return raw_table({name: data.column(name) for name in data.schema.attribute_names})
