"""treewright explain: the numbers of the blackboard."""

from __future__ import annotations

import re

import pytest

from cli.shell import LINE, Shell


def test_root_of_play_tennis_is_worked_out_as_in_the_textbook(shell: Shell) -> None:
    shell.fine("train", "sample:play-tennis", "-o", "tennis.json")
    printed = shell.fine("explain", "tennis.json").out
    assert re.search(r"^H\(PlayTennis\) = - \d+/14 log2 \d+/14 - \d+/14 log2 \d+/14 = 0\.940$", printed, re.MULTILINE)
    table = printed[printed.index("attribute ") :]
    gains = dict(re.findall(r"^(\w+) +(0\.\d{3})", table, re.MULTILINE))
    assert gains == {"Outlook": "0.247", "Humidity": "0.152", "Wind": "0.048", "Temperature": "0.029"}
    assert re.search(r"^Outlook .* chosen$", table, re.MULTILINE)
    assert "Outlook is chosen: it has the highest gain ratio. Runner-up: Humidity, 0.005 behind." in printed


def test_frequency_table_stands_with_its_calculation(shell: Shell) -> None:
    printed = shell.fine("explain", shell.model(), "--node", "root").out
    assert "overcast   0    4  4  0.000" in printed
    assert "remainder = 4/14 * 0 + 5/14 * 0.971 + 5/14 * 0.971 = 0.694" in printed
    assert "gain      = 0.940 - 0.694 = 0.247" in printed


def test_gini_and_variance_are_worked_out_too(shell: Shell) -> None:
    assert "Gini(play) = 1 - (5/14)^2 - (9/14)^2 = 0.459" in shell.fine("explain", shell.model("-a", "cart")).out
    assert "Node 0 (root): 40 cases" in shell.fine("explain", shell.model("-a", "cart", data=LINE, target="y")).out


def test_nodes_are_explained_in_the_order_asked_for(shell: Shell) -> None:
    printed = shell.fine("explain", shell.model(), "--node", "5", "--node", "root", "--node", "1").out
    assert re.findall(r"^Node (\d) \((.*)\): (\d+) cases", printed, re.MULTILINE) == [
        ("5", "outlook = sunny", "5"),
        ("0", "root", "14"),
        ("1", "outlook = overcast", "4"),
    ]


def test_leaf_explains_why_it_is_one(shell: Shell) -> None:
    assert shell.fine("explain", shell.model(), "--node", "1").out.endswith("Leaf: yes (pure).\n")


def test_all_explains_every_inner_node(shell: Shell) -> None:
    document = shell.fine("explain", shell.model(), "--all", "--json").json
    assert [one["node"] for one in document] == [0, 2, 5]


def test_all_of_a_single_leaf_explains_the_leaf(shell: Shell) -> None:
    model = shell.model(data="x,play\n1,yes\n2,yes\n")
    assert shell.fine("explain", model, "--all").out.startswith("Node 0 (root): 2 cases")


def test_json_is_all_that_is_on_standard_output(shell: Shell) -> None:
    (root,) = shell.fine("explain", shell.model(), "--json").json
    assert (root["node"], root["chosen"], root["counts"]) == (0, "outlook", [5, 9])
    assert root["impurity"] == pytest.approx(0.940, abs=5e-4)


def test_training_data_give_the_same_split_trace_as_the_model(shell: Shell) -> None:
    kept = shell.fine("explain", shell.model()).out
    assert shell.fine("explain", "model.json", "--data", "weather.csv").out == kept


def test_data_of_other_columns_are_bad_data(shell: Shell) -> None:
    shell.write("line.csv", LINE)
    result = shell("explain", shell.model(), "--data", "line.csv")
    assert result.code == 3
    assert "line.csv" in result.error


@pytest.mark.parametrize("node", ["8", "-1", "x", "²", "1.0", ""])
def test_node_that_is_not_there_is_a_wrong_call(shell: Shell, node: str) -> None:
    result = shell("explain", shell.model(), "--node", node)
    assert result.code == 2
    assert f"{node!r} is not 'root', a number from 0 to 7 or a path" in result.error


def test_all_does_not_go_with_single_nodes(shell: Shell) -> None:
    assert shell("explain", shell.model(), "--all", "--node", "1").code == 2


def test_missing_model_is_bad_data(shell: Shell) -> None:
    assert shell("explain", "none.json").code == 3


