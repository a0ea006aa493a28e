"""Tests that foreign text never controls the terminal, whichever command prints it.

Each command runs against a house, a journal, devices and servers whose names contain everything
that acts on a terminal, and the bytes that it wrote are checked.
"""

import asyncio
import json
import unicodedata
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from assistant.app.build import App
from assistant.app.home import HomeContext
from assistant.app.process import Startup
from assistant.cli import devices, run, tools, tools_decide
from assistant.cli import doctor as doctor_command
from assistant.cli.ask import print_turn, show_notices
from assistant.cli.console import Keyboard, Terminal
from assistant.cli.demo import show_house, show_scene
from assistant.cli.eval import _line
from assistant.cli.main import main
from assistant.cli.models import _tell
from assistant.cli.setup_steps import TerminalPerson, settle_given
from assistant.cli.trace import show
from assistant.config.schema import Settings
from assistant.conversation.record import FinishedTurn, TurnLog
from assistant.demo.scenes import SCENES
from assistant.doctor.finding import Finding, Group
from assistant.domain.clock import SystemClock
from assistant.evaluation.commands import Outcome, sentences
from assistant.evaluation.trial import Trial
from assistant.journal.store import Store
from assistant.models.shelf import ModelEntry
from assistant.setup.answers import Answers
from assistant.sound.recordings import FOLDER, Recording, write
from assistant.tools.catalog.approvals import Approvals
from assistant.tools.catalog.menu import build_menu
from audio.devices.portaudio import DeviceInfo
from integrations.demo_home import catalogue
from integrations.demo_home import rest as server
from integrations.demo_home.house import Thing
from integrations.home_assistant.rest import Instance
from integrations.mcp.servers import McpTool, ServerSpec, ServerState
from tests.unit.assistant.cli.hostile import (
    AUDITED,
    CALL,
    EVIL,
    NOW,
    OURS,
    OUTCOME,
    TURN,
    check,
    printed,
)


@pytest.fixture(autouse=True)
def surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "hearth.toml"
    file.write_text(
        f'[assistant]\ndata = "{tmp_path}"\n[home_assistant]\nurl = "demo"\n'
        '[brain]\norder = ["offline"]\n[voice]\nengine = "espeak"\n'
        f'[audio]\noutput = "file:{tmp_path}/out.wav"\n'
    )
    monkeypatch.setenv("HEARTH_CONFIG", str(file))
    monkeypatch.setenv("COLUMNS", "2000")
    monkeypatch.setattr(tools_decide, "LEARN_S", 0.0)
    things = tuple(replace(one, name=f"{one.name} {EVIL}") for one in catalogue.THINGS[:8])
    bell = Thing("input_button.bell", f"Bell {EVIL}", "unknown")
    areas = tuple(replace(area, name=f"{area.name} {EVIL}") for area in catalogue.AREAS)
    home = partial(server.DemoHome, things=(*things, bell), areas=areas)
    monkeypatch.setattr(server, "DemoHome", home)


@pytest.fixture
def journal(tmp_path: Path) -> None:
    """Write a journal in which every foreign text is hostile."""

    async def fill() -> None:
        async with Store(tmp_path / "hearth.db", SystemClock()) as store:
            now = SystemClock().now()
            await store.record_turn(replace(TURN, started_at=now))
            await store.start_call(CALL)
            await store.audit(replace(AUDITED, at=now))
            await store.reports.begin_fault(EVIL, EVIL, now - timedelta(minutes=5))

    asyncio.run(fill())
    name = "20260101T120003.000000Z-turn-okay_nabu-0.97"
    (tmp_path / FOLDER).mkdir(exist_ok=True)
    write(
        tmp_path / FOLDER, Recording(name, "turn", NOW, "okay_nabu", 0.97, 2.5, "t1"), bytes(3200)
    )


