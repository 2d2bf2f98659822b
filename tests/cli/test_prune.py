"""treewright prune: every method from the command line."""

from __future__ import annotations

import pytest

from cli.shell import Shell


def grown(shell: Shell) -> str:
    """Train an unpruned tree on the contact lenses."""
    shell.fine("train", "sample:contact-lenses", "-a", "id3", "-o", "full.json", "--folds", "0")
    return "full.json"


@pytest.mark.parametrize(
    "options",
    [
        ("--method", "chi_square", "--significance", "0.01"),
        ("--method", "chi_square", "--bonferroni"),
        ("--method", "mdl"),
        ("--method", "cost_complexity", "--alpha", "0.05"),
        ("--method", "cost_complexity", "--alpha", "0.05", "--risk", "errors"),
        ("--method", "error_based", "--confidence", "0.1", "--data", "sample:contact-lenses"),
        ("--method", "reduced_error", "--data", "sample:contact-lenses"),
        ("--method", "collapse"),
        ("--method", "simplify"),
    ],
)
def test_every_method_leaves_a_tree_no_larger_that_still_predicts(shell: Shell, options: tuple[str, ...]) -> None:
    model = grown(shell)
    document = shell.fine("prune", model, *options, "-o", "small.json", "--json").json
    assert document["nodes"] <= document["before"] == 15
    predictions = shell.fine("predict", "small.json", "sample:contact-lenses")
    assert len(predictions.out.splitlines()) == 25


@pytest.mark.parametrize(
    ("options", "method"),
    [
        (("--alpha", "0.05"), "cost_complexity"),
        (("--risk", "errors"), "cost_complexity"),
        (("--confidence", "0.1", "--data", "sample:contact-lenses"), "error_based"),
        (("--no-raising", "--data", "sample:contact-lenses"), "error_based"),
        (("--bonferroni",), "chi_square"),
        ((), "chi_square"),
    ],
)
def test_an_option_implies_its_method(shell: Shell, options: tuple[str, ...], method: str) -> None:
    model = grown(shell)
    shell.fine("prune", model, *options, "-o", "implied.json")
    shell.fine("prune", model, "--method", method, *options, "-o", "named.json")
    assert shell.read("implied.json") == shell.read("named.json")


def test_the_pruned_tree_is_printed_beside_its_size_before(shell: Shell) -> None:
    printed = shell.fine("prune", grown(shell), "--method", "chi_square", "--significance", "0.01").out
    assert printed.splitlines()[-1] == "5 nodes, 3 leaves, depth 2.  Before: 15 nodes, 9 leaves, depth 4."


def test_a_pruned_model_can_be_explained_with_its_data(shell: Shell) -> None:
    shell.fine("prune", grown(shell), "--method", "mdl", "-o", "small.json")
    printed = shell.fine("explain", "small.json", "--data", "sample:contact-lenses").out
    assert "tears" in printed


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--method", "error_based"), "needs cases: --data FILE"),
        (("--method", "reduced_error"), "needs cases: --data FILE"),
        (
            ("--method", "mdl", "--alpha", "1"),
            "--alpha has an effect only with --method cost_complexity, not with --method mdl",
        ),
        (("--method", "simplify", "--no-raising"), "--no-raising has an effect only with --method error_based"),
        (("--alpha", "1", "--significance", "0.1"), "options of different pruning methods: keep those of one"),
        (("--confidence", "0.1"), "--method error_based needs cases: --data FILE"),
        (("--significance", "2"), "significance must be"),
    ],
)
def test_what_a_method_lacks_or_does_not_know_is_reported(shell: Shell, options: tuple[str, ...], message: str) -> None:
    result = shell("prune", grown(shell), *options)
    assert result.code == 2
    assert message in result.error
