"""How something is said that nobody asked for just now."""

from dataclasses import dataclass

from audio.clip import Clip


@dataclass(frozen=True, slots=True)
class Manner:
    """What sets one announcement apart from another by ear."""

    sound: str = ""  # a tone of `audio.earcons` that goes before; "": none
    volume: float | None = None  # 0 to 1, of the voice's own loudness; None: as all that is said
    alarm: bool = False  # quiet hours do not count for it
    floor: float = 0.0  # no volume and no quiet hours make it softer, 0 to 1
    clip: Clip | None = None  # sounds behind the tone, in place of words or before them
    caller: str = ""  # the program that wants it said; "" where it is Hearth itself


PLAIN = Manner()
# The microphone opens: whoever is in the room must know it, however quiet they want the rest.
OPENING = Manner(floor=0.25)
