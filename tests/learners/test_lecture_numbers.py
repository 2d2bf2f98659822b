"""Every worked number of the lecture documents, and what is wrong in them.

The documents: 000 "ID3 und C4.5" (Gips), 001 "Decision Trees" (Yu, after Russell and Norvig), 002 on choosing
attributes (after Bramer), 003 on ID3 and entropy, 004 on PlayTennis and the gain ratio (after Mitchell).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treewright.counting.numpy import MemoryEngine
from treewright.counting.table import Counts
from treewright.data.dataset import Dataset
from treewright.data.samples import sample
from treewright.data.schema import Column, Kind, Schema
from treewright.explain.node import explain_node
from treewright.fitting.learn import fit
from treewright.learners.criteria import (
    chi_square,
    entropy,
    expected_counts,
    gain_ratio,
    gini,
    information_gain,
    remainder,
    split_information,
    total_gini,
)
from treewright.learners.recipe import C45, CART, ID3
from treewright.tree.split import SplitStatus
from treewright.tree.tree import Stop


def counts_of(data: Dataset, name: str) -> Counts:
    engine = MemoryEngine(data)
    [[table]] = engine.count([(engine.root(), [data.schema.attribute_names.index(name)])])
    return table.counts


def target_counts(data: Dataset) -> Counts:
    engine = MemoryEngine(data)
    return engine.summaries([engine.root()])[0].statistics


# -- 000 -------------------------------------------------------------------------------------------------------------


def test_000_entropy_of_the_six_rows_is_092() -> None:
    assert entropy(target_counts(sample("six-rows"))) == pytest.approx(0.92, abs=0.005)


@pytest.mark.parametrize(("name", "gain"), [("x1", 0.044), ("x2", 0.25), ("x3", 0.13)])
def test_000_gains_of_the_six_rows(name: str, gain: float) -> None:
    """The lecture prints 0.05 for x1 because it subtracts rounded parts, 0.92 - 0.87; unrounded it is 0.044."""
    assert information_gain(counts_of(sample("six-rows"), name)) == pytest.approx(gain, abs=0.005)


def test_000_gain_of_x1_unrounded_is_0044_not_005() -> None:
    assert round(information_gain(counts_of(sample("six-rows"), "x1")), 3) == 0.044


def test_000_id3_asks_x2_first_and_x2_0_is_a() -> None:
    root = fit(sample("six-rows"), ID3()).tree.node(0)
    assert root.attribute.name == "x2"
    zero = root.children[0]
    assert (zero.outcome, zero.weight, zero.stop) == ("A", 2.0, Stop.PURE)
    assert not root.children[1].is_leaf


def test_000_normalisation_of_a_fair_coin_is_1() -> None:
    assert 1 / split_information(np.array([[1], [1]])) == 1.0


def test_000_normalisation_of_a_four_sided_die_is_one_half() -> None:
    assert entropy(np.array([1, 1, 1, 1])) == 2.0
    assert 1 / split_information(np.array([[1], [1], [1], [1]])) == 0.5


def test_000_an_empty_branch_takes_the_majority_of_its_parent() -> None:
    """In x2 = 1 the attribute x3 has no case with value 2: that leaf is empty and predicts as the node above."""
    tree = fit(sample("six-rows"), ID3()).tree
    empty = [node for node in tree if node.stop is Stop.EMPTY]
    assert empty
    for node in empty:
        parent = tree.node(int(tree.parent[node.index]))
        assert (node.weight, node.outcome) == (0.0, parent.outcome)


# -- 001 -------------------------------------------------------------------------------------------------------------


def test_001_a_fair_coin_has_one_bit() -> None:
    assert entropy(np.array([1, 1])) == 1.0


def test_001_an_unfair_coin_of_99_percent_has_008_bits() -> None:
    assert entropy(np.array([99, 1])) == pytest.approx(0.08, abs=0.005)


def test_001_remainder_of_patrons_is_0459_and_of_type_still_one_bit() -> None:
    data = sample("restaurant")
    assert remainder(counts_of(data, "Patrons")) == pytest.approx(0.459, abs=0.0005)
    assert remainder(counts_of(data, "Type")) == pytest.approx(1.0, abs=1e-12)


def test_001_the_restaurant_has_six_positive_and_six_negative_examples() -> None:
    assert target_counts(sample("restaurant")).tolist() == [6, 6]


def test_001_the_learned_root_is_patrons() -> None:
    for recipe in (ID3(), C45()):
        assert fit(sample("restaurant"), recipe).tree.node(0).attribute.name == "Patrons"


def test_001_chi_square_with_3_degrees_of_freedom_at_5_percent_is_782() -> None:
    """2 x 4 tables have 3 degrees of freedom; the statistic 7.82 has a tail of five percent there."""
    from scipy.special import chdtrc, chdtri

    assert chdtri(3, 0.05) == pytest.approx(7.82, abs=0.006)
    table = np.array([[30, 20], [20, 30], [25, 25], [22, 28]])
    result = chi_square(table)
    assert result.df == 3
    assert result.p == pytest.approx(chdtrc(3, result.statistic))
    assert (result.statistic > 7.82) == (result.p < 0.05)


def test_001_erratum_the_degrees_of_freedom_are_v_less_1_times_k_less_1_over_what_is_not_empty() -> None:
    """The lecture has n + p - 1 degrees of freedom, which would be the number of examples less one."""
    patrons = counts_of(sample("restaurant"), "Patrons")
    assert chi_square(patrons).df == 2
    with_an_empty_value = np.concatenate((patrons, np.zeros((1, 2), dtype=np.int64)))
    assert chi_square(with_an_empty_value) == chi_square(patrons)


def test_001_about_37_percent_are_not_sampled_by_a_bootstrap() -> None:
    n = 10_000
    assert (1 - 1 / n) ** n == pytest.approx(1 / np.e, abs=5e-5)
    assert round((1 - 1 / n) ** n, 2) == 0.37


# -- 002 -------------------------------------------------------------------------------------------------------------


def test_002_split_information_of_16_8_8_is_15() -> None:
    assert split_information(np.array([[16], [8], [8]])) == 1.5


def test_002_g_start_of_4_5_15_is_05382() -> None:
    assert gini(np.array([4, 5, 15])) == pytest.approx(0.5382, abs=5e-5)
    assert sorted(target_counts(sample("contact-lenses")).tolist()) == [4, 5, 15]


def test_002_e_start_of_the_contact_lenses_is_13261() -> None:
    assert entropy(target_counts(sample("contact-lenses"))) == pytest.approx(1.3261, abs=5e-5)


def test_002_e_new_of_age_is_12867() -> None:
    assert remainder(counts_of(sample("contact-lenses"), "age")) == pytest.approx(1.2867, abs=5e-5)


def test_002_the_frequency_table_short_cut_of_e_new() -> None:
    """The written sum: minus the cells' n log n, plus the rows' n log n, over 24."""
    cells = [2, 1, 1, 2, 2, 1, 4, 5, 6]
    by_hand = (-sum(f * np.log2(f) for f in cells) + 3 * 8 * np.log2(8)) / 24
    assert by_hand == pytest.approx(1.2867, abs=5e-5)
    table = counts_of(sample("contact-lenses"), "age")
    assert sorted(table.ravel().tolist()) == sorted(cells)
    assert remainder(table) == pytest.approx(by_hand, abs=1e-12)


def test_002_expected_count_e11_is_308() -> None:
    observed = np.array([[27, 281], [73, 619]])
    assert observed[0].sum() == 308
    assert observed[:, 0].sum() == 100
    assert float(expected_counts(observed)[0, 0]) == pytest.approx(30.8)


def test_002_erratum_the_short_form_of_gini_has_the_size_of_each_branch_as_denominator() -> None:
    """Right is 1 - 1/N sum_j 1/N_j sum_i f_ij^2; the document prints 1/N twice."""
    table = counts_of(sample("contact-lenses"), "age")
    n = table.sum()
    right = 1 - sum((row**2).sum() / row.sum() for row in table) / n
    printed = 1 - sum((row**2).sum() / n for row in table) / n
    after = float(total_gini(table).sum()) / float(n)
    assert after == pytest.approx(right, abs=1e-12)
    assert after != pytest.approx(printed, abs=0.05)


def test_002_erratum_every_term_of_chi_square_is_added() -> None:
    observed = np.array([[27, 64], [73, 36]])
    expected = expected_counts(observed)
    terms = (observed - expected) ** 2 / expected
    assert chi_square(observed).statistic == pytest.approx(float(terms.sum()))


def test_002_erratum_the_third_share_is_0625_not_0675() -> None:
    shares = np.array([4, 5, 15]) / 24
    assert shares[2] == 0.625
    young = np.array([1, 2, 5]) / 8
    assert young.tolist() == [0.125, 0.25, 0.625]
    assert pytest.approx(1) != 0.125 + 0.25 + 0.675


# -- 003 -------------------------------------------------------------------------------------------------------------


@given(st.lists(st.integers(0, 100), min_size=2, max_size=8).filter(any))
def test_003_the_uniform_distribution_has_the_largest_entropy(counts: list[int]) -> None:
    uniform = entropy(np.ones(len(counts), dtype=np.int64))
    assert uniform == pytest.approx(np.log2(len(counts)))
    assert entropy(np.array(counts)) <= uniform + 1e-12


# -- 004 -------------------------------------------------------------------------------------------------------------


def with_date() -> Dataset:
    """PlayTennis with a column that is different on each of the 14 days."""
    data = sample("play-tennis")
    date = Column("Date", Kind.NOMINAL, tuple(f"D{day}" for day in range(1, 15)))
    schema = Schema((date, *data.schema.columns), target="PlayTennis")
    return replace(data, schema=schema, columns=(np.arange(14, dtype=np.int32), *data.columns))


def test_004_entropy_of_9_and_5_is_0940() -> None:
    """Erratum: printed 9.40 once, and without the minus of the first term."""
    assert entropy(np.array([9, 5])) == pytest.approx(0.940, abs=0.0005)
    assert target_counts(sample("play-tennis")).tolist() == [9, 5]


def test_004_entropy_of_14_and_0_is_0() -> None:
    assert entropy(np.array([14, 0])) == 0.0


def test_004_gain_of_humidity_is_01518() -> None:
    """Printed as .151, cut off instead of rounded."""
    table = counts_of(sample("play-tennis"), "Humidity")
    assert information_gain(table) == pytest.approx(0.1518, abs=5e-5)
    assert [round(entropy(row), 3) for row in table] == [0.985, 0.592]


def test_004_gain_of_wind_is_0048() -> None:
    """Erratum: printed 0.48."""
    table = counts_of(sample("play-tennis"), "Wind")
    assert information_gain(table) == pytest.approx(0.048, abs=0.0005)
    assert [round(entropy(row), 3) for row in table] == [0.811, 1.0]


def test_004_the_learned_root_is_outlook() -> None:
    for recipe in (ID3(), C45()):
        assert fit(sample("play-tennis"), recipe).tree.node(0).attribute.name == "Outlook"


def test_004_date_has_the_largest_gain_and_id3_takes_it() -> None:
    data = with_date()
    assert information_gain(counts_of(data, "Date")) == pytest.approx(0.940, abs=0.0005)
    tree = fit(data, ID3()).tree
    assert tree.node(0).attribute.name == "Date"
    assert tree.n_leaves == 14


def test_004_erratum_the_bare_ratio_does_not_keep_date_out() -> None:
    data = with_date()
    assert gain_ratio(counts_of(data, "Date")) == pytest.approx(0.247, abs=0.0005)
    assert gain_ratio(counts_of(data, "Outlook")) == pytest.approx(0.156, abs=0.0005)
    assert split_information(counts_of(data, "Date")) == pytest.approx(3.807, abs=0.0005)


def test_004_c45_does_not_take_date_because_two_branches_need_two_cases() -> None:
    model = fit(with_date(), C45())
    assert model.tree.node(0).attribute.name == "Outlook"
    [date] = [one for one in explain_node(model).attributes if one.name == "Date"]
    assert date.verdict is SplitStatus.TOO_FEW
    assert fit(with_date(), C45(min_objects=1)).tree.node(0).attribute.name == "Date"


def test_004_c45_compares_ratios_only_among_gains_of_at_least_the_average() -> None:
    explanation = explain_node(fit(sample("play-tennis"), C45()))
    assert explanation.average_gain == pytest.approx((0.2467 + 0.0292 + 0.1518 + 0.0481) / 4, abs=1e-4)
    below = {one.name for one in explanation.attributes if one.verdict is SplitStatus.BELOW_AVERAGE}
    assert below == {"Temperature", "Wind"}


def test_cart_asks_one_outlook_against_the_others() -> None:
    root = fit(sample("play-tennis"), CART()).tree.node(0)
    assert root.attribute.name == "Outlook"
    assert root.split is not None
    assert root.split.values_of(1, root.attribute) == ("Overcast",)
