"""A call by place that reaches a lamp and a lock: cut down to what was meant, or left whole.

Which is meant the person's own words tell. Where they name a kind of thing ("the lights") only that
kind is left; where they name none, everything that nobody need be asked about. A call that names
the thing, or one of which no words are known, is never cut.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from assistant.tools.deciding import Case, is_grave
from assistant.tools.gates import entity_or_guess
from assistant.tools.kinds_heard import is_said, kinds_in, wants_open
from integrations.home_assistant.house import Entity


def split(case: Case, arguments: Mapping[str, Any], judged: Sequence[str]) -> dict[str, Any] | None:
    """The arguments with a domain (and perhaps a device class) that leaves what was meant; None
    where the call is not mixed or cannot be cut so."""
    if case.heard is None or not case.intent.selective or not _takes(case, "domain"):
        return None
    things = [entity_or_guess(name, case.house) for name in judged]
    grave = [one for one in things if is_grave(case, arguments, one.entity_id)]
    if not grave or len(grave) == len(things):
        return None
    wanted = _meant(case.heard, things, grave)
    if not wanted or len(wanted) == len(things):
        return None
    unwanted = [one for one in grave if one not in wanted]
    chosen = _chosen(case, wanted, unwanted)
    return {**arguments, **chosen} if chosen else None


def _meant(heard: str, things: Sequence[Entity], grave: Sequence[Entity]) -> list[Entity]:
    """The things that the words are about; none where that is not clear."""
    kinds = kinds_in(heard)
    of_kind = [one for one in things if any(kind.holds(one) for kind in kinds)]
    if of_kind:
        return of_kind
    if wants_open(heard) or any(is_said(heard, one.names) for one in grave):
        return []
    return [one for one in things if one not in grave]


def _chosen(
    case: Case, wanted: Sequence[Entity], unwanted: Sequence[Entity]
) -> dict[str, list[str]] | None:
    """The arguments that choose of `wanted` as much as they can, and nothing of `unwanted`."""
    shut_out = {one.domain for one in unwanted}
    free = {one.domain for one in wanted} - shut_out
    if free:
        return {"domain": sorted(free)}
    domains = {one.domain for one in wanted}
    if len(domains) != 1 or not _takes(case, "device_class"):
        return None
    classes = {one.device_class for one in wanted if one.device_class}
    classes -= {one.device_class for one in unwanted}
    if case.intent.classes:
        classes &= case.intent.classes
    return {"domain": sorted(domains), "device_class": sorted(classes)} if classes else None


def _takes(case: Case, key: str) -> bool:
    """Whether the tool's schema has this argument."""
    properties = case.schema.get("properties")
    return isinstance(properties, Mapping) and key in properties
