"""How something is said that nobody asked for just now."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Manner:
    """What sets one announcement apart from another by ear."""

    sound: str = ""  # a tone of `audio.earcons` that goes before; "": none
    volume: float | None = None  # 0 to 1, of the voice's own loudness; None: as all that is said
    alarm: bool = False  # quiet hours do not count for it


PLAIN = Manner()
