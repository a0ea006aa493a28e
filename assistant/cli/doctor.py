"""`hearth doctor`: check everything and suggest fixes."""

import argparse
import asyncio
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict

from rich.table import Table
from rich.text import Text

from assistant.cli.console import Terminal, stacked, worded
from assistant.cli.terminal import CliCommand, hide_in_logs, say_json
from assistant.config.errors import ConfigError
from assistant.config.load import find_file, load_settings
from assistant.config.schema import Settings
from assistant.doctor.daemon import May
from assistant.doctor.finding import Finding, Group, Status, Watch, unwatched
from assistant.doctor.whole import examine_groups

_MARKS: dict[Status, tuple[str, str]] = {
    "ok": ("ok", "green"),
    "warn": ("look", "yellow"),
    "fail": ("fail", "bold red"),
}
_NARROW = 100  # columns; on a narrower terminal the fix is printed below the finding


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.add_argument(
        "--silent", action="store_true", help="play no sound, and skip the round-trip measurement"
    )
    parser.add_argument(
        "--try-cloud",
        action="store_true",
        help="ask Gemini for one word if privacy.accept_cloud is true; this costs less than a cent",
    )


async def _run(arguments: argparse.Namespace, settings: Settings) -> int:
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
    examples=("hearth doctor", "hearth doctor --json"),
    add_arguments=_arguments,
    run=_run,
    configured=False,
)
