"""Ratings and openings of two boxes become one, and what is asked about less is told."""

import pytest

from assistant.domain.outcome import Tier
from assistant.transfer.bring import merged_tiers, told_openings, told_tiers

COMFORT, COSTLY, SECURE = Tier.COMFORT, Tier.COSTLY, Tier.SECURE
SEEN = {"a": frozenset({"lock.front"})}


@pytest.mark.parametrize(
    ("here", "there", "seen_here", "seen_there", "merged"),
    [
        ({"a": COMFORT}, {"b": COSTLY}, {}, {}, {"a": COMFORT, "b": COSTLY}),
        ({"a": SECURE}, {"a": COMFORT}, {}, {}, {"a": COMFORT}),
        ({"a": COMFORT}, {}, {}, SEEN, {}),
        ({"a": SECURE}, {}, {}, SEEN, {"a": SECURE}),
        ({}, {"a": COMFORT}, SEEN, {}, {}),
        ({}, {"a": SECURE}, SEEN, {}, {"a": SECURE}),
        ({"a": COSTLY}, {"a": COMFORT}, SEEN, {}, {"a": COSTLY}),
        # Given when it was known.
        ({}, {"a": COMFORT}, {}, SEEN, {"a": COMFORT}),
        ({"a": COMFORT}, {}, SEEN, SEEN, {"a": COMFORT}),
    ],
)
def test_the_ratings_of_both(
    here: dict[str, Tier],
    there: dict[str, Tier],
    seen_here: dict[str, frozenset[str]],
    seen_there: dict[str, frozenset[str]],
    merged: dict[str, Tier],
) -> None:
    assert merged_tiers(here, there, seen_here, seen_there) == merged


def test_all_that_may_be_asked_about_less_is_told() -> None:
    before = {"a": SECURE, "b": COSTLY, "c": COMFORT, "d": COSTLY}
    after = {"a": COSTLY, "b": SECURE, "c": COMFORT, "e": COMFORT, "f": SECURE}
    assert told_tiers(before, after) == [
        "asked about less than now: a (secure -> costly), e (unrated -> comfort)",
        "ratings that end, since these were seen to open something: d",
    ]
    assert told_tiers(after, after) == []


def test_new_openings_are_told() -> None:
    assert told_openings({}, {}) == told_openings(SEEN, {}) == []
    assert told_openings({}, SEEN) == ["things seen to open something: 1, new here: a"]
    assert told_openings(SEEN, SEEN) == ["things seen to open something: 1"]
    more = {"a": frozenset({"lock.front", "lock.back"})}
    assert told_openings(SEEN, more) == ["things seen to open something: 1, new here: a"]
