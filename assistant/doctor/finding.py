"""Checks and their findings. Each check has a time limit."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

Status = Literal["ok", "warn", "fail"]
Scene = TypeVar("Scene")  # what a check examines
Watch = Callable[[str], None]  # called with each check's name when it starts; must be quick

LIMIT_S = 15.0  # time limit of one check in seconds


@dataclass(frozen=True, slots=True)
class Found:
    status: Status
    detail: str  # result in a few words
    mend: str = ""  # how to fix the problem; "" if there is none


@dataclass(frozen=True, slots=True)
class Finding:
    """A check's name and result, as printed by `hearth doctor --json`."""

    check: str
    status: Status
    detail: str
    mend: str


@dataclass(frozen=True, slots=True)
class Group:
    title: str
    findings: Sequence[Finding]


@dataclass(frozen=True, slots=True)
class Check(Generic[Scene]):
    """A check, which is one line of the doctor's table. `look` reports expected errors as a result
    and doesn't raise them. To add a check, add it to a table such as `box.CHECKS`."""

    name: str
    look: Callable[[Scene], Awaitable[Found]]
    limit_s: float = LIMIT_S


def good(detail: str) -> Found:
    return Found("ok", detail)


def odd(detail: str, mend: str) -> Found:
    """Return a warning about something that doesn't keep Hearth from working."""
    return Found("warn", detail, mend)


def bad(detail: str, mend: str) -> Found:
    """Return a problem that keeps Hearth, or a part of it, from working."""
    return Found("fail", detail, mend)


def unwatched(name: str) -> None:
    """The default `watch`: do nothing."""


def finding(check: str, found: Found) -> Finding:
    return Finding(check, found.status, found.detail, found.mend)


async def examine(
    checks: Iterable[Check[Scene]], scene: Scene, watch: Watch = unwatched
) -> list[Finding]:
    """Run the checks in order and return their findings. A check that exceeds its time limit is
    reported as failed."""
    findings = []
    for check in checks:
        watch(check.name)
        try:
            async with asyncio.timeout(check.limit_s):
                found = await check.look(scene)
        except TimeoutError:
            found = bad(
                f"no result within {check.limit_s:g} s",
                "try again; if it fails again, run it with --debug",
            )
        findings.append(finding(check.name, found))
    return findings
