"""What turns were about, for whoever may not know their words: the first tool of each."""

from assistant.domain.events import Happening

_TURNS = 32  # the newest, of which it is remembered


class Intents:
    """Learns from what happens."""

    def __init__(self) -> None:
        self._intents: dict[str, str] = {}  # by turn id

    def of(self, happening: Happening) -> str | None:
        """The intent of its turn, such as "HassTurnOn", without the server; None: none so far."""
        turn_id = happening.turn_id
        tool = str(happening.data.get("name") or "") if happening.kind == "tool_call" else ""
        if tool and turn_id:
            self._intents.setdefault(turn_id, tool.rpartition("__")[2])
            if len(self._intents) > _TURNS:
                del self._intents[next(iter(self._intents))]
        return self._intents.get(turn_id)
