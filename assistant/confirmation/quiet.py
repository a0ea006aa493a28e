"""Quiet in the room while a question is asked: a film must not say yes."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from assistant.tools.resolve import domain_of, has_features
from assistant.tools.verify import LivePicture
from integrations.errors import IntegrationError
from integrations.home_assistant.house import Entity, House

_log = logging.getLogger(__name__)
HUSH_S = 1.5  # for all players to be seen silent
RESUME_S = 2.0  # for Home Assistant's answer
WATCH_S = 180.0  # longer than any question is waited for
# What was asked to play just before shows it only now; the question is still being said.
GRACE_S = 2.0
_DOMAIN = "media_player"
_PLAYING = ("playing", "buffering")
# Bits of `supported_features` (2026.11, `components/media_player/const.py`).
_PAUSE, _PLAY = 1, 16384


class Services(Protocol):
    """Home Assistant's actions (`integrations.home_assistant.services.Services`)."""

    async def call(
        self,
        domain: str,
        service: str,
        data: Mapping[str, Any] | None = None,
        *,
        entities: Sequence[str] = (),
    ) -> Any:
        """Do it. Raises IntegrationError."""
        ...


class Hush:
    """What was paused for one question."""

    def __init__(
        self,
        home: LivePicture,
        services: Services,
        paused: Sequence[str],
        *,
        area_id: str,
        quiet: bool,
    ) -> None:
        """`paused`: ids of the players that we asked to pause. `quiet`: that has made it so; from
        here on the room is watched, until `resume`."""
        self._home = home
        self._services = services
        self._paused = tuple(paused)
        self._area_id = area_id
        self._watching = asyncio.create_task(self._sounds(), name="quiet room") if quiet else None

    @property
    def quiet(self) -> bool:
        """Nothing plays near, and nothing has since, as far as the house shows."""
        watching = self._watching
        if watching is None or not self._home.connected:
            return False
        has_sounded = watching.done() and not watching.cancelled() and watching.result()
        return not (has_sounded or playing(self._home.house, self._area_id))

    async def resume(self) -> None:
        """Let those play on that we paused and that are paused still. Once; never raises."""
        if self._watching is not None:
            self._watching.cancel()
        paused, self._paused = self._paused, ()
        entities = self._home.house.entities
        still = [
            name
            for name in paused
            if name in entities
            and entities[name].state == "paused"
            and has_features(entities[name], _PLAY)
        ]
        if not still:
            return
        try:
            async with asyncio.timeout(RESUME_S):
                await self._services.call(_DOMAIN, "media_play", entities=still)
        except (IntegrationError, TimeoutError) as error:
            _log.warning("What was paused does not play on: %s", str(error) or "no answer in time")

    async def _sounds(self) -> bool:
        """Return once something plays near: a film that has begun meanwhile could say yes too."""
        if await self._plays_within(GRACE_S):
            paused, _ = await _pause(self._home, self._services, self._area_id)
            self._paused = tuple(dict.fromkeys((*self._paused, *paused)))
        return await self._plays_within(WATCH_S)

    async def _plays_within(self, seconds: float) -> bool:
        players = [one for one in self._home.house.entities if domain_of(one) == _DOMAIN]
        return await self._home.wait_for(
            players, lambda house: bool(playing(house, self._area_id)), seconds
        )


class Quiet:
    """Pauses the media players around this box."""

    def __init__(self, home: LivePicture, services: Services) -> None:
        self._home = home
        self._services = services

    async def hush(self, area_id: str) -> Hush:
        """Pause what plays in this area, within HUSH_S. Never raises.

        Without an area every player counts as near. One that cannot be paused stays as it is, and
        so does everything while the picture is not live: then it is not quiet, for nobody knows.
        """
        if not self._home.connected:
            return Hush(self._home, self._services, (), area_id=area_id, quiet=False)
        paused, quiet = await _pause(self._home, self._services, area_id)
        return Hush(self._home, self._services, paused, area_id=area_id, quiet=quiet)


async def _pause(home: LivePicture, services: Services, area_id: str) -> tuple[Sequence[str], bool]:
    """The ids of what was asked to pause, and whether all that played is silent now."""
    near = playing(home.house, area_id)
    names = [one.entity_id for one in near]
    able = [one.entity_id for one in near if has_features(one, _PAUSE)]
    try:
        async with asyncio.timeout(HUSH_S):
            if able:
                await services.call(_DOMAIN, "media_pause", entities=able)
                await home.wait_for(able, lambda house: _silent(house, able), HUSH_S)
    except (IntegrationError, TimeoutError) as error:
        _log.info("What plays near could not be paused: %s", str(error) or "no answer in time")
    return able, _silent(home.house, names) and home.connected


def playing(house: House, area_id: str) -> list[Entity]:
    """The players in that area that play; "" for all of the house, exposed or not."""
    return [
        entity
        for entity in house.entities.values()
        if entity.domain == _DOMAIN
        and entity.state in _PLAYING
        and (not area_id or entity.area_id == area_id)
    ]


def _silent(house: House, names: Sequence[str]) -> bool:
    found = (house.entities.get(name) for name in names)
    return not any(entity is not None and entity.state in _PLAYING for entity in found)
