r"""A tree on one line: ``x1(x2(A,B),x2(A,B))``.

An inner node is the attribute's name followed by one subtree per category in parentheses, in category order. A leaf is
the name of its class, or ``*`` if it is open. White space between tokens is ignored. A name with space, control
characters or ``( ) , * " \`` is written in double quotes, where a backslash escapes a quote, a backslash, or a
character by its code (``\n \r \t \xhh \uhhhh \Uhhhhhhhh``).

Only structure and classes are written: no counts, no stop reasons except open, no treatment of missing values.
Invariant: ``parse_notation(to_notation(tree), tree.schema)`` has the same tests, the same open leaves and the same
classes at all other leaves. A text is either parsed or rejected by a `ParameterError` with the position; the size is
checked before anything is built, and depth needs no call stack.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NoReturn

import numpy as np

from treewright.data.schema import Schema, Task
from treewright.errors import ParameterError
from treewright.tree.build import NodeRecord, build_tree
from treewright.tree.split import STAY, Split, Test
from treewright.tree.tree import LEAF, TESTS, Stop, Tree
from treewright.wording import printable, quoted_list, unknown_name

OPEN_LEAF = "*"
"""How a leaf without a class is written."""

LONGEST_NOTATION = 1_000_000
"""Default maximum number of characters for `parse_notation`."""

MOST_CELLS = 20_000_000
"""Maximum of nodes times classes for `parse_notation`, the size of the table of counts."""

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
        A classification tree whose tests have one branch per category.

    Raises
    ------
    ParameterError
        For a regression tree and for other tests, which the notation cannot express.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.learners.cal.growing import CalLearner
    >>> from treewright.learners.cal.options import CAL2
    >>> learner = CalLearner(sample("cal2").schema, CAL2())
    >>> to_notation(learner.tree)
    '*'
    >>> _ = learner.learn_all(sample("cal2"))
    >>> to_notation(learner.tree)
    'x1(x2(A,B),x2(A,B))'
    """
    if tree.is_regression:
        raise ParameterError("the notation is for classes; a regression tree predicts numbers")
    classes = [_quoted(name) for name in tree.schema.classes]
    attributes = [_quoted(name) for name in tree.schema.attribute_names]
    fragments: list[str] = []
    stack: list[int | str] = [0]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            fragments.append(item)
            continue
        attribute = int(tree.attribute[item])
        if attribute == LEAF:
            fragments.append(OPEN_LEAF if tree.node(item).stop is Stop.OPEN else classes[int(tree.outcome[item])])
            continue
        if tree.test[item] != _NOMINAL:
            form = TESTS[tree.test[item]]
            raise ParameterError(f"the notation is for tests with a branch for each value; node {item} has '{form}'")
        fragments.append(f"{attributes[attribute]}(")
        stack.append(")")
        for branch, child in reversed(list(enumerate(tree.children_of(item).tolist()))):
            stack += [child, ","] if branch else [child]
    return "".join(fragments)


def parse_notation(text: str, schema: Schema, *, longest: int = LONGEST_NOTATION) -> Tree:
    r"""Parse a tree from one line.

    Parameters
    ----------
    text : str
    schema : Schema
        The attributes with their categories, and the classes.
    longest : int
        Maximum number of characters.

    Returns
    -------
    Tree
        Without counts. An inner node (where a case with a missing value stays) predicts the class of most leaves
        below it, the first of equals; an open leaf predicts what its parent predicts.

    Raises
    ------
    ParameterError
        With the 1-based position of the error.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> tree = parse_notation("x1( x2(A, B), * )", sample("cal2").schema)
    >>> tree.n_leaves, to_notation(tree)
    (3, 'x1(x2(A,B),*)')
    >>> parse_notation("x1(A)", sample("cal2").schema)
    Traceback (most recent call last):
        ...
    treewright.errors.ParameterError: notation, character 5: 'x1' has 2 values ('0', '1'), but this is 1 branch
    """
    if schema.task is Task.REGRESSION or not schema.classes:
        raise ParameterError("the notation is for classes, and the schema declares none")
    if len(text) > longest:
        raise ParameterError(f"the notation has {len(text)} characters; at most {longest} are read")
    reader = _Reader(schema)
    for token, following in pairwise(_tokens(text)):
        reader.take(token, opens=following.text == "(" and following.is_mark)
    reader.end(len(text))
    _set_outcomes(reader.records, len(schema.classes))
    return build_tree(schema, reader.records)[0]


# -- writing ---------------------------------------------------------------------------------------------------------


def _quoted(name: str) -> str:
    if name.isprintable() and _BARE.fullmatch(name):
        return name
    # Backslashes are doubled first, so that those inserted by `printable` are the only single ones.
    safe = printable(name.replace("\\", "\\\\"))
    return '"' + safe.replace('"', '\\"') + '"'


# -- reading ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Token:
    """A mark or a name with its position; the end of the text is a mark without characters."""

    text: str
    is_mark: bool
    position: int


def _reject(position: int, message: str) -> NoReturn:
    raise ParameterError(f"notation, character {position + 1}: {message}")


