"""The base class of models: encode new cases, predict, save. Prediction needs no learner."""

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
    """Base class of all models; subclasses provide `schema` and `predict_codes`."""

    @property
    def schema(self) -> Schema:
        """The schema of the training data."""
        raise NotImplementedError  # provided by each model class

    def predict_codes(self, cases: Dataset) -> npt.NDArray[np.intp]:
        """Return class indices in class order."""
        raise NotImplementedError  # provided by each model class

    @cached_property
    def classes_(self) -> npt.NDArray[Any]:
        """The classes in order: the columns of probabilities."""
        if self.schema.task is Task.REGRESSION:
            raise ParameterError("a regression model has no classes")
        return labels_of(self.schema.target_column)

    def cases(self, data: Any) -> Dataset:
        """Encode new cases: a dataset, a raw table, a dataframe, an array, rows or columns.

        Columns are matched by name, arrays by position. Categories not seen in training count as missing; a warning
        gives their number.
        """
        if isinstance(data, Dataset):
            if data.schema.attributes == self.schema.attributes:
                return data
            data = decoded_table(data)
        raw = data if isinstance(data, RawTable) else raw_table(data, names=self._names_for(data))
        return encode(raw, self.schema, unseen=Unseen.MISSING, with_target=False)

    def _names_for(self, data: Any) -> tuple[str, ...] | None:
        """Return the column names of data that has none, which is matched by position."""
        shape = getattr(data, "shape", None)
        if isinstance(data, np.ndarray) and shape is not None and len(shape) == 2:
            names = self.schema.attribute_names
            if shape[1] != len(names):
                raise SchemaError(
                    f"the array has {shape[1]} columns, the model expects {len(names)}: {', '.join(names)}"
                )
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
    """Decode a dataset, so that it can be encoded with another schema."""
    return raw_table({name: data.column(name) for name in data.schema.attribute_names})
