"""What is said in the demonstration, and what the house must show for it afterwards."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Spoken:
    """A command spoken by a synthetic voice after the wake word."""

    name: str
    words: str
    voice: str  # one of flite's
    expects: dict[str, str] = field(default_factory=dict)  # entity to state; empty: no change


@dataclass(frozen=True, slots=True)
class Typed:
    """A sentence as with `hearth ask`."""

    name: str
    words: str
    expects: dict[str, str] = field(default_factory=dict)


SCENES: tuple[Spoken | Typed, ...] = (
    Spoken("1-dining-room", "turn off the dining room light", "rms", {"light.dining_room": "off"}),
    Spoken(
        "2-blinds", "close the living room blinds", "slt", {"cover.living_room_blinds": "closed"}
    ),
    Spoken("3-office", "set the office light to forty percent", "awb", {"light.office": "on 40 %"}),
    Spoken("4-no-command", "why is the sky blue in the morning", "rms"),
    Typed("5-paraphrase", "switch the kitchen light on please", {"light.kitchen": "on 100 %"}),
    Typed("6-spanish", "apaga la luz de la cocina", {"light.kitchen": "off"}),
)
