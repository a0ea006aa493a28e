"""Tests that names and results stay text, whatever a device is called."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from playwright.sync_api import expect

from assistant.domain.records import CallRecord, MemoryRecord, TurnRecord, new_id
from assistant.domain.tool_call import Decision, Observed, Status, Tier
from tests.console.browser import Console
from tests.console.house import House

pytestmark = pytest.mark.console

NAMED = "<img src=x onerror=\"document.title='taken'\"><script>document.title='taken'</script>"


@pytest.fixture
def turn_id(house: House) -> Iterator[str]:
    """Yield a turn that consists only of such texts."""
    now = datetime.now(UTC)
    turn = TurnRecord(new_id(now), now, "voice", "en", brain=NAMED, heard=NAMED, answer=NAMED)
    call = CallRecord(
        turn.turn_id,
        NAMED,
        NAMED,
        NAMED,
        {NAMED: NAMED},
        Decision.ALLOWED,
        Tier.COMFORT,
        now,
        status=Status.DONE,
        observed=(Observed(NAMED, NAMED, NAMED),),
        sentence=NAMED,
    )

    async def write() -> None:
        await store.record_turn(turn)
        await store.start_call(call)
        await store.memory.keep(MemoryRecord(memory, NAMED, now, who=NAMED, about=NAMED))
        await store.reports.begin_fault(NAMED, NAMED, now)
        await store.reports.end_fault(NAMED, now)

    store, memory = house.app.home.store, new_id(now)
    house.do(write())
    yield turn.turn_id
    house.do(store.memory.forget(memory))


def test_a_device_named_like_a_tag_stays_text_in_every_view(
    console: Console, house: House, turn_id: str
) -> None:
    page = console.page
    timer = {"seconds": 900, "name": NAMED[:60]}
    made = console.post("v1/timers", timer)
    places = {
        "turns": ".turnrow .heard",
        f"turn/{turn_id}": ".call code",
        "timers": ".timerrow .heard",
        "memory": ".fact .heard",
        "health": ".fault .heard",
        "now": ".turnrow .heard",
    }
    for view, place in places.items():
        console.show(view)
        found = page.locator(place, has_text="<img src=x").first
        expect(found).to_be_visible()
        assert page.locator("main img, main script").count() == 0, view
        assert "taken" not in page.title()
    page.evaluate("id => fetch(`v1/timers/${id}`, { method: 'DELETE' })", made["id"])


def test_nothing_of_the_page_parses_markup() -> None:
    """A test of each place finds today's errors; this one finds those that are added later."""
    from integrations.web.pages import FOLDER

    scripts = list(FOLDER.rglob("*.js"))
    assert len(scripts) > 20
    ways = ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "DOMParser", "eval(")
    for script in scripts:
        text = script.read_text("utf-8")
        assert not [way for way in ways if way in text], script.name
        assert len(text.splitlines()) <= 400, script.name
