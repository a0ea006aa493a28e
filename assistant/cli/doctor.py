"""`hearth doctor`: check Hearth and everything it depends on, and suggest fixes."""

import argparse
import asyncio
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict

from rich.table import Table
from rich.text import Text

from assistant.app.home import open_home
from assistant.app.model_access import NO_CONSENT, may_use_cloud
from assistant.app.tools import open_background_work
from assistant.cli.console import Terminal, read_line, stacked, worded
from assistant.cli.terminal import CliCommand, Failed, say, say_json
from assistant.config.errors import ConfigError
from assistant.config.load import find_file, load_settings
from assistant.config.masked_log import hide_in_logs
from assistant.config.schema import Settings
from assistant.doctor.cloud import LIMIT_USD, WITHIN_S, probe_cloud
from assistant.doctor.cloud_findings import TimedFinding
from assistant.doctor.daemon import May
from assistant.doctor.finding import Finding, Group, Status, Watch, unwatched
from assistant.doctor.whole import examine_groups
from assistant.domain.clock import SystemClock
from integrations.address import shown
from integrations.gemini.access import NO_KEY

_MARKS: dict[Status, tuple[str, str]] = {
    "ok": ("ok", "green"),
    "warn": ("look", "yellow"),
    "fail": ("fail", "bold red"),
}
_HIDDEN = "If only the running Hearth can read the key, use the console: Health, Test Gemini."
_NARROW = 100  # columns; on a narrower terminal the fix is printed below the finding


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.add_argument(
        "--silent", action="store_true", help="play no sound, and skip the round-trip measurement"
    )
    parser.add_argument(
        "--try-cloud",
        action="store_true",
        help="ask Gemini for one word if privacy.accept_cloud is true; this costs less than a cent "
        "(--cloud tests more)",
    )
    parser.add_argument(
        "--cloud",
        action="store_true",
        help="test only Gemini, with speech, calls and interruptions, in at most "
        f"{WITHIN_S} seconds and for at most {LIMIT_USD:.2f} USD",
    )
    parser.add_argument("--yes", action="store_true", help="with --cloud: start without asking")


async def _run(arguments: argparse.Namespace, settings: Settings) -> int:
    if arguments.cloud:
        return await _probe(arguments)
    may = May(
        listen=True, play=not arguments.silent, try_cloud=arguments.try_cloud, ask_daemon=True
    )
    with _progress() as watch:
        groups = await _groups(arguments, may, watch)
    findings = [finding for group in groups for finding in group.findings]
    if arguments.json:
        say_json([asdict(finding) for finding in findings])
    else:
        _show(groups)
    return 1 if any(finding.status == "fail" for finding in findings) else 0


async def _groups(arguments: argparse.Namespace, may: May, watch: Watch) -> list[Group]:
    try:
        settings = await asyncio.to_thread(load_settings, arguments.config, os.environ)
    except ConfigError as error:
        return [
            Group(
                "Configuration",
                [Finding("configuration", "fail", "cannot be used", str(error))],
            )
        ]
    hide_in_logs(settings)
    file = find_file(arguments.config, os.environ)
    return [
        Group("Configuration", [_configuration(str(file) if file else "")]),
        *await examine_groups(settings, may, watch, file),
    ]


async def _probe(arguments: argparse.Namespace) -> int:
    settings = await asyncio.to_thread(load_settings, arguments.config, os.environ)
    hide_in_logs(settings)
    if not may_use_cloud(settings):
        if settings.privacy.accept_cloud:
            raise Failed(f"{NO_KEY} {_HIDDEN}", 2)
        raise Failed(NO_CONSENT, 2)
    await _agree(settings, yes=arguments.yes)
    tell = None if arguments.json else _print_finding
    clock = SystemClock()
    async with (
        open_home(settings, clock) as home,
        open_background_work(settings, home, clock),  # adds its tools to the menu
    ):
        report = await probe_cloud(settings, home, clock, tell)
    if arguments.json:
        say_json(asdict(report))
    else:
        answered = "Gemini Live answered" if report.live else "Gemini Live did not answer"
        cost = f"{'about ' * report.cost_estimated}{report.cost_usd:.4f} USD"
        say("", f"{answered}. {report.seconds:.0f} s, {cost}.")
    return 0 if report.live and not report.failed else 1


