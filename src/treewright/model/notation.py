r"""A tree on one line, as it is written on a blackboard: ``x1(x2(A,B),x2(A,B))``.

Vocabulary
----------
notation
    An attribute's name and, in brackets, one subtree for each of its declared values, in declared order. A leaf is the
    name of its class, or ``*`` if it is open. Space between the parts means nothing.
bare name
    A name without space, control characters and ``( ) , * " \``. Any other one is written in double quotes, where a
    backslash announces a quote, a backslash, or a character by its number (``\n \r \t \xhh \uhhhh \Uhhhhhhhh``).

Invariants
----------
Only the form and the classes are written: no counts, no reasons for stopping but open or not, no way of missing values.
``parse_notation(to_notation(tree), tree.schema)`` has the same tests, the same open leaves and the same classes at all
other leaves. Any text is either understood or refused by a `ParameterError` that says where; size is bounded before
anything is built, and no depth costs stack.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NoReturn

import numpy as np

from treewright._base.errors import ParameterError
from treewright._base.near_names import quoted_list, unknown_name
from treewright._base.printable import printable
from treewright.data.schema import Schema, Task
from treewright.model.build import NodeRecord, build_tree
from treewright.model.split import STAY, Split, Test
from treewright.model.tree import LEAF, TESTS, Stop, Tree

OPEN_LEAF = "*"
"""How a leaf without a class is written."""

LONGEST_NOTATION = 1_000_000
"""Characters that `parse_notation` reads unless told otherwise."""

MOST_CELLS = 20_000_000
"""Nodes times classes that `parse_notation` builds at most: a table of this size has to be held."""

_LONGEST_SHOWN = 60
_NOMINAL = TESTS.index(Test.NOMINAL)
_BARE = re.compile(r'[^\s(),*"\\]+')
# The possessive *+ keeps an unclosed quote from being tried again from every character.
_TOKEN = re.compile(r'(?P<mark>[(),*])|"(?P<quoted>(?:[^"\\]|\\.)*+)"|(?P<bare>[^\s(),*"\\]+)', re.DOTALL)
_SPACE = re.compile(r"\s*")
_ESCAPE = re.compile(r'\\(?:(["\\nrt])|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|)')
_SHORT_ESCAPES = {'"': '"', "\\": "\\", "n": "\n", "r": "\r", "t": "\t"}
_LAST_CHARACTER = 0x10FFFF


def to_notation(tree: Tree) -> str:
    """Write a tree on one line.

    Parameters
    ----------
    tree : Tree
        Its leaves say classes, and each of its tests has a branch for every value.

    Raises
    ------
    ParameterError
        For a regression tree and for other tests, which the notation has no form for.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.grow.cal.learner import CalLearner
    >>> from treewright.grow.cal.options import CAL2
    >>> learner = CalLearner(sample("cal2").schema, CAL2())
    >>> to_notation(learner.tree)
    '*'
    >>> _ = learner.learn_all(sample("cal2"))
    >>> to_notation(learner.tree)
    'x1(x2(A,B),x2(A,B))'
    """
    if tree.is_regression:
        raise ParameterError("the notation is for classes; a regression tree says numbers")
    classes = [_written(name) for name in tree.schema.classes]
    attributes = [_written(name) for name in tree.schema.attribute_names]
    pieces: list[str] = []
    waiting: list[int | str] = [0]
    while waiting:
        piece = waiting.pop()
        if isinstance(piece, str):
            pieces.append(piece)
            continue
        attribute = int(tree.attribute[piece])
        if attribute == LEAF:
            pieces.append(OPEN_LEAF if tree.node(piece).stop is Stop.OPEN else classes[int(tree.outcome[piece])])
            continue
        if tree.test[piece] != _NOMINAL:
            form = TESTS[tree.test[piece]]
            raise ParameterError(f"the notation is for tests with a branch for each value; node {piece} has '{form}'")
        pieces.append(f"{attributes[attribute]}(")
        waiting.append(")")
        for place, child in reversed(list(enumerate(tree.children_of(piece).tolist()))):
            waiting += [child, ","] if place else [child]
    return "".join(pieces)


def parse_notation(text: str, schema: Schema, *, longest: int = LONGEST_NOTATION) -> Tree:
    r"""Read a tree from one line.

    Parameters
    ----------
    text : str
    schema : Schema
        Declares the attributes with their values, and the classes.
    longest : int
        Characters that are read at most.

    Returns
    -------
    Tree
        With no cases counted. An inner node, asked as a leaf (a missing value stays there), says the class that most
        leaves below it say, the first declared of equals; an open leaf says what the node above it says.

    Raises
    ------
    ParameterError
        With the position, counted in characters from 1, of what cannot be understood.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> tree = parse_notation("x1( x2(A, B), * )", sample("cal2").schema)
    >>> tree.n_leaves, to_notation(tree)
    (3, 'x1(x2(A,B),*)')
    >>> parse_notation("x1(A)", sample("cal2").schema)
    Traceback (most recent call last):
        ...
    treewright._base.errors.ParameterError: notation, character 5: 'x1' has 2 values ('0', '1'), but this is 1 branch
    """
    if schema.task is Task.REGRESSION or not schema.classes:
        raise ParameterError("the notation is for classes, and the schema declares none")
    if len(text) > longest:
        raise ParameterError(f"the notation has {len(text)} characters; at most {longest} are read")
    reader = _Reader(schema)
    for token, following in pairwise(_tokens(text)):
        reader.take(token, opens=following.text == "(" and following.is_mark)
    reader.end(len(text))
    _settle_outcomes(reader.records, len(schema.classes))
    return build_tree(schema, reader.records)[0]


# -- writing ---------------------------------------------------------------------------------------------------------


def _written(name: str) -> str:
    if name.isprintable() and _BARE.fullmatch(name):
        return name
    # Backslashes are doubled first: those that `printable` puts in are then the only single ones.
    safe = printable(name.replace("\\", "\\\\"))
    return '"' + safe.replace('"', '\\"') + '"'


# -- reading ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Token:
    """A mark or a name, and where it begins; the end of the text is a mark without characters."""

    text: str
    is_mark: bool
    position: int


def _refuse(position: int, message: str) -> NoReturn:
    raise ParameterError(f"notation, character {position + 1}: {message}")


def _tokens(text: str) -> Iterator[_Token]:
    place = _after_space(text, 0)
    while place < len(text):
        found = _TOKEN.match(text, place)
        if found is None:
            _refuse(place, "this quote is not closed" if text[place] == '"' else "a backslash outside of quotes")
        if found["quoted"] is not None:
            yield _Token(_unquoted(found["quoted"], place + 1), is_mark=False, position=place)
        else:
            yield _Token(found[0], is_mark=found["mark"] is not None, position=place)
        place = _after_space(text, found.end())
    yield _Token("", is_mark=True, position=len(text))


def _after_space(text: str, place: int) -> int:
    space = _SPACE.match(text, place)
    return place if space is None else space.end()


def _unquoted(inside: str, start: int) -> str:
    def character(escape: re.Match[str]) -> str:
        short, *numbers = escape.groups()
        if short is not None:
            return _SHORT_ESCAPES[short]
        number = int(next((digits for digits in numbers if digits is not None), "-1"), 16)
        if not 0 <= number <= _LAST_CHARACTER:
            _refuse(start + escape.start(), r'after a backslash comes one of " \ n r t xhh uhhhh Uhhhhhhhh')
        return chr(number)

    return _ESCAPE.sub(character, inside)


class _Reader:
    """Takes the parts one by one and makes the records of the nodes, parents first."""

    def __init__(self, schema: Schema) -> None:
        self.records: list[NodeRecord] = []
        self._schema = schema
        self._attribute = {name: index for index, name in enumerate(schema.attribute_names)}
        self._class = {name: code for code, name in enumerate(schema.classes)}
        self._no_counts = np.zeros(len(schema.classes), dtype=np.int64)
        self._splits: dict[str, Split] = {}
        self._open: list[int] = []  # the inner nodes whose brackets are not closed, the outermost first
        self._subtree_due = True
        self._bracket_due = False

    def take(self, token: _Token, *, opens: bool) -> None:
        """Take one part; `opens` says whether an opening bracket follows it."""
        if self._bracket_due:
            self._bracket_due = False
        elif self._subtree_due:
            self._subtree(token, opens=opens)
        else:
            self._continue(token)

    def end(self, position: int) -> None:
        """Refuse a tree that is not complete."""
        if self._subtree_due:
            _refuse(position, "a subtree is missing here: an attribute, a class or *")
        if self._open:
            _refuse(position, f"the bracket of {self._shown(self._open[-1])} is not closed")

    def _subtree(self, token: _Token, *, opens: bool) -> None:
        if token.is_mark and token.text != OPEN_LEAF:
            _refuse(token.position, f"a subtree is expected here (an attribute, a class or *), not {token.text!r}")
        self._attach(token.position)
        if token.is_mark:
            self._leaf(0, Stop.OPEN)
        elif opens:
            self._inner(token)
        elif token.text in self._class:
            self._leaf(self._class[token.text], Stop.EMPTY)
        elif token.text in self._attribute:
            _refuse(token.position, f"{token.text!r} is an attribute and needs its branches in brackets")
        else:
            _refuse(token.position, unknown_name("class", token.text[:_LONGEST_SHOWN], self._class))

    def _attach(self, position: int) -> None:
        """Make the node that comes next a branch of the innermost open one."""
        if (len(self.records) + 1) * len(self._class) > MOST_CELLS:
            _refuse(position, f"the tree is too large: nodes times classes may be {MOST_CELLS} at most")
        if self._open:
            self.records[self._open[-1]].children.append(len(self.records))

    def _leaf(self, outcome: int, stop: Stop) -> None:
        self.records.append(NodeRecord(0.0, self._no_counts, outcome, stop=stop))
        self._subtree_due = False

    def _inner(self, token: _Token) -> None:
        if token.text not in self._splits:
            self._splits[token.text] = self._split(token)
        self._open.append(len(self.records))
        self.records.append(NodeRecord(0.0, self._no_counts, 0, self._splits[token.text]))
        self._bracket_due = True

    def _split(self, token: _Token) -> Split:
        if token.text not in self._attribute:
            _refuse(token.position, unknown_name("attribute", token.text[:_LONGEST_SHOWN], self._attribute))
        attribute = self._attribute[token.text]
        column = self._schema.attributes[attribute]
        if column.is_numeric:
            _refuse(token.position, f"attribute {column.name!r} is numeric and has no branch for each value")
        if len(column.values) < 2:
            _refuse(token.position, f"attribute {column.name!r} declares fewer than two values and cannot be tested")
        return Split.multiway(attribute, len(column.values), STAY)

    def _continue(self, token: _Token) -> None:
        """Take what may follow a subtree: a comma, or the bracket that closes the node above it."""
        if not self._open:
            _refuse(token.position, f"the tree is complete, but {token.text[:_LONGEST_SHOWN]!r} follows")
        node = self.records[self._open[-1]]
        values = 0 if node.split is None else node.split.n_branches
        if token.is_mark and token.text == ")":
            if len(node.children) < values:
                self._refuse_branches(token.position, len(node.children))
            self._open.pop()
        elif token.is_mark and token.text == ",":
            if len(node.children) == values:
                self._refuse_branches(token.position, values + 1)
            self._subtree_due = True
        else:
            _refuse(token.position, f"a comma or ) is expected here, not {token.text[:_LONGEST_SHOWN]!r}")

    def _refuse_branches(self, position: int, found: int) -> NoReturn:
        split = self.records[self._open[-1]].split
        values = () if split is None else self._schema.attributes[split.attribute].values
        branches = "1 branch" if found == 1 else f"{found} branches"
        name = self._shown(self._open[-1])
        _refuse(position, f"{name} has {len(values)} values ({quoted_list(values)}), but this is {branches}")

    def _shown(self, number: int) -> str:
        split = self.records[number].split
        return "a leaf" if split is None else repr(self._schema.attributes[split.attribute].name)


def _settle_outcomes(records: list[NodeRecord], n_classes: int) -> None:
    """Let inner nodes say what most leaves below them say, and nodes with no class below what is said above."""
    votes = np.zeros((len(records), n_classes), dtype=np.int64)
    for number in range(len(records) - 1, -1, -1):
        record = records[number]
        if record.stop is Stop.EMPTY:
            votes[number, int(record.outcome)] = 1
        for child in record.children:
            votes[number] += votes[child]
    for number, record in enumerate(records):
        if votes[number].any():
            record.outcome = int(np.argmax(votes[number]))
        for child in record.children:
            records[child].outcome = record.outcome  # until it is the child's turn, which may know better
