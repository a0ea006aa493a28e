"""`hearth doctor`: checks everything and says how to mend it."""

import argparse
import asyncio
import json
import os
from collections.abc import Sequence
from dataclasses import asdict

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from assistant.cli.command import Command
from assistant.cli.starred import hide_in_logs
from assistant.config.errors import ConfigError
from assistant.config.load import find_file, load_settings
from assistant.config.schema import Settings
from assistant.doctor.finding import Finding
from assistant.doctor.whole import examine_all

_MARKS = {"ok": "[green]ok[/]", "warn": "[yellow]look[/]", "fail": "[red]fail[/]"}


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON value")


async def _run(arguments: argparse.Namespace, settings: Settings) -> int:
    findings = await _findings(arguments)
    if arguments.json:
        print(json.dumps([asdict(finding) for finding in findings], ensure_ascii=False))
    else:
        _show(findings)
    return 1 if any(finding.status == "fail" for finding in findings) else 0


async def _findings(arguments: argparse.Namespace) -> list[Finding]:
    """Everything in the order in which it depends on each other."""
    try:
        settings = await asyncio.to_thread(load_settings, arguments.config, os.environ)
    except ConfigError as error:
        return [Finding("configuration", "fail", "cannot be used", str(error))]
    hide_in_logs(settings)
    file = find_file(arguments.config, os.environ)
    return [
        _configuration(str(file) if file else ""),
        *await examine_all(settings),
    ]


def _configuration(file: str) -> Finding:
    if file:
        return Finding("configuration", "ok", file, "")
    return Finding("configuration", "warn", "there is none; the defaults count", "hearth setup")


def _show(findings: Sequence[Finding]) -> None:
    table = Table("check", "", "what is", "what to do")
    for finding in findings:
        table.add_row(
            finding.check, _MARKS[finding.status], escape(finding.detail), escape(finding.mend)
        )
    Console().print(table)


COMMAND = Command(
    name="doctor",
    summary="check everything and say how to mend it",
    example="hearth doctor --json",
    add_arguments=_arguments,
    run=_run,
    configured=False,
)
