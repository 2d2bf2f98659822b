"""Near names for messages."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from treewright.wording import did_you_mean, quoted_list, unknown_name


def test_the_nearest_name_is_offered_as_it_is_spelt() -> None:
    assert did_you_mean("HUMIDTY", ["Outlook", "Humidity"]) == "; did you mean 'Humidity'?"


def test_case_alone_is_seen() -> None:
    assert did_you_mean("WIND", ["wind", "window"]) == "; did you mean 'wind'?"


def test_nothing_near_means_no_offer() -> None:
    assert did_you_mean("x", ["outlook"]) == ""
    assert did_you_mean("x", []) == ""


@given(st.lists(st.text(max_size=6), min_size=1, max_size=8), st.data())
def test_a_known_name_is_nearest_to_itself(names: list[str], data: st.DataObject) -> None:
    wanted = data.draw(st.sampled_from(names))
    offered = {f"; did you mean {name!r}?" for name in names if name.casefold() == wanted.casefold()}
    assert not wanted or did_you_mean(wanted, names) in offered


def test_long_lists_are_cut_and_counted() -> None:
    assert quoted_list(map(str, range(13))) == ", ".join(f"'{n}'" for n in range(12)) + " and 1 more"
    assert quoted_list(map(str, range(12))).endswith("'11'")
    assert quoted_list([]) == ""


def test_the_whole_message_takes_names_that_come_once() -> None:
    names = (name for name in ("outlook", "wind"))
    assert unknown_name("column", "zzz", names) == "there is no column 'zzz'. There are: 'outlook', 'wind'"