async def _agree(settings: Settings, *, yes: bool) -> None:
    if yes:
        return
    if not sys.stdin.isatty():
        raise Failed("This costs money, and nobody is at the terminal to agree. Add --yes.", 2)
    console = Terminal(stderr=True, soft_wrap=True)
    address = shown(settings.gemini.base_url)
    models = f"{' or '.join(settings.gemini.model)} and {settings.gemini.once_model}"
    where = f"at {address}" if address else "at Google"
    console.print(
        "This sends what any turn sends (a description of your home, the tools and remembered "
        f"facts), and questions in a synthetic voice, to {models} {where}. No tool is run. It "
        f"takes at most {WITHIN_S} s and costs at most {LIMIT_USD:.2f} USD."
    )
    console.print("Begin? (yes or no) ", end="")
    if (await read_line()).strip().casefold() not in ("y", "yes"):
        raise Failed("Nothing was sent.", 1)


def _print_finding(finding: TimedFinding) -> None:
    mark, colour = _MARKS[finding.status]
    ms = "" if finding.ms is None else f"{finding.ms:,.0f} ms"
    console = Terminal()
    console.tell(
        f"[{colour}]{mark:<4}[/]  {{check}}{{ms}}  {{detail}}",
        check=f"{finding.check:<16}",
        ms=f"{ms:>9}",
        detail=finding.detail,
    )
    if finding.mend:
        console.tell(f"{'':33}[bold]→[/] {{mend}}", mend=finding.mend)


def _configuration(file: str) -> Finding:
    if file:
        return Finding("configuration", "ok", file, "")
    return Finding(
        "configuration",
        "warn",
        "no configuration file, so the defaults apply",
        "Run `hearth setup`.",
    )


@contextmanager
def _progress() -> Iterator[Watch]:
    console = Terminal(stderr=True)
    if not console.is_terminal:
        yield unwatched
        return
    with console.status("checking") as status:
        yield lambda name: status.update(Text(f"checking: {name}"))


def _show(groups: Sequence[Group]) -> None:
    console = Terminal()
    for group in groups:
        console.print()
        console.print(group.title, style="bold")
        console.print(_table(group.findings, console.width))
    findings = [finding for group in groups for finding in group.findings]
    console.print()
    console.print(_sum(findings))


def _table(findings: Sequence[Finding], width: int) -> Table:
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column(width=4, no_wrap=True)
    table.add_column(min_width=16, no_wrap=True)
    table.add_column(overflow="fold")
    if width >= _NARROW:
        table.add_column(overflow="fold", max_width=width // 2)
    for finding in findings:
        mark = Text(*_MARKS[finding.status])
        lines = [Text(finding.detail)]
        if finding.mend:
            lines.append(worded("[bold]→[/] {mend}", mend=finding.mend))
        cells = lines if width >= _NARROW else [stacked(*lines)]
        table.add_row(mark, finding.check, *cells)
    return table


def _sum(findings: Sequence[Finding]) -> Text:
    bad = sum(finding.status == "fail" for finding in findings)
    odd = sum(finding.status == "warn" for finding in findings)
    if bad:
        rest = f", {odd} to check" if odd else ""
        return worded(
            "[bold red]{bad} to fix{rest}[/], of {all} checks",
            bad=bad,
            rest=rest,
            all=len(findings),
        )
    if odd:
        return worded(
            "[green]It works[/]; [yellow]{odd} to check[/], of {all} checks",
            odd=odd,
            all=len(findings),
        )
    return worded("[green]Everything works[/]: {all} checks", all=len(findings))


COMMAND = CliCommand(
    name="doctor",
    examples=("hearth doctor", "hearth doctor --json", "hearth doctor --cloud"),
    add_arguments=_arguments,
    run=_run,
    configured=False,
)
