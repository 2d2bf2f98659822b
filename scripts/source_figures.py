"""Count what makes a source tree easy or hard to read: files, code, comments, private words, choices by type.

    python scripts/source_figures.py src/treewright              # this tree
    python scripts/source_figures.py OLD/src/treewright src/treewright

- code lines: lines of statements, without comments, blank lines and docstrings;
- private words: distinct identifiers with a word of the column "not" of the word table (docs/glossary.md, "Words of
  version 0.1"), and modules whose docstring explains a vocabulary;
- isinstance on learners: calls that name a class of learners or plans, outside the registry's own check;
- lazy imports: imports inside functions, of the package and of others.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from pathlib import Path

LEARNERS = frozenset(
    re.findall(
        r"\w+",
        """Plan RulePlan ForestPlan BoostPlan EnsemblePlan Recipe CHAID CAL2 CAL3 Release8 J48 RpartLearner
        MedianLearner CartProgram TreeLearner Learner CaseByCaseLearner""",
    )
)

PRIVATE = frozenset(
    re.findall(
        r"\w+",
        """room rooms grove divide divides divided division divisions hole holes home stretch judge judged judges
        verdict told tell tells say says said hear heard truth settle settled spliced piece pieces alive reach facts
        outside distant bag bags residue twin sketch sketched tidy gauge barred apart watched stopper price worth
        place places examined examiner declared""",
    )
)


def figures(folder: Path) -> dict[str, str]:
    """Return the figures of a source tree."""
    code = comments = vocabularies = choices = lazy = lazy_own = 0
    words: set[str] = set()
    files = sorted(folder.rglob("*.py"))
    if not files:
        sys.exit(f"{folder} has no Python files")
    for path in files:
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        vocabularies += bool(re.search(r"^Vocabulary$", ast.get_docstring(tree) or "", re.MULTILINE))
        docstrings = _docstring_lines(tree)
        lines: set[int] = set()
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                comments += 1
            elif token.type == tokenize.NAME:
                words |= {token.string for part in _parts(token.string) if part in PRIVATE}
            if token.type not in (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT):
                lines |= set(range(token.start[0], token.end[0] + 1))
        code += len(lines - docstrings)
        choices += sum(_is_choice(node) for node in ast.walk(tree))
        for function in ast.walk(tree):
            if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
                inner = [one for one in ast.walk(function) if isinstance(one, (ast.Import, ast.ImportFrom))]
                lazy += len(inner)
                lazy_own += sum("treewright" in ast.unparse(one) for one in inner)
    return {
        "files": f"{len(files)}",
        "code lines": f"{code:,}",
        "comments, share of code lines": f"{100 * comments / code:.1f} %",
        "modules with a vocabulary of their own": f"{vocabularies}",
        "identifiers with a private word": f"{len(words)}",
        "isinstance on learners or plans": f"{choices}",
        "lazy imports (of the package itself)": f"{lazy} ({lazy_own})",
    }


def _docstring_lines(tree: ast.Module) -> set[int]:
    found: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            found |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return found


def _parts(name: str) -> list[str]:
    return [part.lower() for part in re.findall(r"[a-z]+|[A-Z][a-z]*|[A-Z]+(?![a-z])", name)]


def _is_choice(node: ast.AST) -> bool:
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance"):
        return False
    return any(isinstance(one, ast.Name) and one.id in LEARNERS for one in ast.walk(node.args[1]))


def main() -> None:
    """Print the figures of the trees that are named, side by side."""
    columns = [figures(Path(name)) for name in sys.argv[1:] or ["src/treewright"]]
    for name in columns[0]:
        print(f"{name:42}", *(f"{column[name]:>16}" for column in columns))


if __name__ == "__main__":
    main()
