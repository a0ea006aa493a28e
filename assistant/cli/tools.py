"""`hearth tools`: list the tools offered to the model, and show how calls would be decided."""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from rich.table import Table
from rich.text import Text

from assistant.app.build import App
from assistant.app.guards import rulings_of
from assistant.app.home import HomeContext, open_home
from assistant.app.tools import open_background_work
from assistant.brains.briefing.briefer import Briefer, Briefing
from assistant.cli.console import Terminal
from assistant.cli.terminal import CliCommand, Failed, add_alone, say, say_json
from assistant.cli.tools_decide import add_approve_parser, add_rate_parser, approve, rate
from assistant.config.schema import Settings
from assistant.conversation.rules.events import Prompter
from assistant.domain.clock import Clock, SystemClock
from assistant.domain.tool_call import Decision
from assistant.tools.catalog.menu import MenuEntry
from assistant.tools.policy.rules import OwnerRule, Ruling, menu_json, rule_of
from integrations.gemini.tokens import text_tokens, tool_tokens
from integrations.mcp.servers import HOME_ASSISTANT, ServerState
from integrations.owner import OwnedTasks

# Seconds to wait for the house and tool servers, far longer than in a turn, to list all tools.
PATIENCE_S = 20.0
_NAME = 40  # maximum width of a name; long enough for most, because names often differ at the end
_EXAMPLE = '{"name": "HassTurnOn", "arguments": {"name": "Kitchen light"}}'
_LINE = 100  # maximum length of a description, even on wider terminals


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    add_alone(parser)
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=False)
    add_approve_parser(actions)
    add_rate_parser(actions)
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument(
        "--explain",
        metavar="JSON",
        help='show how Hearth would decide on {"name":…,"arguments":…,"heard":…}, without running '
        "it; use - to read one call per line from standard input",
    )
    instead.add_argument(
        "--prompt",
        metavar="PROFILE",
        nargs="?",
        const="",
        help="print the instructions and tools that a cloud model currently gets, and their tokens",
    )


async def _run(arguments: argparse.Namespace, settings: Settings) -> int:
    calls = _calls(arguments.explain) if arguments.explain else []
    _check_profile(arguments.prompt, settings)
    clock = SystemClock()
    if arguments.action == "approve":
        async with open_home(settings, clock) as home:
            await home.hub.tools(PATIENCE_S)
            return await approve(home, arguments.chosen, arguments.json)
    if arguments.action == "rate":
        async with open_home(settings, clock) as home:
            await home.hub.tools(PATIENCE_S)
            chosen, every = arguments.chosen, arguments.every
            return await rate(home, clock, chosen, every, arguments.json)
    async with (
        open_home(settings, clock) as home,
        open_background_work(settings, home, clock),  # adds its tools to the menu
    ):
        return await _show(arguments, home, settings, clock, calls)


async def _beside(arguments: argparse.Namespace, app: App, prompter: Prompter | None) -> int:
    if arguments.explain == "-":  # stdin is the daemon's here, and reading it would block
        raise Failed("Calls from standard input need --alone", 2)
    calls = _calls(arguments.explain) if arguments.explain else []
    _check_profile(arguments.prompt, app.settings)
    return await _show(arguments, app.home, app.settings, SystemClock(), calls)


def _check_profile(profile: str | None, settings: Settings) -> None:
    if profile and profile not in settings.profiles:
        raise Failed(f"There is no profile {profile}; add a table [profiles.{profile}]", 2)


async def _show(
    arguments: argparse.Namespace,
    home: HomeContext,
    settings: Settings,
    clock: Clock,
    calls: Sequence[dict[str, Any]],
) -> int:
    await home.hub.tools(PATIENCE_S)  # server programs take a while to start
    if arguments.prompt is not None:
        briefing = await _briefing(home, settings, clock, arguments.prompt)
        if arguments.json:
            say_json(briefing.instruction)
        else:
            offered = len((await home.tools.menu()).offered()) + 1  # and StaySilent
            say(*briefing.instruction.split("\n"), "", *_sizes(briefing, offered))
        return 0
    if arguments.explain:
        language = settings.assistant.languages[0]
        for call in calls:
            _print_verdict(*await _explain(home, call, language), arguments.json)
        return 0
    menu = await home.tools.menu()
    servers = home.hub.states()
    rules = rulings_of(settings.policy).rules
    if arguments.json:
        whole = menu_json(servers, menu.entries, rules)
        say_json(whole)
    else:
        _print_menu(servers, menu.entries, rules)
    return 0 if any(server.ok for server in servers) else 1


