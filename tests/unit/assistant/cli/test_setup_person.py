"""The terminal that `hearth setup` talks to: names from outside give it no orders."""

import io

from assistant.cli.console import Terminal
from assistant.cli.setup_steps import TerminalPerson


def test_a_name_from_outside_gives_the_terminal_no_orders() -> None:
    written = io.StringIO()
    person = TerminalPerson(Terminal(file=written, force_terminal=True, color_system=None))
    person.tell("   m1 * [red]USB\x1b]0;gone\x07\x1b[2J\x9b2J Mic\n   next")
    assert written.getvalue() == (
        "   m1 * [red]USB\\x1b]0;gone\\x07\\x1b[2J\\x9b2J Mic\\n   next\n"
    )