def test_steps_of_cal_are_printed_case_by_case(shell: Shell) -> None:
    shell.fine("train", "sample:cal2", "-a", "cal2", "-o", "cal.json", "--folds", "0")
    printed = shell.fine("explain", "cal.json", "--steps", "--data", "sample:cal2").out.splitlines()
    assert printed[0] == "1. case 1, at the root (A 1): class assigned -> A"
    assert printed[-1].endswith("x1(x2(A,B),x2(A,B))")
    as_json = shell.fine("explain", "cal.json", "--steps", "--data", "sample:cal2", "--json").json
    assert as_json["order"] == "cases"
    assert as_json["steps"][-1]["tree"] == "x1(x2(A,B),x2(A,B))"
    assert "x1(x2(A,B),x2(A,B))" in shell.fine("show", "cal.json").out


def test_steps_of_cal_without_data_are_reported_as_those_of_the_finished_tree(shell: Shell) -> None:
    shell.fine("train", "sample:cal2", "-a", "cal2", "-o", "cal.json", "--folds", "0")
    printed = shell.fine("explain", "cal.json", "--steps").out
    assert "learned case by case; give the training data (--data FILE) to see each case" in printed
    assert "Split on x1" in printed


@pytest.mark.parametrize("algorithm", ["id3", "c45", "cart", "chaid"])
def test_steps_are_printed_for_every_algorithm(shell: Shell, algorithm: str) -> None:
    printed = shell.fine("explain", shell.model("-a", algorithm), "--steps").out
    assert re.search(r"^Step 1: node 0 \(root\), 14 cases, play: no 5, yes 9\. ", printed, re.MULTILINE)


def test_steps_with_data_go_on_to_the_pruning(shell: Shell) -> None:
    model = shell.model("-a", "id3", "--prune", "mdl")
    steps = shell.fine("explain", model, "--steps", "--data", "weather.csv", "--json").json["steps"]
    events = [step["event"] for step in steps]
    assert events.count("split") == 3
    assert events[-1] == "prune"
    assert "Pruned: the split on outlook is removed, and the node predicts yes." in (
        shell.fine("explain", model, "--steps", "--data", "weather.csv").out
    )


CASE = "outlook=rain, humidity=high, wind=weak, temperature=mild"


def test_case_is_explained_with_path_leaf_and_smallest_change(shell: Shell) -> None:
    printed = shell.fine("explain", shell.model(), "--case", CASE).out
    assert printed.splitlines()[0] == "Prediction: play = yes"
    assert "1. outlook = rain\n2. wind = weak" in printed
    assert "holds 3 cases of the training data: yes 3." in printed
    assert "Smallest change that leads to play = no" in printed
    assert "wind = strong (now weak)" in printed


def test_row_of_the_data_is_the_case_of_that_number(shell: Shell) -> None:
    model = shell.model()
    by_row = shell.fine("explain", model, "--row", "4", "--data", "weather.csv", "--json").json
    assert by_row == shell.fine("explain", model, "--case", CASE, "--data", "weather.csv", "--json").json
    refused = shell("explain", model, "--row", "15", "--data", "weather.csv")
    assert (refused.code, "there is no row 15; the rows are 1 to 14" in refused.error) == (2, True)


def test_what_a_case_does_not_name_is_missing(shell: Shell) -> None:
    printed = shell.fine("explain", shell.model(), "--case", "humidity=high").out
    assert "outlook is missing; fractions of the case go to all branches" in printed


@pytest.mark.parametrize(
    ("case", "words"),
    [
        ("outlok=rain", "the model has no attribute 'outlok'; did you mean 'outlook'?"),
        ("rain", "'rain' is not of the form ATTRIBUTE=VALUE"),
        ("outlook=rain,outlook=sunny", "'outlook' is given twice"),
    ],
)
def test_case_that_is_none_is_a_wrong_call(shell: Shell, case: str, words: str) -> None:
    refused = shell("explain", shell.model(), "--case", case)
    assert refused.code == 2
    assert words in refused.error


def test_value_never_seen_is_reported_and_counts_as_missing(shell: Shell) -> None:
    result = shell.fine("explain", shell.model(), "--case", "outlook=snow")
    assert "never seen in training count as missing: 1 in 'outlook'" in result.err
    assert "outlook is missing" in result.out


