"""Who helps to ask a person before a gated call, put together by the settings."""

from collections.abc import Sequence

from assistant.app.brains import Minds
from assistant.app.home import Bridge
from assistant.config.schema import Settings
from assistant.confirmation.phone import OwnersPhone
from assistant.confirmation.pin import PinGuard
from assistant.confirmation.witness import Hears, Witness
from assistant.conversation.exchange import Means, Prompter
from assistant.domain.clock import Clock
from integrations.home_assistant.phones import Phones


def means_of(
    settings: Settings, bridge: Bridge, minds: Minds, clock: Clock, prompter: Prompter | None
) -> Means:
    """How this process asks. `prompter`: who sits at a keyboard, if anybody does."""
    pin = settings.policy.pin
    guard = PinGuard(pin, bridge.store, clock) if pin.get_secret_value() else None
    wake = [word.model.replace("_", " ") for word in settings.wake.words]
    languages = settings.assistant.languages
    witness = Witness(languages, guard, minds.ear, _hears(settings, languages), wake)
    phone = None
    if settings.policy.phone:
        phones = Phones(bridge.home, bridge.own_device)
        name = settings.assistant.name
        phone = OwnersPhone(phones, settings.policy.phone, name, bridge.catalogue)
    return Means(witness, prompter, phone, minds.learn)


def _hears(settings: Settings, languages: Sequence[str]) -> Hears:
    """What `offline.recognizer` is good for: a server elsewhere is told no secret."""
    recognizer = settings.offline.recognizer
    if not recognizer:
        return Hears(("en",), ("en",))
    return Hears(tuple(languages), () if "://" in recognizer else tuple(languages))
