"""The face that every algorithm shows: what it can do, how it grows a tree, and what it reports about a split.

`TreeLearner` is the base of all learners of single trees: the recipes of the shared grower, the programs that are
reproduced (C4.5 Release 8, J48, rpart), and procedures of their own (CHAID, CAL2, CAL3). A learner is a frozen
dataclass of options: equal options and equal cases give equal trees. A new one needs `grow`; every other method has a
default that suits a learner of classification trees.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from treewright.data.dataset import Dataset
from treewright.data.schema import Task
from treewright.errors import ParameterError
from treewright.parameters import check_jobs
from treewright.tree.model import Voting
from treewright.tree.split import EvaluatedSplit
from treewright.tree.tree import Stop, Tree

if TYPE_CHECKING:
    from treewright.learners.cal.growing import CaseByCase
    from treewright.learners.recipe import Recipe
    from treewright.tree.forest import Forest

Progress = Callable[[int, int], None]
"""Called with the cases (of a forest: the trees) done and in all."""

SplitTraces = Mapping[int, tuple[EvaluatedSplit, ...]]
"""Split traces by node: the evaluated splits of its attributes."""


class Weights(Enum):
    """The case weights that a learner takes."""

    NONE = "none"
    """Every case counts once. In an ensemble, whole weights become copies of the cases."""
    ANY = "any"


@dataclass(frozen=True)
class Abilities:
    """What a learner can take; it is checked before any work, and listed in help and documentation.

    Parameters
    ----------
    tasks : frozenset of Task
    weights : Weights
    engines : frozenset of str
        In memory: "interpreted", and "compiled" where kernels grow the tree.
    out_of_core : bool
        Whether an out-of-core engine can count for it.
    sampled_attributes : bool
        Whether it can grow the trees of a random forest, which sample attributes and cuts.
    grows_on : bool
        Whether it learns case by case.
    probabilities : bool
        Whether its model has class probabilities, which smoothing and the costs of mistakes need.
    many_trees : bool
        Whether it grows many trees: it can stop after a time limit, and go on with a forest that it has begun.
    out_of_bag : bool
        Whether each of many trees leaves out cases, which it can be tested with.
    """

    tasks: frozenset[Task] = frozenset({Task.CLASSIFICATION})
    weights: Weights = Weights.ANY
    engines: frozenset[str] = frozenset({"interpreted"})
    out_of_core: bool = False
    sampled_attributes: bool = False
    grows_on: bool = False
    probabilities: bool = True
    many_trees: bool = False
    out_of_bag: bool = False


@dataclass(frozen=True)
class Run:
    """The circumstances of learning: how long it takes and what is reported. Only a time limit changes the model.

    Parameters
    ----------
    engine : {"auto", "interpreted", "compiled"}
    n_jobs : int or None
        Threads; None and -1 for all processors (a forest: None for one).
    progress : callable or None
    keep_trace : bool
        Whether the split traces of the nodes are wanted.
    time_limit : float or None
        Seconds after which no further tree of many is begun.
    resume : Forest or None
        A forest of the same plan and data with fewer trees, to go on with.
    """

    engine: str = "auto"
    n_jobs: int | None = None
    progress: Progress | None = None
    keep_trace: bool = True
    time_limit: float | None = None
    resume: Forest | None = None

    def __post_init__(self) -> None:
        check_jobs(self.n_jobs)


@dataclass(frozen=True)
class Grown:
    """A tree as it was grown, and what came to be known on the way.

    Parameters
    ----------
    tree : Tree
    traces : mapping of int to split traces
        For the nodes whose traces were kept.
    traced : bool
        False if the traces are still to be made (`TreeLearner.trace`).
    cases : Dataset or None
        The cases as they count in the tree: binned, usable ones only, weighted by priors. None: as they were given.
    statistics : dict
        Plain data for the model, such as a cp table.
    """

    tree: Tree
    traces: SplitTraces = field(default_factory=dict)
    traced: bool = True
    cases: Dataset | None = None
    statistics: Mapping[str, Any] = field(default_factory=dict)


class TreeLearner(ABC):
    """The base of the learners of single trees."""

    kinds: ClassVar[dict[str, type[TreeLearner]]] = {}
    """All classes by the name under which model files keep their options."""

    voting: ClassVar[Voting] = Voting.SHARES
    """How the model combines the leaves of a fractional case."""

    def __init_subclass__(cls, **rest: Any) -> None:
        super().__init_subclass__(**rest)
        TreeLearner.kinds[cls.__name__] = cls

    @abstractmethod
    def grow(self, cases: Dataset, run: Run) -> Grown:
        """Grow a tree from cases that have a target."""

    # -- what it is ----------------------------------------------------------------------------------------------------

    @property
    def title(self) -> str:
        """The name for people."""
        return type(self).__name__

    @property
    def abilities(self) -> Abilities:
        """What it can take."""
        return Abilities()

    @property
    def nominal_limit(self) -> int:
        """Whole-number columns with at most this many values are proposed as nominal."""
        return 0

    @property
    def loss(self) -> tuple[tuple[float, ...], ...] | None:
        """The costs of mistakes that it grows by, None if all mistakes cost the same."""
        return None

    @property
    def recipe(self) -> Recipe | None:
        """The recipe that the shared grower follows; None for a learner with a procedure of its own."""
        return None

    @property
    def numeric_bins(self) -> int | None:
        """The number of bins that numeric attributes are put into before growing; None takes numbers as they are."""
        return None

    @property
    def max_depth(self) -> int | None:
        """The largest depth to which it grows; None if there is no limit."""
        recipe = self.recipe
        return None if recipe is None else recipe.stopping.max_depth

    @property
    def order(self) -> str:
        """The order in which nodes are split: "levels", "best" (highest gain first) or "depth"."""
        return "levels"

    def criterion_for(self, task: Task) -> str:
        """Return the criterion by name; empty for a learner that scores no splits."""
        return ""

    def reference(self, task: Task) -> Recipe:
        """Return the recipe that scores the splits in traces and explanations.

        Numbers are cut in two by the default, so that tables can be counted for any intervals.
        """
        from treewright.learners.recipe import Recipe

        return Recipe(self.title, self.criterion_for(task) or "gain", nominal_limit=self.nominal_limit)

    # -- how it is described -------------------------------------------------------------------------------------------

    def words(self) -> list[str]:
        """Return the options that matter, in a few words each."""
        return []

    def describe(self, pruned: Sequence[str]) -> str:
        """Describe the learner and the prunings that follow it in one line."""
        return ", ".join([*self.words(), *pruned])

    def options_record(self) -> dict[str, Any]:
        """Return the options as plain data for the model file."""
        return {name: _plain(value) for name, value in asdict(self).items()} if is_dataclass(self) else {}

    def to_dict(self, task: Task) -> dict[str, Any]:
        """Return plain data for the model file: the reference recipe and the options."""
        plain = {**self.reference(task).to_dict(), "name": self.title}
        return plain | {"options": {"learner": type(self).__name__, **self.options_record()}}

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> Self:
        """Make the learner again from the options in a model file, which has all of them."""
        known: list[str] = [one.name for one in fields(cls)] if is_dataclass(cls) else []
        return cls(**{name: as_tuples(options[name]) for name in known})

    def search_report(self) -> dict[str, Any]:
        """Return what a model keeps about how splits were searched."""
        return {}

    # -- how it learns -------------------------------------------------------------------------------------------------

    def for_task(self, task: Task, target: str | None = None) -> TreeLearner:
        """Return the learner for classes or for numbers, or refuse the task."""
        if task not in self.abilities.tasks:
            raise ParameterError(
                f"{self.title} predicts classes, and the target {target!r} is a number: "
                "use CART or CHAID, or declare the target a class"
            )
        return self

    def for_class_order(self, codes: npt.NDArray[np.integer[Any]], n_classes: int) -> TreeLearner:
        """Return the learner whose options by class are in category order.

        Parameters
        ----------
        codes : array of int
            The code of each class in the order in which the options were given.
        n_classes : int
            Classes of the schema; those that were not given have no prior, and mistakes about them cost 1.
        """
        return self

    def unpruned(self) -> TreeLearner:
        """Return the learner without a pruning of its own."""
        return self

    @property
    def prunes_itself(self) -> bool:
        """Whether the learner prunes what it has grown."""
        return False

    def grow_unpruned(self, cases: Dataset) -> Tree:
        """Return the tree before any pruning, to be compared with the pruned one."""
        return self.unpruned().grow(cases, Run(engine="interpreted", keep_trace=False)).tree

    def counted(self, cases: Dataset, tree: Tree) -> Dataset:
        """Return the cases as they count in a tree of this learner."""
        return cases

    def begin(self, first: Dataset, *, keep_trace: bool = False) -> CaseByCase:
        """Return a learner that cases like these can be presented to, one by one; only if the abilities say so."""
        raise ParameterError(f"{self.title} learns from all cases at once; CAL2 and CAL3 learn case by case")

    # -- out of core ---------------------------------------------------------------------------------------------------

    def grow_over(
        self,
        engine: Any,
        *,
        finish_rows: int,
        progress: Progress | None = None,
        state: Any = None,
        on_level: Callable[[int, int], None] | None = None,
        keep_trace: bool = True,
    ) -> Grown:
        """Grow over an engine that counts out of core; only for a learner whose abilities say so.

        Parameters
        ----------
        engine : OutOfCoreEngine
        finish_rows : int
            Nodes with at most so many cases are fetched and finished in memory.
        progress : callable or None
        state : GrowthFile or None
            Where the tree so far is kept after each level.
        on_level : callable or None
            Called before each level with its depth and the number of open nodes.
        keep_trace : bool
        """
        raise ParameterError(f"{self.title} does not grow over tables that {engine.name} counts")

    def trace_over(self, engine: Any, tree: Tree, task: Task) -> SplitTraces:
        """Return the split traces of a tree, counted out of core."""
        from treewright.learners.out_of_core import trace_out_of_core
        from treewright.learners.tracing import corrected_traces

        return corrected_traces(self, trace_out_of_core(engine, self.reference(task), tree), tree)

    def finish_over(self, engine: Any, grown: Grown) -> Grown:
        """Return the tree with its thresholds where growing in memory puts them."""
        return grown

    # -- what it reports -----------------------------------------------------------------------------------------------

    def trace(self, grown: Grown, cases: Dataset, tree: Tree, task: Task, run: Run) -> SplitTraces:
        """Return the split traces of a tree that was grown by this learner, and perhaps pruned."""
        from treewright.learners.tracing import traces_of

        return traces_of(self, grown, cases, tree, task, run)

    def trace_grown(self, cases: Dataset, tree: Tree) -> SplitTraces | None:
        """Return the traces of the tree that this learner grows from the cases; None: count by the reference recipe."""
        return None

    def trace_node(self, cases: Dataset, tree: Tree, node: int, recipe: Recipe) -> tuple[EvaluatedSplit, ...] | None:
        """Return the trace of one node of a finished tree, by the reference recipe; None where no test was tried."""
        from treewright.learners.tracing import trace_by_reference

        return trace_by_reference(recipe, cases, tree, node)

    def trace_notes(self) -> tuple[str, ...]:
        """Return the codes of notes on where the learner chose by other numbers than those in its traces."""
        return ()

    @property
    def relearnable(self) -> bool:
        """Whether a model file keeps all that is needed to learn in the same way from other cases."""
        return True

    @property
    def own_pruning(self) -> dict[str, Any] | None:
        """The pruning of its own as plain data with the name of the method, None if it has none."""
        return None

    def corrected(self, entry: EvaluatedSplit, stop: Stop | None) -> EvaluatedSplit:
        """Return an entry of a trace by the reference recipe as this learner decided it."""
        return entry


def as_tuples(value: Any) -> Any:
    """Return lists, which JSON has, as the tuples that options hold.

    Examples
    --------
    >>> as_tuples([1, [2.0, "a"]])
    (1, (2.0, 'a'))
    """
    return tuple(as_tuples(one) for one in value) if isinstance(value, list) else value


def _plain(value: Any) -> Any:
    """Return a number of NumPy as one of Python, which a model file can hold."""
    return value.item() if isinstance(value, np.generic) else value
