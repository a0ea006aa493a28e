"""The person at the terminal whom `hearth setup` asks; over ssh too."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.live import Live
from rich.text import Text

from assistant.cli.keyboard import read_line, silent
from assistant.cli.paper import Terminal
from assistant.setup.answers import Gone
from assistant.setup.sound_check import Reading, bar

_METER = 24  # characters of the level
_SCORE = 10  # of the wake word's score
_A_SECOND = 12  # times that the meter is drawn


class TerminalPerson:
    """Implements `assistant.setup.answers.Person` on stdin and stderr."""

    def __init__(self, console: Terminal) -> None:
        """`console`: of stderr, so that stdout stays for programs."""
        self._console = console

    def tell(self, text: str, style: str = "") -> None:
        """See `Person`."""
        self._console.print(text, style=style or None, soft_wrap=True)

    async def ask(self, prompt: str, default: str = "", *, hidden: bool = False) -> str:
        """See `Person`. A hidden default is none: it would be shown."""
        shown = f"   {prompt} [{default}]: " if default and not hidden else f"   {prompt}: "
        with silent(hidden):  # first: somebody may begin to type as soon as they are asked
            self._console.print(Text(shown, style="cyan"), end="", soft_wrap=True)
            line = await read_line()
        if hidden or not line:
            self._console.print()
        if not line:
            raise Gone
        return line.strip() or default

    @contextmanager
    def watch(self) -> Iterator[Callable[[Reading], None]]:
        """See `Person`."""
        last: list[Reading] = []

        def drawn() -> Text:
            return _drawn(last[0]) if last else Text("   opening the microphone ...", style="dim")

        def show(reading: Reading) -> None:
            last[:] = [reading]

        with Live(
            get_renderable=drawn,
            console=self._console,
            refresh_per_second=_A_SECOND,
            transient=True,
        ):
            yield show


def _drawn(reading: Reading) -> Text:
    """The level now and the wake word's best score, on one line."""
    loud = reading.loudness
    line = Text("   level ")
    line.append(bar(loud.now, _METER), style="red" if loud.clipped else "green")
    line.append(f" {loud.now:4.0f} dB   wake word ")
    filled = round(_SCORE * reading.score)
    line.append("█" * filled + "░" * (_SCORE - filled), style="green" if reading.heard else "")
    line.append(f" {reading.score:.2f}")
    return line


async def confirm(person: TerminalPerson, question: str) -> bool:
    """Whether they say yes; Enter and a closed terminal are no."""
    try:
        said = await person.ask(f"{question} (yes or no)", "no")
    except Gone:
        return False
    return said.casefold() in ("y", "yes")
