"""The list at the end of `hearth setup`: these may open something."""

from collections.abc import Sequence

from assistant.cli.paper import Terminal
from assistant.config.errors import ConfigError
from assistant.config.schema import Settings
from assistant.domain.clock import SystemClock
from assistant.domain.outcome import Tier
from assistant.domain.records import StoreError
from assistant.interfaces.device.register import address_of
from assistant.journal.store import Store
from assistant.setup.answers import Gone, Person
from assistant.setup.typed import Unclear, numbers
from assistant.tools.ratings import Ratings, may_open
from integrations.home_assistant.client import HomeAssistant
from integrations.home_assistant.house import Entity, House

SHOWN = 30  # things in the list; the rest is told by `hearth tools rate`
_LATER = "hearth tools rate lists them"


async def rate_openers(settings: Settings, person: Person | None, console: Terminal) -> int:
    """Ask which of what may open something opens nothing; how many questions that took (0 or 1).

    `person`: whom to ask, None where nobody is there or enough was asked; they are told then where
    the list is. What is not answered stays asked about. Where Home Assistant or the store is away
    nothing is said: the doctor tells.
    """
    address = address_of(settings)
    tls = address.verify_tls, address.ca_file
    try:
        async with (
            Store(settings.database, SystemClock()) as store,
            HomeAssistant(address.url, address.token, *tls) as home,
        ):
            home.learn_openings(await store.openings())
            ratings = Ratings(store)
            await ratings.load()
            things = [one for one in may_open(home.house) if one.entity_id not in ratings.tiers]
            if not things:
                return 0
            if person is None:
                told = f"{len(things)} things may open something and are asked about: {_LATER}."
                console.print(told, soft_wrap=True)
                return 0
            await ratings.rate(await _asked(things, home.house, person))
            return 1
    except (ConfigError, StoreError) as error:
        console.print(f"Nothing was rated: {error}", soft_wrap=True)
        return 0


async def _asked(things: Sequence[Entity], house: House, person: Person) -> dict[str, Tier]:
    """The ratings by entity id, none where the person leaves it all as it is."""
    shown = things[:SHOWN]
    person.tell("")
    person.tell("These may open something, or silence an alarm", "bold")
    person.tell("   Before they do, you are asked. Which of them open nothing?")
    for number, one in enumerate(shown, 1):
        area = house.areas.get(one.area_id or "")
        place = f"  ({area.name})" if area else ""
        person.tell(f"   {number}  {one.name}{place}  {one.entity_id}")
    if len(things) > len(shown):
        person.tell(f"   and {len(things) - len(shown)} more; {_LATER}", "dim")
    while True:
        try:
            line = await person.ask("Numbers with spaces between, Enter to be asked about them all")
        except Gone:
            return {}
        try:
            chosen = numbers(line, len(shown))
        except Unclear as unclear:
            person.tell(str(unclear), "yellow")
            continue
        if not chosen:
            return {}
        # Whoever has chosen has looked at the others too.
        return {
            one.entity_id: Tier.COMFORT if number in chosen else Tier.SECURE
            for number, one in enumerate(shown, 1)
        }
