"""A house of the tests that Hearth controls as a person runs it, checked over REST."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.home_assistant.admin import Admin
from tests.home_assistant.asked import Asked
from tests.home_assistant.conftest import Address
from tests.home_assistant.hearth import Hearth
from tests.home_assistant.line import Json
from tests.simulators.gemini_live import GeminiSimulator
from tests.simulators.script import Call, Done, OnceTurn, Step, Turn
from tests.simulators.threads import in_thread


@dataclass
class Home:
    """A house that is asked and checked."""

    house: Address
    admin: Admin
    hearth: Hearth
    service: GeminiSimulator = field(init=False)  # of the last turn that it served
    items: int = 0  # so many of that name were in the list

    async def prepare(self, asked: Asked) -> None:
        """Make sure that the request is not fulfilled yet, and needs no question."""
        if asked.rated:
            await self.hearth.text("tools", "rate", asked.rated, "comfort")
        if asked.entity.startswith("media_player."):  # one that is off has no volume
            await self.admin.call("media_player.turn_on", entity_id=asked.entity)
        if asked.before is not None:
            action, data = asked.before
            await self.admin.call(action, **data)
        if asked.entity.startswith("cover."):
            assert await self.admin.settles(asked.entity, "open", limit_s=15.0) == "open"
        if asked.item:
            self.items = await self._listed(asked)
        if asked.shows is not None:
            assert await self.admin.state(asked.entity) != asked.shows
        if asked.attribute is not None:
            name, value = asked.attribute
            assert await self.admin.attribute(asked.entity, name) != value

    async def check(self, asked: Asked) -> None:
        """Check the house, not the answer."""
        if asked.item:
            assert await self._listed(asked) == self.items + 1
        if asked.shows is not None:
            seen = await self.admin.settles(asked.entity, asked.shows, limit_s=15.0)
            assert seen == asked.shows
        if asked.attribute is not None:
            name, value = asked.attribute
            assert await self.admin.attribute(asked.entity, name) == value

    async def _listed(self, asked: Asked) -> int:
        """Count the item in the list; newer releases capitalise it."""
        answer = await self.admin.post(
            "/api/services/todo/get_items?return_response", {"entity_id": asked.entity}
        )
        items = answer["service_response"][asked.entity]["items"]
        return sum(item["summary"].casefold() == asked.item for item in items)

    async def tool(self, suffix: str, *, anew: bool = False) -> str:
        """Return this release's name of a tool; skip if an older one has none.

        `anew`: the menu has changed since the first of these tests.
        """
        if anew or self.house.url not in _menus:  # a program for each test would be much
            _menus[self.house.url] = (await self.hearth.json("tools"))["tools"]
        for entry in _menus[self.house.url]:
            if entry["name"].rpartition("__")[2] == suffix and not entry["hidden"]:
                return str(entry["name"])
        self.house.needs(2026, 11, f"tool {suffix}")
        raise AssertionError(f"there is no tool {suffix}")

    async def call(self, suffix: str, arguments: Mapping[str, Any], **answer: Any) -> Call:
        """Return a model's call of the tool; its result must contain `answer`."""
        return Call(await self.tool(suffix), dict(arguments), answer=answer or None)

    async def served(self, text: str, *steps: Step, once: Sequence[OnceTurn] = ()) -> Json:
        """Run a typed turn with the simulated Gemini, which takes these steps, or gets no turn
        without."""
        turns = [Turn("text", [*steps, Done()])] if steps else []
        with in_thread(GeminiSimulator(turns, once=once)) as gemini:
            self.hearth.to_gemini(gemini, once=bool(once))
            turn: Json = await self.hearth.json("ask", text)
            self.service = gemini
        return turn

    @property
    def answered(self) -> list[Json]:
        """Return the results of the model's calls in the last turn."""
        return [call.response or {} for call in self.service.turns[0].calls]


_menus: dict[str, list[Json]] = {}  # of each house, as `hearth tools` told it
