"""Ratings and openings of an export beside those of this box. Pure."""

from collections.abc import Mapping

from assistant.domain.outcome import Tier
from assistant.tools.weighing import height

Tiers = Mapping[str, Tier]  # by entity id
Openings = Mapping[str, frozenset[str]]  # what each was seen to open, by entity id


def merged_tiers(here: Tiers, there: Tiers, seen_here: Openings, seen_there: Openings) -> Tiers:
    """Merge the ratings; the export's replace this box's.

    A rating but `secure` is void where its box had not yet seen that the thing opens something and
    the other box has, as in `seen_opening.SeenOpening`.
    """
    ours = _informed(here, seen_here, seen_there)
    return {**ours, **_informed(there, seen_there, seen_here)}


def told_openings(seen_here: Openings, seen_there: Openings) -> list[str]:
    """The line about what the export's box saw open something."""
    if not seen_there:
        return []
    new = sorted(name for name, opened in seen_there.items() if opened - _of(name, seen_here))
    told = f"things seen to open something: {len(seen_there)}"
    return [f"{told}, new here: {', '.join(new)}" if new else told]


def told_tiers(before: Tiers, after: Tiers) -> list[str]:
    """A line for the things that may be asked about less, and one for ratings that are void."""
    freer = [
        f"{name} ({before.get(name, 'unrated')} -> {tier})"
        for name, tier in sorted(after.items())
        if height(tier) < height(before.get(name, Tier.SECURE))
    ]
    void = [name for name in sorted(before) if name not in after]
    lines = [f"asked about less than now: {', '.join(freer)}"] if freer else []
    if void:
        names = ", ".join(void)
        lines.append(f"ratings that end, since these were seen to open something: {names}")
    return lines


def _informed(tiers: Tiers, seen: Openings, seen_elsewhere: Openings) -> Tiers:
    unseen = {name for name in seen_elsewhere if name not in seen}
    return {name: tier for name, tier in tiers.items() if tier is Tier.SECURE or name not in unseen}


def _of(name: str, openings: Openings) -> frozenset[str]:
    return openings.get(name, frozenset())
