"""Who helps to ask a person before a gated call, put together by the settings."""

from collections.abc import Sequence

from assistant.bridge import Bridge
from assistant.clock import Clock
from assistant.config.schema import Settings
from assistant.confirm.pin import PinGuard
from assistant.confirm.witness import Hears, Witness
from assistant.minds import Minds
from assistant.turn.exchange import Means, Prompter


def means_of(
    settings: Settings, bridge: Bridge, minds: Minds, clock: Clock, prompter: Prompter | None
) -> Means:
    """How this process asks. `prompter`: who sits at a keyboard, if anybody does."""
    pin = settings.policy.pin
    guard = PinGuard(pin, bridge.store, clock) if pin.get_secret_value() else None
    wake = [word.model.replace("_", " ") for word in settings.wake.words]
    languages = settings.assistant.languages
    witness = Witness(languages, guard, minds.ear, _hears(settings, languages), wake)
    return Means(witness, prompter, learn=minds.learn)


def _hears(settings: Settings, languages: Sequence[str]) -> Hears:
    """What `offline.recognizer` is good for: a server elsewhere is told no secret."""
    recognizer = settings.offline.recognizer
    if not recognizer:
        return Hears(("en",), ("en",))
    return Hears(tuple(languages), () if "://" in recognizer else tuple(languages))
