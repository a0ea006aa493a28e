"""Home Assistant's actions (services), called over the websocket as the signed-in person."""

from collections.abc import Mapping, Sequence
from typing import Any

from integrations.home_assistant.commands import Commands


class Services:
    """Calls one action at a time. What may be called is the caller's to decide."""

    def __init__(self, home: Commands) -> None:
        """`home`: the connection (`client.HomeAssistant`)."""
        self._home = home

    async def call(
        self,
        domain: str,
        service: str,
        data: Mapping[str, Any] | None = None,
        *,
        entities: Sequence[str] = (),
        answer: bool = False,
    ) -> Any:
        """Do it, and give the action's own answer where `answer` is asked for, else None.

        Raises IntegrationError: CommandRefused where Home Assistant says no, Unanswered where it
        may have been done.
        """
        fields: dict[str, Any] = {"domain": domain, "service": service}
        if data:
            fields["service_data"] = dict(data)
        if entities:
            fields["target"] = {"entity_id": list(entities)}
        if answer:
            fields["return_response"] = True
        result = await self._home.command("call_service", **fields)
        return result.get("response") if answer and isinstance(result, Mapping) else None
