"""Tests of a Home Assistant that restarts while people give commands: failures are reported."""

from pathlib import Path

from assistant.conversation.record import FinishedTurn
from assistant.domain.tool_call import Status
from tests.chaos.faults import fault
from tests.chaos.promises import Life, assert_promises, told_of
from tests.home_assistant.admin import Admin
from tests.home_assistant.automations import until
from tests.home_assistant.conftest import Address, Power, real_only
from tests.home_assistant.open_box import OpenBox, forget, open_box, settings_of

pytestmark = real_only

AWAY = "I can't reach Home Assistant right now. Please try again in a moment."
LIGHT = "light.kitchen_lights"


async def ask(box: OpenBox, text: str) -> FinishedTurn:
    """Run one typed turn."""
    await box.app.runner.ask(text)
    return box.turns[-1]


@fault(
    "commands while a real Home Assistant is restarted",
    hears=f"“{AWAY}” until Home Assistant is back; then commands work as usual",
    retried="the connection at least every 5 s, but no call",
    kept="everything",
)
async def test_commands_while_it_is_started_again(
    house: Address, admin: Admin, power: Power, tmp_path: Path
) -> None:
    settings = settings_of(house, tmp_path)
    async with open_box(settings, tmp_path) as box:
        first = await ask(box, "turn on the kitchen lights")
        assert [one.status for one in first.outcomes] == [Status.DONE]
        await power.off()
        away = await ask(box, "turn off the kitchen lights")
        assert (away.record.answer, away.outcomes) == (AWAY, ())
        await power.on()
        await until(lambda: box.app.home.client.connected)
        # It starts with this light on.
        assert (await admin.states())[LIGHT]["state"] == "on", "nothing was done later"
        later = await ask(box, "turn off the kitchen lights")
        assert [one.status for one in later.outcomes] == [Status.DONE]
    told = tuple(told_of(turn) for turn in box.turns)
    assert_promises(Life(0, (), told, None, settings.database))
    await forget(admin, settings)
