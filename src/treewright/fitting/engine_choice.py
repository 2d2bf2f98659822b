"""The choice of an engine for all fits of a command, and the second process that compiles kernels for it meanwhile.

Compiled kernels grow a tree in a fraction of the interpreter's time, but the first use of a kind of table costs half a
minute of compilation. So the choice weighs the expected work of the whole command: the seconds of one tree by the
interpreter (`interpreted_seconds`), times its fits, against the time to load kernels and, unless they are there for
tables and recipes of this kind (`kernel_kind`), to compile them:

* Little work: the interpreter, and nothing is compiled.
* The kernels are there: the kernels.
* A single tree takes the interpreter so long that compiling is shorter: the kernels, which compile in the foreground.
* Otherwise the interpreter begins, a second process compiles at low priority, and the first fit after it has ended uses
  the kernels.

Invariant: the model and the estimate do not depend on which of these happens. Both engines find the same splits. Where
sums may differ in their last digits, the model that is kept has the sums of the interpreter, whichever engine searched
(`CANONICAL`); the others are only used for the classes they predict. Trees that would always be grown by kernels have
the sums of kernels.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from enum import Enum
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from treewright.data.dataset import Dataset
from treewright.data.schema import Task
from treewright.ensembles.plan import ForestPlan
from treewright.errors import ParameterError
from treewright.fitting.algorithms import Learner
from treewright.lazy_import import garbage_collection_paused
from treewright.learners.grower import CANONICAL, is_compiled
from treewright.learners.recipe import MissingPolicy, NominalTest, Recipe
from treewright.plans import Plan
from treewright.wording import did_you_mean

if TYPE_CHECKING:
    from treewright.learners.kernels.compile_ahead import BackgroundProcess

VARIABLE = "TREEWRIGHT_COMPILE"
"""The environment variable that says where kernels are compiled, see `Compile`."""

# The constants below were measured on tables of 1,000 to 30,000 rows with six numeric and eight nominal attributes, of
# which 2 to 50 values occur, whose target is mostly noise: such tables have the largest trees.

SECONDS_PER_SUBSET_TEST = 190e-6
"""Of the interpreter at an inner node for each attribute, where nominal attributes are split in two (CART)."""

SECONDS_PER_MULTIWAY_TEST = 85e-6
"""The same where each value gets a branch (C4.5, ID3: 50 to 85 microseconds)."""

SECONDS_PER_CELL = 0.2e-6
"""Of the interpreter for each cell and level of the tree: what remains where nodes are few and large."""

INNER_NODES_PER_ROW = {Task.CLASSIFICATION: 0.14, Task.REGRESSION: 0.75}
"""Inner nodes of a full tree; of three and more classes, the nodes of two times `MORE_CLASSES`."""

MORE_CLASSES = 2.5

LOADING = 0.8
"""Seconds to import Numba and to load compiled kernels."""

WORTH_COMPILING = 3.0
"""Seconds of interpreted work from which a second process compiles: less is done before a user asks for more."""

FOREGROUND = 20.0
"""Seconds of one tree by the interpreter from which kernels are compiled before anything grows. Compiling takes 30 to
45 seconds of the clock on two processors; the estimate holds for noisy tables and is two or three times too high for
others. No table below the limit of `engine="auto"` takes longer, so its sums are always those of the interpreter."""

PATIENCE = 4
"""Where no second process can be started, kernels are compiled for the work of so many times `FOREGROUND` seconds."""


class Compile(Enum):
    """Where kernels are compiled that are not there yet."""

    BACKGROUND = "background"
    """By a second process while the interpreter works."""
    FOREGROUND = "foreground"
    """Before anything grows, wherever kernels pay off in the long run."""
    OFF = "off"
    """Nowhere: the interpreter grows, however long it takes."""


def compile_setting() -> Compile:
    """Return the value of the environment variable `TREEWRIGHT_COMPILE`."""
    text = os.environ.get(VARIABLE) or Compile.BACKGROUND.value
    allowed = [one.value for one in Compile]
    if text not in allowed:
        names = ", ".join(map(repr, allowed))
        raise ParameterError(f"{VARIABLE} must be one of {names}, not {text!r}{did_you_mean(text, allowed)}")
    return Compile(text)


def interpreted_seconds(dataset: Dataset, recipe: Recipe) -> float:
    """Return the expected time of the interpreter for one tree of a noisy table; others take less.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.learners.recipe import C45
    >>> interpreted_seconds(sample("play-tennis"), C45()) < 0.01
    True
    """
    rows, attributes = dataset.n_rows, len(dataset.columns)
    binary = recipe.nominal is NominalTest.SUBSETS
    per_test = SECONDS_PER_SUBSET_TEST if binary else SECONDS_PER_MULTIWAY_TEST
    nodes = rows * INNER_NODES_PER_ROW[dataset.schema.task]
    if dataset.schema.task is Task.CLASSIFICATION and len(dataset.schema.classes) > 2:
        nodes *= MORE_CLASSES if binary else 1.5
    depth = recipe.stopping.max_depth
    if depth is not None and binary and depth < 40:
        nodes = min(nodes, 2.0**depth - 1)
    nodes = min(nodes, rows / recipe.stopping.min_leaf)
    if recipe.draw is not None and not recipe.draw.random_cuts:
        attributes = min(attributes, recipe.draw.attributes)
    levels = min(20 if depth is None else depth, max(1.0, np.log2(max(rows, 2))))
    return float(nodes * attributes * per_test + rows * attributes * levels * SECONDS_PER_CELL)


def sums_are_exact(dataset: Dataset, recipe: Recipe) -> bool:
    """Return True if all sums are of whole numbers, which both engines give to the last bit.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.learners.recipe import C45
    >>> sums_are_exact(sample("play-tennis"), C45())
    True
    """
    if dataset.schema.task is Task.REGRESSION:
        return False
    if recipe.missing is MissingPolicy.FRACTIONAL and dataset.has_missing:
        return False
    return dataset.weights is None or bool(np.all(dataset.weights == np.floor(dataset.weights)))


def kernel_kind(dataset: Dataset, plan: Plan) -> str:
    """Return a name for all fits that need the same compiled kernels.

    Kernels are compiled for types: of the columns, of the target, of the weights. Options that are numbers are
    arguments, so they do not matter; others may choose another kernel. One kind may need no more than another: then its
    second process finds everything compiled and ends at once.
    """
    from treewright.learners.kernels.histogram_growth import BLOCK

    schema = dataset.schema
    values = max((len(column.values) for column in schema.attributes), default=0)
    columns: dict[str, Any] = {
        "numeric": any(column.is_numeric for column in schema.attributes),
        "nominal": any(not column.is_numeric for column in schema.attributes),
        "wide-codes": values >= 255,
        "wide-classes": len(schema.classes) >= 256,
        "task": str(schema.task),
        "missing": dataset.has_missing,
        "weights": dataset.weights is not None,
        "block": dataset.n_rows <= BLOCK,
    }
    recipe = {name: _without_numbers(value) for name, value in plan.learner.to_dict(schema.task).items()}
    for name in ("name", "stopping", "nominal_limit"):
        recipe.pop(name, None)
    columns["pruned"] = any(method.name == "error_based" for method in plan.pruning)  # the others have no kernels
    text = json.dumps([columns, recipe], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _without_numbers(value: Any) -> Any:
    """Return plain data in which each number is only zero or not."""
    if isinstance(value, dict):
        return {key: _without_numbers(one) for key, one in value.items()}
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return value != 0
    return value


def ready_mark(kind: str) -> Path | None:
    """Return the file that says that the kernels of a kind are compiled; None where no folder is writable."""
    from treewright.jit import cache_folder

    folder = cache_folder()
    return None if folder is None else folder / f"ready-{kind}"


def engine_of_folds(dataset: Dataset, learner: Learner, fits: int) -> str:
    """Return the engine for all folds of a table: of a small one the kernels if they are there, otherwise "auto".

    Nothing is compiled for it. Small is what "auto" leaves to the interpreter.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.plans import c45
    >>> engine_of_folds(sample("play-tennis"), c45(), 10)
    'auto'
    """
    if dataset.target is None or is_compiled("auto", dataset):
        return "auto"
    choice = EngineChoice(dataset, learner, fits)
    return choice.for_fold() if choice.is_ready else "auto"


class EngineChoice:
    """Chooses the engine of each fit of a command.

    Parameters
    ----------
    dataset : Dataset
        All cases; folds have fewer.
    learner : Learner
    fits : int
        Number of fits of the command: the model that is kept, and the folds of its estimate.
    engine : str
        What the user wants; all but "auto" is taken as it is.
    on_start : callable or None
        Called when a second process begins to compile.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.plans import c45
    >>> choice = EngineChoice(sample("play-tennis"), c45(), fits=11)
    >>> choice.for_model(), choice.for_fold()
    ('interpreted', 'interpreted')
    """

    def __init__(
        self,
        dataset: Dataset,
        learner: Learner,
        fits: int,
        engine: str = "auto",
        *,
        on_start: Callable[[], None] | None = None,
    ) -> None:
        self._dataset, self._left = dataset, fits
        self._engine = engine
        self._on_start = on_start
        self._background: BackgroundProcess | None = None
        self._ready = False
        self._mark: Path | None = None
        self.compiles_here = False
        self._plan: Plan | None = None
        self._recipe: Recipe | None = None
        self._expected = 0.0
        if engine == "auto" and dataset.target is not None:
            self._prepare(learner)
        self._seconds = self._expected

    def _prepare(self, learner: Learner) -> None:
        """Estimate the work of learners that kernels may grow; the engines of others choose for themselves."""
        tree = learner.tree
        if tree.learner.recipe is None or not isinstance(learner, (Plan, ForestPlan)):
            return
        plan = tree.for_schema(self._dataset.schema)
        recipe = plan.learner.recipe
        if recipe is None:
            return
        trees = 1
        if isinstance(learner, ForestPlan):
            if not sums_are_exact(self._dataset, recipe):
                return
            trees = learner.trees
        else:
            self._plan = plan
        self._recipe = recipe
        self._expected = trees * interpreted_seconds(self._dataset, recipe)

    # -- the choice --------------------------------------------------------------------------------------------------

    def for_model(self) -> str:
        """Return the engine for the model that is kept."""
        if self._recipe is None or self._plan is None:
            return self._for_forest()
        if not self._by_kernels():
            return self._without_kernels()
        if self._expected > FOREGROUND or sums_are_exact(self._dataset, self._recipe):
            return "compiled"
        return CANONICAL

    def for_fold(self) -> str:
        """Return the engine for a model that only predicts test cases."""
        if self._recipe is None or self._plan is None:
            return self._for_forest()
        if not self._by_kernels():
            return self._without_kernels()
        # Predicted numbers are compared with all their digits; a class is the same by any sum.
        regression = self._dataset.schema.task is Task.REGRESSION
        return CANONICAL if regression and self._expected <= FOREGROUND else "compiled"

    def _for_forest(self) -> str:
        """Return the engine of other learners: that of the size of the data, but for small forests without kernels."""
        if self._recipe is None or self._expected > FOREGROUND or compile_setting() is Compile.FOREGROUND:
            return self._engine
        from treewright import jit

        return self._engine if jit.is_compiled() else "interpreted"

    def _without_kernels(self) -> str:
        """Return the engine where the kernels do not grow whole trees: they may still count for the interpreter."""
        return "interpreted" if self._is_supported else "auto"

    def _by_kernels(self) -> bool:
        """Return True if kernels grow the next tree; start the second process where that is worth it."""
        if self._ready or self.compiles_here:
            return True
        if self._background is not None:
            self._ready = self._background.has_succeeded
            return self._ready
        if self.is_ready:
            self._ready = True
            return True
        left = self._seconds * self._left
        if left < LOADING or not self._is_supported:
            return False
        setting = compile_setting()
        if setting is Compile.OFF or left < WORTH_COMPILING:
            return False
        in_background = setting is Compile.BACKGROUND and self._expected <= FOREGROUND and self._start()
        if not in_background:
            self.compiles_here = setting is Compile.FOREGROUND or max(self._expected, left / PATIENCE) > FOREGROUND
        return self.compiles_here

    @property
    def is_ready(self) -> bool:
        """Whether kernels for these trees are compiled, and there is enough work to load them."""
        return self._seconds * self._left >= LOADING and self._is_supported and self._is_marked()

    @cached_property
    def _is_supported(self) -> bool:
        """Whether kernels grow whole trees by the recipe."""
        if self._seconds * self._left < LOADING:
            return True  # it does not matter, and small tables do not import Numba
        with garbage_collection_paused():
            from treewright.learners.kernels.options import is_supported

        return self._recipe is not None and is_supported(self._recipe)

    def _is_marked(self) -> bool:
        """Return True if kernels of this kind are compiled."""
        if self._mark is None and self._plan is not None:
            self._mark = ready_mark(kernel_kind(self._dataset, self._plan))
        return self._mark is not None and self._mark.exists()

    def _start(self) -> bool:
        """Start the second process; return False if it cannot be started or its code cannot be kept."""
        from treewright.fitting.warm_up import start_background

        if self._mark is None or self._plan is None:
            return False
        self._background = start_background(self._dataset, self._plan)
        if self._background is not None and self._on_start is not None:
            self._on_start()
        return self._background is not None

    # -- what happened -----------------------------------------------------------------------------------------------

    def fitted(self, engine: str, seconds: float) -> None:
        """Note the end of a fit by the engine that was chosen, and the seconds it took."""
        self._left -= 1
        if engine == "interpreted":
            self._seconds = seconds
        elif self.compiles_here and self._mark is not None:
            with suppress(OSError):  # without the file the next process compiles once more, which finds all there is
                self._mark.touch()

    @contextmanager
    def running(self, *, leave: Callable[[int], bool] | None = None) -> Iterator[EngineChoice]:
        """End the second process with the command, unless `leave`, called with its number, returns True."""
        try:
            yield self
        except BaseException:
            leave = None
            raise
        finally:
            process = self._background
            if process is not None:
                if process.is_running and leave is not None and leave(process.number):
                    process.leave()
                else:
                    process.end()
