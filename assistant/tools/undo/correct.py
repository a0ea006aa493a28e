""" "No, the one in the bedroom": the last call once more, for what was really meant."""

from collections.abc import Collection, Sequence
from typing import Any

from assistant.tools.house.targets import domain_of, find_areas, is_called, listed
from assistant.tools.undo.stack import DoneCall
from integrations.home_assistant.house import House

_TARGETS = frozenset({"name", "area", "floor", "device_class", "domain"})


def corrected(
    calls: Sequence[DoneCall], name: str, area: str, house: House, takes: Collection[str]
) -> dict[str, Any] | None:
    """The arguments of the call that was meant, or None where that cannot be known.

    `calls` are all of the turn that is undone; `takes`: the arguments that the tool has. Several
    calls are corrected only where they asked for the same, each of another thing.
    """
    last = calls[-1]
    same = all(one.name == last.name and _values(one) == _values(last) for one in calls)
    if not same or not (name or area):
        return None
    target = _named(last, name, area, house) if name else _placed(calls, area, house, takes)
    if target is None or not target.keys() <= set(takes):
        return None
    return _values(last) | target


def _values(call: DoneCall) -> dict[str, Any]:
    """What was asked for, without what for."""
    return {key: value for key, value in call.arguments.items() if key not in _TARGETS}


def _named(last: DoneCall, name: str, area: str, house: House) -> dict[str, Any]:
    """The thing of that name; the kind stays where there is one of that kind so called."""
    target: dict[str, Any] = {"name": name} | ({"area": area} if area else {})
    kinds = listed(last.arguments.get("domain"))
    if any(one.domain in kinds and is_called(one, name) for one in house.exposed()):
        target["domain"] = last.arguments["domain"]
    return target


def _placed(
    calls: Sequence[DoneCall], area: str, house: House, takes: Collection[str]
) -> dict[str, Any] | None:
    """In that area the thing of the same name if there is one, else all of the same kind."""
    last = calls[-1]
    ids = {found.area_id for found in find_areas(house, area)}
    name = last.arguments.get("name")
    if isinstance(name, str) and any(
        one.area_id in ids and is_called(one, name) for one in house.exposed()
    ):
        kept = {key: last.arguments[key] for key in ("domain", "name") if key in last.arguments}
        return {**kept, "area": area}
    if "domain" not in takes:
        return {"area": area}
    kinds = _kinds(calls)
    return {"area": area, "domain": kinds} if kinds else None


def _kinds(calls: Sequence[DoneCall]) -> list[str]:
    told = [kind for call in calls for kind in listed(call.arguments.get("domain"))]
    touched = [domain_of(entity_id) for call in calls for entity_id in call.entities]
    return list(dict.fromkeys(told or touched))
