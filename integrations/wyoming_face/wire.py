"""Events of the Wyoming protocol as they come from a connection, none larger than it may be.

The package `wyoming` reads whatever length a sender claims, and nobody has to say who they are.
Format: a line of JSON with `type`, `data_length` and `payload_length`, then so many bytes of each.
"""

import asyncio
import json
from typing import Any

from wyoming.event import Event

MOST_DATA = 64 * 1024  # bytes of the line and of its further data
MOST_PAYLOAD = 1024 * 1024  # bytes of sound in one event; Home Assistant sends 2 KB


class BadEvent(Exception):
    """What came is not of this protocol, or too large."""


async def read_event(reader: asyncio.StreamReader) -> Event | None:
    """The next event, None at the end. Raises BadEvent and OSError.

    `reader`: with a limit of MOST_DATA, as `asyncio.start_server(limit=…)` makes it.
    """
    try:
        line = await reader.readline()
    except ValueError as error:  # the line is longer than the limit
        raise BadEvent("a line is too long") from error
    if not line:
        return None
    head = _object(line)
    kind, data = head.get("type"), head.get("data") or {}
    if not isinstance(kind, str) or not isinstance(data, dict):
        raise BadEvent("an event has no type, or its data is no object")
    try:
        more = await reader.readexactly(_length(head, "data_length", MOST_DATA))
        payload = await reader.readexactly(_length(head, "payload_length", MOST_PAYLOAD))
    except asyncio.IncompleteReadError:
        return None
    return Event(kind, {**data, **_object(more)} if more else data, payload or None)


def _length(head: dict[str, Any], key: str, most: int) -> int:
    length = head.get(key) or 0
    if not isinstance(length, int) or not 0 <= length <= most:
        raise BadEvent(f"{key} is not a number up to {most}")
    return length


def _object(text: bytes) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadEvent("an event is no JSON") from error
    if not isinstance(found, dict):
        raise BadEvent("an event is no JSON object")
    return found