def _tokens(text: str) -> Iterator[_Token]:
    position = _after_space(text, 0)
    while position < len(text):
        found = _TOKEN.match(text, position)
        if found is None:
            _reject(position, "this quote is not closed" if text[position] == '"' else "a backslash outside of quotes")
        if found["quoted"] is not None:
            yield _Token(_unquoted(found["quoted"], position + 1), is_mark=False, position=position)
        else:
            yield _Token(found[0], is_mark=found["mark"] is not None, position=position)
        position = _after_space(text, found.end())
    yield _Token("", is_mark=True, position=len(text))


def _after_space(text: str, position: int) -> int:
    space = _SPACE.match(text, position)
    return position if space is None else space.end()


def _unquoted(quoted: str, start: int) -> str:
    def character(escape: re.Match[str]) -> str:
        short, *numbers = escape.groups()
        if short is not None:
            return _SHORT_ESCAPES[short]
        number = int(next((digits for digits in numbers if digits is not None), "-1"), 16)
        if not 0 <= number <= _LAST_CHARACTER:
            _reject(start + escape.start(), r'after a backslash comes one of " \ n r t xhh uhhhh Uhhhhhhhh')
        return chr(number)

    return _ESCAPE.sub(character, quoted)


class _Reader:
    """Parses tokens one by one into node records, parents first."""

    def __init__(self, schema: Schema) -> None:
        self.records: list[NodeRecord] = []
        self._schema = schema
        self._attribute = {name: index for index, name in enumerate(schema.attribute_names)}
        self._class = {name: code for code, name in enumerate(schema.classes)}
        self._no_counts = np.zeros(len(schema.classes), dtype=np.int64)
        self._splits: dict[str, Split] = {}
        self._open: list[int] = []  # the inner nodes whose parentheses are still open, the outermost first
        self._subtree_due = True
        self._bracket_due = False

    def take(self, token: _Token, *, opens: bool) -> None:
        """Consume one token; `opens` is True if an opening parenthesis follows it."""
        if self._bracket_due:
            self._bracket_due = False
        elif self._subtree_due:
            self._subtree(token, opens=opens)
        else:
            self._continue(token)

    def end(self, position: int) -> None:
        """Reject an incomplete tree."""
        if self._subtree_due:
            _reject(position, "a subtree is missing here: an attribute, a class or *")
        if self._open:
            _reject(position, f"the bracket of {self._shown(self._open[-1])} is not closed")

    def _subtree(self, token: _Token, *, opens: bool) -> None:
        if token.is_mark and token.text != OPEN_LEAF:
            _reject(token.position, f"a subtree is expected here (an attribute, a class or *), not {token.text!r}")
        self._attach(token.position)
        if token.is_mark:
            self._leaf(0, Stop.OPEN)
        elif opens:
            self._inner(token)
        elif token.text in self._class:
            self._leaf(self._class[token.text], Stop.EMPTY)
        elif token.text in self._attribute:
            _reject(token.position, f"{token.text!r} is an attribute and needs its branches in brackets")
        else:
            _reject(token.position, unknown_name("class", token.text[:_LONGEST_SHOWN], self._class))

    def _attach(self, position: int) -> None:
        """Attach the next node to the innermost open one."""
        if (len(self.records) + 1) * len(self._class) > MOST_CELLS:
            _reject(position, f"the tree is too large: nodes times classes may be {MOST_CELLS} at most")
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
            _reject(token.position, unknown_name("attribute", token.text[:_LONGEST_SHOWN], self._attribute))
        attribute = self._attribute[token.text]
        column = self._schema.attributes[attribute]
        if column.is_numeric:
            _reject(token.position, f"attribute {column.name!r} is numeric and has no branch for each value")
        if len(column.values) < 2:
            _reject(token.position, f"attribute {column.name!r} declares fewer than two values and cannot be tested")
        return Split.multiway(attribute, len(column.values), STAY)

    def _continue(self, token: _Token) -> None:
        """Consume a token after a subtree: a comma, or the parenthesis that closes its parent."""
        if not self._open:
            _reject(token.position, f"the tree is complete, but {token.text[:_LONGEST_SHOWN]!r} follows")
        node = self.records[self._open[-1]]
        values = 0 if node.split is None else node.split.n_branches
        if token.is_mark and token.text == ")":
            if len(node.children) < values:
                self._reject_branches(token.position, len(node.children))
            self._open.pop()
        elif token.is_mark and token.text == ",":
            if len(node.children) == values:
                self._reject_branches(token.position, values + 1)
            self._subtree_due = True
        else:
            _reject(token.position, f"a comma or ) is expected here, not {token.text[:_LONGEST_SHOWN]!r}")

    def _reject_branches(self, position: int, found: int) -> NoReturn:
        split = self.records[self._open[-1]].split
        values = () if split is None else self._schema.attributes[split.attribute].values
        branches = "1 branch" if found == 1 else f"{found} branches"
        name = self._shown(self._open[-1])
        _reject(position, f"{name} has {len(values)} values ({quoted_list(values)}), but this is {branches}")

    def _shown(self, number: int) -> str:
        split = self.records[number].split
        return "a leaf" if split is None else repr(self._schema.attributes[split.attribute].name)


def _set_outcomes(records: list[NodeRecord], n_classes: int) -> None:
    """Set the outcome of inner nodes to the class of most leaves below, and else to that of the parent."""
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
            records[child].outcome = record.outcome  # overwritten when the child is visited, if it has votes
