"""Asks Home Assistant what scripts, automations and scenes touch, in the background."""

import asyncio
import logging
from collections.abc import Mapping

from integrations.home_assistant.picture import Picture
from integrations.home_assistant.refusals import CommandRefused
from integrations.home_assistant.related import touched_by
from integrations.home_assistant.websocket import Connection

log = logging.getLogger(__name__)

MAX_SEARCHED = 2_000  # in one round; one takes Home Assistant a few milliseconds
REST_S = 2.0  # between two rounds: while somebody edits, changes come in dozens


async def search(connection: Connection, picture: Picture) -> bool:
    """Ask for all in `picture.unsearched` and keep the answers there. Raises Unavailable.

    False: this Home Assistant does not tell, so that asking again is of no use.
    """
    wanted = sorted(picture.unsearched)[:MAX_SEARCHED]
    picture.unsearched.clear()
    found: dict[str, frozenset[str]] = {}
    for item_id in wanted:
        try:
            answer = await connection.command(
                "search/related", item_type=item_id.partition(".")[0], item_id=item_id
            )
        except CommandRefused as error:
            log.info("What scripts and automations touch is not known: %s", error)
            if error.unknown or error.code == "unauthorized":
                return False
            continue
        house = picture.house
        if isinstance(answer, Mapping):
            found[item_id] = touched_by(item_id, answer, picture.registries, house.entities)
    picture.touch(found)
    await asyncio.sleep(REST_S)
    return True
