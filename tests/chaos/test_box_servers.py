"""Tests of harmful tool servers, beside which the house goes on and nothing is done twice.

They flood, never answer, die, change their tools, instruct the model, or send nonsense.
"""

import asyncio
import sys
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from assistant.domain.tool_call import Decision, Status
from integrations.errors import IntegrationError
from integrations.mcp import session, transport
from integrations.mcp.hub import McpHub
from integrations.mcp.servers import CallLost, ServerSpec
from tests.chaos.daemon import ROOT
from tests.chaos.faults import fault
from tests.chaos.judged import judged
from tests.chaos.odd import so_many
from tests.pipeline.gemini_rig import OFFICE, TURN_ON, Scene, outcomes, said
from tests.simulators.gemini_live import GeminiSimulator
from tests.simulators.records import HeardTurn
from tests.simulators.script import Call, Done, Say, Step
from tests.unit.integrations.mcp.rogues import all_gone, memory, rogue, started

pytestmark = [pytest.mark.faults, pytest.mark.timeout(120)]

CLAIM = "I have asked it."
LATER_S = 60.0  # tools that were listed just now are not listed again
MOST_BYTES = 60_000_000  # more than before
SWITCHED = "Done. The office light is on at one hundred percent; the desk lamp is on."
LOST = "I lost the connection, so I don't know whether that happened."
LATE = "rogue took too long to answer. It may still happen."
HELD = "t has changed since it was approved, so I won't use it until its owner has checked it."
UNKNOWN = f"the model's reply to this result: “{LOST}”"
NOT_AGAIN = "nothing; a call that may have run is never sent again"
KEPT = "the house's command in the same turn; Hearth discards the surplus"


def asked(*calls: Call) -> GeminiSimulator:
    """Return a model that makes these calls at each turn, and says that it did."""

    def respond(turn: HeardTurn) -> Sequence[Step]:
        del turn
        return [*calls, Say(CLAIM), Done()]

    return GeminiSimulator(respond=respond)


def servers(mode: str, folder: Path) -> dict[str, Any]:
    """Return the settings' section: one untrusted program that may be used."""
    spec = rogue(mode, folder)
    row = {
        "name": spec.name,
        "transport": "stdio",
        "command": spec.command,
        "args": list(spec.args),
        "env": dict(spec.env),
        "allow": ["t"],
        "timeout_s": 2.0,
    }
    return {"servers": [row]}


@asynccontextmanager
async def beside(mode: str, folder: Path, *calls: Call) -> AsyncIterator[Scene]:
    """Yield a whole Hearth with these calls, beside a program that fails in that way.

    At the end the program is gone.
    """
    place = folder / "rogue"
    given = {"resident": True, "mcp": servers(mode, place)}
    async with judged(folder, asked(*calls), **given) as on:
        await listed(on.app.home.hub)
        yield on
    assert await all_gone(place)


def answers(on: Scene) -> list[dict[str, Any]]:
    """Return the model's results of its newest turn's calls, in the order of the calls."""
    told = [call.response for call in on.service.turns[-1].calls]
    assert None not in told, "a call has no answer"
    return [one for one in told if one is not None]


async def listed(hub: McpHub) -> None:
    """Wait until the program has listed its tools, however slow the machine is."""
    async with asyncio.timeout(20.0):
        while not any(tool.server == "rogue" for tool in await hub.tools(wait_s=5.0)):  # noqa: ASYNC110
            await asyncio.sleep(0.1)


