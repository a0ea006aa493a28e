"""A subscription that outlives its connection."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from integrations.errors import Refused, Unavailable
from integrations.home_assistant.websocket import Connection, EventHandler

log = logging.getLogger(__name__)


@dataclass(eq=False, slots=True)
class Followed:
    """What somebody wants to hear of at every connection."""

    handler: EventHandler
    kind: str
    fields: Mapping[str, Any] = field(repr=False)  # one may be a secret, such as a webhook's id
    over: bool = False
    _begun: Connection | None = None  # on which it was asked for last

    async def begin(self, connection: Connection) -> None:
        """Subscribe on this connection, once. Raises nothing: the next one is another chance."""
        if self._begun is connection or self.over:
            return
        self._begun = connection
        try:
            await connection.subscribe(self._hear, self.kind, **self.fields)
        except Refused as error:
            log.warning("%s", error)
        except Unavailable as error:
            log.info("%s", error)
        if self.over:  # ended meanwhile
            await connection.unsubscribe(self._hear)

    async def end(self, connection: Connection) -> None:
        """Unsubscribe, if it is subscribed there."""
        await connection.unsubscribe(self._hear)

    def _hear(self, event: Mapping[str, Any]) -> None:
        """Hand the event on; what fails there must not end the house's own connection."""
        if self.over:
            return
        try:
            self.handler(event)
        except Exception:
            log.exception("An event of %s could not be dealt with", self.kind)
