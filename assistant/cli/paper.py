"""Where lists are printed: a terminal as wide as it is, or a file with room for whole lines."""

from rich.console import Console

_PIPED = 160  # columns, where no person reads along


def paper() -> Console:
    """A console for stdout. Colours are there where people look, and nowhere else."""
    terminal = Console(highlight=False)
    return terminal if terminal.is_terminal else Console(highlight=False, width=_PIPED)
