"""Everything that the doctor looks at, in the order in which it depends on each other."""

from assistant.config.schema import Settings
from assistant.doctor import box, broker
from assistant.doctor.finding import Finding, examine
from assistant.doctor.house import examine_house


async def examine_all(settings: Settings) -> list[Finding]:
    """The box, then the house, then the broker."""
    return [
        *await examine(box.CHECKS, settings),
        *await examine_house(settings),
        *await examine(broker.CHECKS, settings),
    ]