@pytest.mark.parametrize(
    "words",
    [
        ["trace", "last"],
        ["trace", "--list"],
        ["trace", "--faults"],
        ["audit"],
        ["costs"],
    ],
)
@pytest.mark.usefixtures("journal")
def test_the_journal(words: list[str], colours: bool, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 0
    written = capsys.readouterr()
    check(written.out + written.err)
    assert main([*words, "--json"]) == 0
    as_json = capsys.readouterr().out
    check(as_json)
    assert as_json.count("\n") == 1
    assert EVIL in _strings(json.loads(as_json))  # as JSON escapes it, and nothing is lost


def _strings(value: object) -> list[str]:
    """Return every string in a JSON value."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for pair in value.items() for one in pair for text in _strings(one)]
    return [text for one in value for text in _strings(one)] if isinstance(value, list) else []


def test_the_waterfall(colours: bool, capsys: pytest.CaptureFixture[str]) -> None:
    show(Terminal(), TURN, [CALL], [replace(AUDITED, observed=())])
    written = printed(capsys)
    assert written.count("]8;;") >= 8  # words, answer, call and its change, question, error, model


def test_a_turn_as_it_is_shown(colours: bool, capsys: pytest.CaptureFixture[str]) -> None:
    print_turn(FinishedTurn(TURN, (OUTCOME,)), as_json=False)
    written = capsys.readouterr()
    check(written.out)
    check(written.err)
    assert written.out.count("\n") == 1
    print_turn(FinishedTurn(TURN, (OUTCOME,)), as_json=True)
    as_json = capsys.readouterr().out
    check(as_json)
    assert json.loads(as_json)["answer"] == EVIL
    show_notices([EVIL])
    printed(capsys)


def test_hearth_run_says_what_stands_and_each_turn(
    colours: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    log = TurnLog(cast(Store, None))
    log.turns.append(FinishedTurn(TURN, (OUTCOME,)))
    settings = Settings.model_validate({"audio": {"input": EVIL}})
    app = SimpleNamespace(log=log, settings=settings, notices=[EVIL])
    run._announce(cast(App, app), Startup(None), f"Listening for {EVIL}.", quiet=False)
    printed(capsys)


@pytest.mark.parametrize(
    ("listening", "line"),
    [
        ("Listening for okay_nabu.", "hearth: listening for okay_nabu on Jabra; Ctrl-C to stop"),
        ("Not listening.", "hearth: not listening; Ctrl-C to stop"),
        ("The microphone is muted.", "hearth: the microphone is muted; Ctrl-C to stop"),
    ],
)
def test_hearth_run_names_the_microphone_only_if_it_listens_to_it(
    listening: str, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = Settings.model_validate({"audio": {"input": "Jabra"}})
    app = SimpleNamespace(settings=settings, notices=[])
    run._announce(cast(App, app), Startup(None), listening, quiet=True)
    assert line in capsys.readouterr().err.splitlines()


def test_devices(
    colours: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = [DeviceInfo(EVIL, "input", 1, 16_000, True, 4, description=f"{EVIL}!")]
    monkeypatch.setattr(devices, "list_devices", lambda: found)
    assert main(["devices", "--no-levels"]) == 0
    assert printed(capsys).count("]8;;") == 2
    assert main(["devices", "--no-levels", "--json"]) == 0
    assert json.loads(printed(capsys))[0]["name"] == EVIL


@pytest.mark.parametrize("columns", ["90", "2000"])
def test_the_doctor(
    columns: str,
    colours: bool,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def examined(*_: object) -> list[Group]:
        return [Group(EVIL, [Finding(f"x{EVIL}", "warn", EVIL, EVIL)])]

    monkeypatch.setattr(doctor_command, "examine_groups", examined)
    monkeypatch.setenv("TTY_INTERACTIVE", "0")  # no bar, which moves the cursor
    monkeypatch.setenv("COLUMNS", columns)
    assert main(["doctor"]) == 0
    written = capsys.readouterr()
    if columns == "2000":
        check(written.out + written.err)
    else:  # what is folded may begin a line with anything, but nothing of it acts
        left = OURS.sub("", written.out + written.err)
        assert not {c for c in left if unicodedata.category(c) in ("Cc", "Cf")} - {"\n"}
    assert main(["doctor", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[-1]["detail"] == EVIL


def test_things_of_the_house(colours: bool, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tools", "rate"]) == 0
    printed(capsys)
    assert main(["tools", "rate", "--json"]) == 0
    printed(capsys)
    assert main(["tools", "rate", EVIL, "comfort"]) == 2
    printed(capsys)
    call = json.dumps({"name": "HassTurnOn", "arguments": {"name": EVIL}})
    assert main(["tools", "--explain", call]) == 0
    printed(capsys)
    assert main(["tools", "--explain", call, "--json"]) == 0
    assert json.loads(printed(capsys))["arguments"]["name"] == EVIL
    assert main(["tools", "--explain", json.dumps({"name": EVIL})]) == 1
    printed(capsys)
    assert main(["tools", "--prompt", EVIL]) == 2
    printed(capsys)
    assert main(["tools", "--prompt"]) == 0
    # A document with the lines of Home Assistant's own prompt; nothing else in it acts.
    check(capsys.readouterr().out.replace("\nhearth: forged", ""), told=False)


def test_tools_of_a_server(colours: bool, capsys: pytest.CaptureFixture[str]) -> None:
    spec = ServerSpec(EVIL, "http")
    menu = build_menu([McpTool(EVIL, EVIL, EVIL, EVIL, {}, False)], {EVIL: spec})
    tools._print_menu([ServerState(EVIL, True, ""), ServerState(EVIL, False, EVIL)], menu.entries)
    assert printed(capsys).count("]8;;") >= 3


async def test_tools_that_wait_to_be_approved(
    colours: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tool = McpTool("notes", f"add{EVIL}", "", "Adds a note.", {"type": "object"}, False)
    servers = {"notes": ServerSpec("notes", "http")}
    changed = replace(tool, title=EVIL, description=f"One.\n{EVIL}")

    async def offered() -> list[McpTool]:
        return [changed]

    hub = SimpleNamespace(servers=servers, tools=offered, states=list)
    async with Store(tmp_path / "hearth.db", SystemClock()) as store:
        await Approvals(store).look([tool], servers)
        home = cast(HomeContext, SimpleNamespace(store=store, hub=hub))
        assert await tools_decide.approve(home, [], as_json=False) == 0
        printed(capsys)
        assert await tools_decide.approve(home, [], as_json=True) == 0
        assert json.loads(printed(capsys))[0]["name"] == f"add{EVIL}"
        assert await tools_decide.approve(home, ["notes/*"], as_json=False) == 0
        assert "Approved as shown" in printed(capsys)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["hear", EVIL.replace("\x00", "")], 2),
        (["trace", EVIL], 1),
        (["audit", "--since", EVIL], 2),
        (["setup", "--token", EVIL], 2),
        (["setup", "--revoke", EVIL], 2),
        (["setup", "--import", EVIL.replace("\x00", "")], 2),
        (["models", "download", EVIL], 2),
        (["costs", "--config", EVIL.replace("\x00", "")], 2),
    ],
)
def test_what_was_typed_is_quoted(
    words: list[str], code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == code
    printed(capsys)


@pytest.mark.parametrize("words", [["costs", EVIL], ["costs", "--days", EVIL]])
def test_the_parsers_own_complaints(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        raise SystemExit(main(words))
    assert end.value.code == 2
    written = capsys.readouterr().err
    check(written.replace("'", ""), told=False)
    assert "evil.example" in written


def test_a_typed_turn(colours: bool, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (f"turn on {catalogue.THINGS[0].name} {EVIL}", "which lights are on", EVIL):
        main(["ask", words])
        printed(capsys, told=False)
        main(["ask", words, "--json"])
        printed(capsys, told=False)


def test_what_is_spoken(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(tmp_path / "said.wav")
    assert main(["say", EVIL, "--out", out]) == 0
    printed(capsys, told=False)
    assert main(["say", EVIL, "--out", out, "--json"]) == 0
    printed(capsys, told=False)


def test_the_question_at_the_keyboard(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def no_line() -> str:
        return "no\n"

    monkeypatch.setattr("assistant.cli.console.read_line", no_line)
    monkeypatch.setattr("assistant.cli.console.termios.tcflush", lambda *_: None)
    monkeypatch.setattr("sys.stdin", SimpleNamespace(fileno=lambda: 0))
    assert asyncio.run(Keyboard().ask(EVIL, hidden=False)) == "no"
    assert "\n" not in printed(capsys)


async def test_the_talk_of_setup(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def no_line() -> str:
        return "\n"

    monkeypatch.setattr("assistant.cli.setup_steps.read_line", no_line)
    person = TerminalPerson(Terminal(stderr=True))
    person.tell(EVIL, "green")
    printed(capsys)
    assert await person.ask(EVIL, EVIL) == EVIL
    assert printed(capsys).count("]8;;") == 2


async def test_setup_by_flags(
    colours: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def check_house(*_: object) -> Instance:
        return Instance(EVIL, "RUNNING", EVIL)

    monkeypatch.setattr("assistant.cli.setup_steps.check", check_house)
    await settle_given(Answers(url="http://h"), Settings(), Terminal(stderr=True))
    assert printed(capsys).count("]8;;") == 2


def test_a_model_that_is_to_be_fetched(capsys: pytest.CaptureFixture[str]) -> None:
    entry = ModelEntry.model_construct(name=EVIL, kind="open", licence=EVIL, files=())
    _tell(entry, Terminal(stderr=True, soft_wrap=True))
    assert printed(capsys).count("]8;;") == 2


def test_scenes_of_the_demonstration(
    colours: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    turn, changes = FinishedTurn(TURN, (OUTCOME,)), {EVIL: (EVIL, EVIL)}
    show_scene(Terminal(), "1/2", SCENES[0], turn, changes, tmp_path / EVIL.replace("\x00", ""))
    assert printed(capsys).count("]8;;") >= 10
    show_house(Terminal(), f"Kitchen  {EVIL.replace(chr(10), '')}")
    check(capsys.readouterr().out, told=False)


def test_a_trial(colours: bool, capsys: pytest.CaptureFixture[str]) -> None:
    sentence = replace(sentences()[0], wish=replace(sentences()[0].wish, sentence=EVIL))
    Terminal().print(_line(Trial(sentence, Outcome.RIGHT, True, "", "", "", 80.0, 0.0, None, True)))
    printed(capsys)
