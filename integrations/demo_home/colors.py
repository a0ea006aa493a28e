"""Colour names that a light understands, as red, green, blue of 0 to 255 (CSS Color Level 4)."""

COLORS: dict[str, tuple[int, int, int]] = {
    "aqua": (0, 255, 255),
    "beige": (245, 245, 220),
    "black": (0, 0, 0),
    "blue": (0, 0, 255),
    "brown": (165, 42, 42),
    "coral": (255, 127, 80),
    "crimson": (220, 20, 60),
    "cyan": (0, 255, 255),
    "fuchsia": (255, 0, 255),
    "gold": (255, 215, 0),
    "gray": (128, 128, 128),
    "green": (0, 128, 0),
    "grey": (128, 128, 128),
    "indigo": (75, 0, 130),
    "ivory": (255, 255, 240),
    "khaki": (240, 230, 140),
    "lavender": (230, 230, 250),
    "lime": (0, 255, 0),
    "magenta": (255, 0, 255),
    "maroon": (128, 0, 0),
    "navy": (0, 0, 128),
    "olive": (128, 128, 0),
    "orange": (255, 165, 0),
    "orchid": (218, 112, 214),
    "pink": (255, 192, 203),
    "plum": (221, 160, 221),
    "purple": (128, 0, 128),
    "red": (255, 0, 0),
    "salmon": (250, 128, 114),
    "silver": (192, 192, 192),
    "skyblue": (135, 206, 235),
    "tan": (210, 180, 140),
    "teal": (0, 128, 128),
    "tomato": (255, 99, 71),
    "turquoise": (64, 224, 208),
    "violet": (238, 130, 238),
    "white": (255, 255, 255),
    "yellow": (255, 255, 0),
}


def color_rgb(name: str) -> tuple[int, int, int]:
    """The colour of that name, spaces and case aside; an unknown one is a ValueError."""
    try:
        return COLORS[name.replace(" ", "").casefold()]
    except KeyError:
        raise ValueError(f"unknown colour {name!r}") from None
