"""treewright explain: the numbers of the blackboard."""

from __future__ import annotations

import re

import pytest

from cli.shell import LINE, Shell


def test_root_of_play_tennis_is_worked_out_as_in_the_textbook(shell: Shell) -> None:
    shell.fine("train", "sample:play-tennis", "-o", "tennis.json")
    told = shell.fine("explain", "tennis.json").out
    assert re.search(r"^H\(PlayTennis\) = - \d+/14 log2 \d+/14 - \d+/14 log2 \d+/14 = 0\.940$", told, re.MULTILINE)
    table = told[told.rindex("attribute") :]
    gains = dict(re.findall(r"^(\w+) +(0\.\d{3})", table, re.MULTILINE))
    assert gains == {"Outlook": "0.247", "Humidity": "0.152", "Wind": "0.048", "Temperature": "0.029"}
    assert re.search(r"^Outlook .* chosen$", table, re.MULTILINE)


def test_frequency_table_stands_with_its_calculation(shell: Shell) -> None:
    told = shell.fine("explain", shell.model(), "--node", "root").out
    assert "overcast   0    4  4  0.000" in told
    assert "remainder = 4/14 * 0 + 5/14 * 0.971 + 5/14 * 0.971 = 0.694" in told
    assert "gain      = 0.940 - 0.694 = 0.247" in told


def test_gini_and_variance_are_worked_out_too(shell: Shell) -> None:
    assert "Gini(play) = 1 - (5/14)^2 - (9/14)^2 = 0.459" in shell.fine("explain", shell.model("-a", "cart")).out
    assert "Node 0 (root): 40 cases" in shell.fine("explain", shell.model("-a", "cart", data=LINE, target="y")).out


def test_nodes_are_explained_in_the_order_asked_for(shell: Shell) -> None:
    told = shell.fine("explain", shell.model(), "--node", "5", "--node", "root", "--node", "1").out
    assert re.findall(r"^Node (\d) \((.*)\): (\d+) cases", told, re.MULTILINE) == [
        ("5", "outlook = sunny", "5"),
        ("0", "root", "14"),
        ("1", "outlook = overcast", "4"),
    ]


def test_leaf_says_why_it_is_one(shell: Shell) -> None:
    assert shell.fine("explain", shell.model(), "--node", "1").out.endswith("Leaf: yes (pure).\n")


def test_all_explains_every_inner_node(shell: Shell) -> None:
    told = shell.fine("explain", shell.model(), "--all", "--json").json
    assert [one["node"] for one in told] == [0, 2, 5]


def test_all_of_a_single_leaf_explains_the_leaf(shell: Shell) -> None:
    model = shell.model(data="x,play\n1,yes\n2,yes\n")
    assert shell.fine("explain", model, "--all").out.startswith("Node 0 (root): 2 cases")


def test_json_is_all_that_is_on_standard_output(shell: Shell) -> None:
    (root,) = shell.fine("explain", shell.model(), "--json").json
    assert (root["node"], root["chosen"], root["counts"]) == (0, "outlook", [5, 9])
    assert root["impurity"] == pytest.approx(0.940, abs=5e-4)


def test_training_data_give_the_same_working_as_the_model(shell: Shell) -> None:
    kept = shell.fine("explain", shell.model()).out
    assert shell.fine("explain", "model.json", "--data", "weather.csv").out == kept


def test_data_of_other_columns_are_bad_data(shell: Shell) -> None:
    shell.write("line.csv", LINE)
    told = shell("explain", shell.model(), "--data", "line.csv")
    assert told.code == 3
    assert "line.csv" in told.error


@pytest.mark.parametrize("node", ["8", "-1", "x", "²", "1.0", ""])
def test_node_that_is_not_there_is_a_wrong_call(shell: Shell, node: str) -> None:
    told = shell("explain", shell.model(), "--node", node)
    assert told.code == 2
    assert f"{node!r} is not 'root' or a number from 0 to 7" in told.error


def test_all_does_not_go_with_single_nodes(shell: Shell) -> None:
    assert shell("explain", shell.model(), "--all", "--node", "1").code == 2


def test_missing_model_is_bad_data(shell: Shell) -> None:
    assert shell("explain", "none.json").code == 3


def test_steps_of_cal_are_told_case_by_case(shell: Shell) -> None:
    shell.fine("train", "sample:cal2", "-a", "cal2", "-o", "cal.json", "--folds", "0")
    told = shell.fine("explain", "cal.json", "--steps", "--data", "sample:cal2").out.splitlines()
    assert told[0] == "1. case 1, at the root (A 1): put class -> A"
    assert told[-1].endswith("x1(x2(A,B),x2(A,B))")
    as_json = shell.fine("explain", "cal.json", "--steps", "--data", "sample:cal2", "--json").json
    assert as_json[-1]["tree"] == "x1(x2(A,B),x2(A,B))"
    assert "x1(x2(A,B),x2(A,B))" in shell.fine("show", "cal.json").out


def test_steps_are_refused_for_other_trees_and_without_data(shell: Shell) -> None:
    model = shell.model()
    assert "goes with --data FILE" in shell("explain", model, "--steps").error
    refused = shell("explain", model, "--steps", "--data", "weather.csv")
    assert refused.code == 2
    assert "steps are kept for CAL2 and CAL3, not for C4.5" in refused.error