async def _briefing(home: HomeContext, settings: Settings, clock: Clock, profile: str) -> Briefing:
    prompt = partial(home.hub.prompt, HOME_ASSISTANT)
    house = home.client
    async with OwnedTasks() as tasks:
        briefer = Briefer(
            home.tools.menu,
            prompt,
            lambda: house.house,
            settings,
            clock,
            tasks,
            memories=lambda said, program: home.memories.briefed(said, program=program),
            uses=home.store.tool_uses,
            wait_s=PATIENCE_S,
        )
        return await briefer.brief(profile)


def _sizes(briefing: Briefing, offered: int) -> list[str]:
    instruction = text_tokens(briefing.instruction)
    menu = sum(map(tool_tokens, briefing.declarations))
    names = ", ".join(one.name for one in briefing.declarations)
    return [
        f"Tools sent ({len(briefing.declarations)}, of {offered} offered): {names}",
        f"About {instruction + menu:,} tokens per turn: {instruction:,} of instruction and "
        f"{menu:,} of tools, estimated at four characters a token.",
    ]


def _print_menu(
    servers: Iterable[ServerState], entries: Sequence[MenuEntry], rules: Sequence[OwnerRule] = ()
) -> None:
    console = Terminal()
    for server in servers:
        told = "{name}: [green]ok[/]" if server.ok else "{name}: [red]not usable[/] {reason}"
        console.tell(told, name=server.name, reason=server.reason, fold=True)
    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("tool", max_width=_NAME, no_wrap=True)
    for heading in ("tier", "rule"):
        table.add_column(heading, no_wrap=True)
    table.add_column("what it does")  # the last column is cut off on a narrow terminal
    for entry in entries:
        about = f"hidden: {entry.why_hidden}" if entry.hidden else entry.declaration.description
        cells = (entry.declaration.name, entry.tier, rule_of(entry, rules), about[:_LINE])
        style = "dim" if entry.hidden else ""
        table.add_row(*(Text(one, no_wrap=True, overflow="ellipsis") for one in cells), style=style)
    console.print(table)
    for why, count in Counter(entry.why_hidden for entry in entries if entry.hidden).items():
        console.print(f"{count} not offered to the model: {why}.")
    losses = [entry for entry in entries if entry.declaration.losses]
    if losses:
        some = ", ".join(entry.declaration.name for entry in losses[:3])
        named = some if len(losses) <= 3 else f"{some} and more"
        console.print(
            f"{len(losses)} lost a detail when converted for the model ({named}); see --json."
        )


def _calls(given: str) -> list[dict[str, Any]]:
    calls = []
    for line in sys.stdin if given == "-" else [given]:
        if not line.strip():
            continue
        try:
            call = json.loads(line)
        except json.JSONDecodeError:
            raise Failed(f"--explain needs a call as JSON, such as {_EXAMPLE}", 2) from None
        if not isinstance(call, dict) or not isinstance(call.get("name"), str):
            raise Failed(f"--explain needs a call with a name, such as {_EXAMPLE}", 2)
        if not isinstance(call.get("arguments", {}), dict):
            raise Failed('the "arguments" of --explain must be an object', exit_code=2)
        calls.append(call)
    return calls


async def _explain(
    home: HomeContext, call: dict[str, Any], language: str
) -> tuple[dict[str, Any], Ruling]:
    explained = await home.tools.explain(call["name"], call.get("arguments", {}), call.get("heard"))
    if explained is None:
        raise Failed(f"There is no tool {call['name']}; run hearth tools for the list")
    entry, verdict = explained
    reason = home.catalogue.say(verdict.key, language, **verdict.values) if verdict.key else None
    return {
        "name": entry.tool.name,
        "server": entry.server,
        "arguments": dict(verdict.arguments),
        "entities": list(verdict.entities),
        "effects": list(verdict.effects),
        "tier": verdict.tier,
        "rule": verdict.rule,
        "decision": verdict.decision,
        "narrowed": verdict.narrowed,
        "reason": reason,
    }, verdict.ruling


def _print_verdict(told: dict[str, Any], ruling: Ruling, as_json: bool) -> None:
    if as_json:
        say_json(told)
        return
    by = f" by {ruling}" if told["decision"] == Decision.NEEDS_CONFIRMATION else ""
    say(f"{told['name']}: {told['decision']}{by} ({told['tier']}, rule {told['rule']})")
    for label in ("arguments", "entities", "effects", "reason"):
        if told[label]:
            say(f"  {label}: {told[label]}")


COMMAND = CliCommand(
    name="tools",
    examples=(
        "hearth tools",
        """hearth tools --explain '{"name": "HassTurnOff", "arguments": {"area": "Hall"}}'""",
        "hearth tools rate",
    ),
    add_arguments=_arguments,
    run=_run,
    beside=_beside,
)