@pytest.mark.parametrize(
    ("mode", "status", "told"),
    [
        pytest.param(
            *("notices", Status.UNKNOWN, LOST),
            marks=fault(
                "a tool server floods Hearth with messages that nobody requested",
                hears=UNKNOWN,
                retried=NOT_AGAIN,
                kept=KEPT,
            ),
        ),
        pytest.param(
            *("long-text", Status.UNKNOWN, LOST),
            marks=fault(
                "a tool server returns a text of 100 MB",
                hears=UNKNOWN,
                retried=NOT_AGAIN,
                kept=KEPT,
            ),
        ),
        pytest.param(
            *("hang-call", Status.TIMEOUT, LATE),
            marks=fault(
                "a tool server never responds",
                hears=f"the model's reply to this result: “{LATE}”",
                retried=f"{NOT_AGAIN}; the program is restarted for the next call",
                kept=KEPT,
            ),
        ),
        pytest.param(
            *("die-call", Status.UNKNOWN, LOST),
            marks=fault(
                "a tool server crashes during a call",
                hears=UNKNOWN,
                retried=f"{NOT_AGAIN}; the program is restarted for the next call",
                kept=KEPT,
            ),
        ),
    ],
)
async def test_a_server_goes_wrong_amid_a_call(
    mode: str, status: Status, told: str, tmp_path: Path
) -> None:
    calls = Call("t", {"text": "now"}), Call(TURN_ON, OFFICE)
    async with beside(mode, tmp_path, *calls) as on:
        before = most = memory()
        turn = asyncio.ensure_future(on.ask("use it, and turn on the office lights"))
        while not turn.done():
            await asyncio.wait([turn], timeout=0.02)
            most = max(most, memory())
        assert outcomes(turn.result()) == [status, Status.DONE]
        # The model's claim is not what happened, so Hearth reports the results instead.
        assert said(turn.result()) == f"{told} {SWITCHED}"
        assert answers(on)[0]["sentence"] == told
        assert most - before < MOST_BYTES, f"{(most - before) / 1e6:.0f} MB were held"
        assert len(on.house_calls) == 1
        if mode in ("hang-call", "die-call"):
            on.repeats = True
            again = await on.ask("use it, and turn on the office lights")
            assert outcomes(again) == [status, Status.DONE]
            assert len(started(tmp_path / "rogue")) == 2


@fault(
    "a tool server changes its tools after their approval",
    hears=f"the model's reply to this result: “{HELD}”",
    retried="nothing",
    kept="the house's tools; the changed tool isn't called",
)
async def test_tools_that_change(tmp_path: Path) -> None:
    calls = Call("t", {"text": "now"}, undeclared=True), Call(TURN_ON, OFFICE)
    async with beside("changing", tmp_path, *calls) as on:
        on.repeats = True
        first = await on.ask("use it, and turn on the office lights")
        assert outcomes(first) == [Status.DONE, Status.DONE]
        on.clock.leap(LATER_S)
        called, switched = (await on.ask("use it, and turn on the office lights")).outcomes
        assert called.status is Status.NOT_RUN
        assert answers(on)[0]["sentence"] == HELD
        assert switched.status is Status.DONE


@fault(
    "a tool server's result tells the model to unlock the door, and the model obeys",
    hears=(
        "no question, because secure calls are refused in a turn that has read text from outside"
    ),
    retried="nothing",
    kept="the door stays locked",
)
async def test_an_answer_that_gives_orders(tmp_path: Path) -> None:
    door = Call("intent__HassTurnOff", {"name": "Front door"})
    async with beside("injects", tmp_path, Call("t", {"text": "now"}), door) as on:
        turn = await on.ask("what is in my notes")
        read, opened = turn.outcomes
        assert read.status is Status.DONE
        assert (opened.decision, opened.status) == (Decision.DENIED, Status.NOT_RUN)
        assert on.app.home.demo is not None
        assert on.app.home.demo.states["lock.front_door"] == "locked"
        assert CLAIM not in said(turn)


@fault(
    "a tool server sends invalid messages",
    hears="nothing unusual, or Hearth says that it can't tell if the command worked",
    retried="the program, with growing pauses",
    kept="other tool servers work as usual",
)
async def test_odd_messages_of_a_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "OPEN_S", 3.0)
    monkeypatch.setattr(transport, "PROGRAM_PAUSE_S", (0.01, 0.02))
    ends: Counter[str] = Counter()
    honest = rogue("good", tmp_path / "good", 10.0, "honest")
    odd = [
        ServerSpec(
            f"odd{seed}",
            "stdio",
            command=sys.executable,
            args=("-m", "tests.chaos.odd_server", str(seed)),
            cwd=str(ROOT),
            timeout_s=1.0,
        )
        for seed in range(3)
    ]
    async with McpHub([honest, *odd]) as hub:
        await hub.tools(wait_s=5.0)
        for number in range(so_many(60, 2_000)):
            spec = odd[number % len(odd)]
            if number % 6 == 0:
                await hub.tools(wait_s=0.5)
            try:
                result = await hub.call(spec.name, "t", {"text": "now"})
                ends["fine" if result.text == "fine" else "odd"] += 1
            except TimeoutError:
                ends["timeout"] += 1
            except CallLost:
                ends["lost"] += 1
            except IntegrationError:
                ends["refused"] += 1
            if number % 10 == 0:
                assert (await hub.call("honest", "t", {})).text == "fine"
        assert (await hub.call("honest", "t", {})).text == "fine"
    print(dict(ends))
    assert len(started(tmp_path / "good")) == 1
    assert ends["fine"]
    assert ends["lost"] + ends["timeout"] + ends["refused"] + ends["odd"]
