"""Asks Home Assistant what scripts, automations and scenes do, in the background.

An administrator may read their configuration (`actions`); where that is refused, or leaves a doubt,
`search/related` tells a part of it (`related`).
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from integrations.errors import IntegrationError
from integrations.home_assistant.actions import read_automation, read_script
from integrations.home_assistant.effects import Effects
from integrations.home_assistant.house import Entity
from integrations.home_assistant.picture import Picture
from integrations.home_assistant.places import Places
from integrations.home_assistant.refusals import CommandRefused
from integrations.home_assistant.related import read_related
from integrations.home_assistant.scenes import is_worth_reading, read_scene
from integrations.home_assistant.websocket import Connection

log = logging.getLogger(__name__)

AT_ONCE = 20  # items asked about side by side; one takes Home Assistant a few milliseconds
REST_S = 0.5  # between two rounds: while somebody edits, changes come in dozens
UNTOLD = Effects({}, ("Home Assistant does not tell",), told=False)
HELD = Effects({}, ("the states that it sets are not known",))  # the scene says what it holds
NOT_LOADED = Effects({}, ("it is not loaded",), ())


class Search:
    """Asks over one connection."""

    def __init__(
        self,
        connection: Connection,
        picture: Picture,
        ask_scene: Callable[[Entity], Awaitable[Any]],
    ) -> None:
        """`ask_scene`: the configuration of a scene; raises IntegrationError."""
        self._connection = connection
        self._ask_scene = ask_scene
        self._picture = picture
        self._tells: bool | None = None  # whether this home knows `search/related`; None: unasked
        self._unread: set[str] = set()  # domains whose configuration this home does not give

    async def go_on(self) -> None:
        """Ask about the next few that are unread, and keep the answers. Raises Unavailable.

        One that Home Assistant refuses to tell of is kept as such until it may have changed.
        """
        wanted = self._picture.next_unread(1 if self._tells is None else AT_ONCE)
        places = Places(self._picture.registries, self._picture.house.entities)
        answers = await asyncio.gather(*(self._effects(one, places) for one in wanted))
        self._picture.learn_effects(dict(zip(wanted, answers, strict=True)))

    async def _effects(self, item_id: str, places: Places) -> Effects:
        """What is told of one item."""
        read = await self._read(item_id, places)
        if read is not None and read.complete:
            return read
        related = await self._related(item_id)
        if read is None or related is None:
            return related or read or (HELD if self._is_held(item_id) else UNTOLD)
        log.debug("What %s does is known in part: %s", item_id, "; ".join(read.reasons))
        return Effects({**related.touched, **read.touched}, read.reasons, read.sentences)

    async def _read(self, item_id: str, places: Places) -> Effects | None:
        """What its configuration says; None where there is none that this user may read."""
        domain = item_id.partition(".")[0]
        if domain in self._unread or not self._picture.registries.admin:
            return None
        if domain == "scene":
            return await self._read_scene(item_id)
        try:
            answer = await self._connection.command(f"{domain}/config", entity_id=item_id)
        except CommandRefused as error:
            log.info("The configuration of %s is not known: %s", item_id, error)
            if _is_final(error):
                self._unread.add(domain)
            # What is not loaded waits for no sentence either.
            return NOT_LOADED if error.code == "not_found" else None
        config: Any = answer.get("config") if isinstance(answer, Mapping) else None
        read = read_script if domain == "script" else read_automation
        return read(config, places)

    async def _read_scene(self, item_id: str) -> Effects | None:
        scene = self._picture.house.entities.get(item_id)
        if scene is None or not is_worth_reading(scene):
            return None
        try:
            return read_scene(await self._ask_scene(scene), scene)
        except IntegrationError as error:
            log.info("The states that %s sets are not known: %s", item_id, error)
            return None

    def _is_held(self, item_id: str) -> bool:
        """Whether it is a scene that says itself what it holds."""
        scene = self._picture.house.entities.get(item_id)
        return scene is not None and scene.domain == "scene" and "entity_id" in scene.attributes

    async def _related(self, item_id: str) -> Effects | None:
        """What `search/related` tells; None where it does not."""
        if self._tells is False:
            return None
        domain = item_id.partition(".")[0]
        try:
            answer = await self._connection.command(
                "search/related", item_type=domain, item_id=item_id
            )
        except CommandRefused as error:
            log.info("What %s touches is not known: %s", item_id, error)
            self._tells = not _is_final(error)
            return None
        self._tells = True
        if not isinstance(answer, Mapping):
            return None
        picture = self._picture
        return read_related(item_id, answer, picture.registries, picture.house.entities)


def _is_final(error: CommandRefused) -> bool:
    """Whether asking again over this connection is of no use."""
    return error.unknown or error.code == "unauthorized"