def test_node_is_found_by_the_answers_on_the_way(shell: Shell) -> None:
    model = shell.model()
    assert shell.fine("explain", model, "--node", "outlook=sunny").out.startswith("Node 5 (outlook = sunny)")
    assert shell.fine("explain", model, "--node", "outlook=sunny,humidity=high", "--json").json[0]["node"] == 6
    refused = shell("explain", model, "--node", "humidity=high")
    assert (refused.code, "does not ask for humidity on this way" in refused.error) == (2, True)


def test_pruning_is_explained_with_its_formula(shell: Shell) -> None:
    model = shell.model()
    printed = shell.fine("explain", model, "--pruning", "--data", "weather.csv").out
    assert "Error-based pruning with confidence factor 0.25 (z = 0.6925); expected errors:" in printed
    assert "as a subtree = 1.172 + 2.110 + 2.110 = 5.392" in printed
    assert re.search(r"^with its largest branch raised = \d+\.\d{3}$", printed, re.MULTILINE)
    assert printed.endswith("Result: the split was kept.\n")
    assert "--data FILE" in shell.fine("explain", model, "--pruning").out


def test_tree_prints_every_test_and_the_cp_table(shell: Shell) -> None:
    model = shell.model("-a", "cart", "--missing-values", "surrogate", "--cp", "0", "--min-split", "2")
    printed = shell.fine("explain", model, "--tree").out
    assert "CART tree for play" in printed
    assert "cp table" in printed
    assert re.search(r"^1 +0\.3 +0 +1$", printed, re.MULTILINE)


def test_surrogates_are_listed_at_the_node(shell: Shell) -> None:
    rows = "".join(f"{x},{2 * x + x % 3},{'yes' if x > 9 else 'no'}\n" for x in range(20))
    model = shell.model("-a", "cart", "--missing-values", "surrogate", "--cp", "0", data=f"x,z,play\n{rows}")
    root = shell.fine("explain", model, "--json").json[0]
    assert root["surrogates"][0].keys() == {"attribute", "condition", "agreement", "adjusted", "reversed"}
    assert root["surrogates"][0]["attribute"] == "z"
    assert "Surrogate splits: if the value is missing" in shell.fine("explain", model).out


@pytest.mark.parametrize(("lang", "word"), [("de", "Knoten 0 (Wurzel)"), ("it", "Nodo 0 (radice)"), ("zh", "節點 0")])
def test_language_is_chosen_by_option_and_by_environment(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, lang: str, word: str
) -> None:
    model = shell.model()
    asked = shell.fine("explain", model, "--lang", lang).out
    assert asked.startswith(word)
    monkeypatch.setenv("TREEWRIGHT_LANG", lang)
    assert shell.fine("explain", model).out == asked
    assert shell.fine("explain", model, "--lang", "en").out.startswith("Node 0 (root)")


def test_language_that_is_none_is_a_wrong_call(shell: Shell) -> None:
    refused = shell("explain", shell.model(), "--lang", "fr")
    assert (refused.code, "must be one of 'en', 'de', 'it', 'zh', not 'fr'" in refused.error) == (2, True)


def test_forms_are_markdown_html_and_json(shell: Shell) -> None:
    model = shell.model()
    markdown = shell.fine("explain", model, "--format", "markdown", "--node", "0", "--node", "1").out
    assert r"\frac{9}{14} \log_2 \frac{9}{14}" in markdown
    assert "\n---\n" in markdown
    assert shell.fine("explain", model, "--format", "html").out.startswith('<section class="treewright-explanation"')
    as_json = shell.fine("explain", model, "--format", "json")
    assert as_json.json == shell.fine("explain", model, "--json").json


@pytest.mark.parametrize(
    "options",
    [
        ("--case", "wind=weak", "--node", "1"),
        ("--steps", "--tree"),
        ("--steps", "--pruning"),
        ("--row", "1"),
        ("--tree", "--all"),
    ],
)
def test_questions_that_do_not_go_together_are_a_wrong_call(shell: Shell, options: tuple[str, ...]) -> None:
    assert shell("explain", shell.model(), *options).code == 2


def test_lines_that_matter_are_bold_for_people_only(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    model = shell.model()
    assert "\x1b" not in shell.fine("explain", model).out
    monkeypatch.setattr("click.utils.should_strip_ansi", lambda *_: False)
    assert shell.fine("explain", model).out.startswith("\x1b[1mNode 0")
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in shell.fine("explain", model).out
