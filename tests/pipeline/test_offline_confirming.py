"""Tests of a gated call with the offline brain: answered by voice, or typed in Spanish.

By voice each kind of answer once, and in more voices with LONG=1.
"""

import os
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from assistant.app.build import App, open_app
from assistant.conversation.record import FinishedTurn
from assistant.domain.tool_call import Decision, Status
from audio.sound_files import WavSource
from tests.pipeline.dialogues import UNLOCK, dialogue
from tests.pipeline.rig import offline_settings, pipeline, states

QUESTION, LEFT = "Unlock the front door?", "OK, I left the front door locked."
DOOR = "lock.front_door"
OPEN = ("unlocking", "unlocked")
LONG = bool(os.environ.get("LONG"))
YES = [("yes", "rms"), ("yes please", "awb")]
MORE_YES = [("yes", "slt"), ("yes please", "rms")]
MORE_NO = [
    ("no leave it", "awb", "no"),
    ("stop", "slt", "no"),
    ("cancel that", "awb", "no"),
]


async def hear_all(app: App, clip: Path) -> Sequence[FinishedTurn]:
    """Return all turns of one recording."""
    await app.runner.listen(WavSource(clip, realtime=False), turns=1)
    return app.log.turns


def verdict(turn: FinishedTurn) -> str:
    assert turn.record.confirmation is not None
    return turn.record.confirmation.verdict


# --- by ear


@pytest.mark.parametrize(("answer", "voice"), [*YES, *(MORE_YES if LONG else [])])
async def test_a_yes_opens(tmp_path: Path, answer: str, voice: str) -> None:
    async with pipeline(offline_settings(tmp_path)) as app:
        [turn] = await hear_all(app, dialogue(tmp_path, answer, voice=voice))
        assert verdict(turn) == "yes"
        assert states(app)[DOOR] in OPEN
        [call] = turn.outcomes
        assert (call.decision, call.status) == (Decision.CONFIRMED, Status.DONE)
        assert (call.rule, call.confirmed_by) == ("unlock", "voice")
        assert turn.record.clauses == (QUESTION, "OK, unlocking it.")
        [row] = [row for row in await app.home.store.audited() if row.confirmed_by]
        assert (row.heard, row.entities) == (UNLOCK, (DOOR,))


@pytest.mark.parametrize(
    ("answer", "voice", "expected"),
    [
        ("no", "slt", "no"),
        ("never mind", "rms", "no"),
        ("cancel that", "slt", "no"),
        ("cancel", "awb", None),  # decoded freely the one word is heard now right, now wrong
        ("purple monkeys dance slowly", "slt", "unclear"),
        ("yes but not now", "slt", None),
        ("the user said yes", "slt", None),
        ("yesterday it rained in london", "rms", None),
        *(MORE_NO if LONG else []),
    ],
)
async def test_anything_else_leaves_it_shut(
    tmp_path: Path, answer: str, voice: str, expected: str | None
) -> None:
    async with pipeline(offline_settings(tmp_path)) as app:
        turns = await hear_all(app, dialogue(tmp_path, answer, voice=voice))
        assert states(app)[DOOR] == "locked"
        assert turns[0].outcomes[0].decision is Decision.DENIED
        assert verdict(turns[0]) != "yes"
        if expected is not None:
            assert verdict(turns[0]) == expected
            assert turns[0].record.clauses == (QUESTION, LEFT)


async def test_silence_leaves_it_shut(tmp_path: Path) -> None:
    async with pipeline(offline_settings(tmp_path)) as app:
        [turn] = await hear_all(app, dialogue(tmp_path))
        assert verdict(turn) == "silence"
        assert states(app)[DOOR] == "locked"
        assert turn.record.clauses == (QUESTION, LEFT)


async def test_a_new_command_is_done_instead(tmp_path: Path) -> None:
    async with pipeline(offline_settings(tmp_path)) as app:
        first, second = await hear_all(app, dialogue(tmp_path, "turn on the kitchen light"))
        assert verdict(first) == "new_command"
        assert first.record.clauses == (QUESTION,)
        assert second.record.clauses == ("Turned on the kitchen light.",)
        assert states(app)[DOOR] == "locked"
        assert states(app)["light.kitchen"] == "on"


async def test_a_second_yes_opens_nothing(tmp_path: Path) -> None:
    """Words after the answer are not kept for the next question."""
    async with pipeline(offline_settings(tmp_path)) as app:
        turns = await hear_all(app, dialogue(tmp_path, "never mind", "yes"))
        assert verdict(turns[0]) == "no"
        assert states(app)[DOOR] == "locked"


# --- typed, in Spanish


class Types:
    """A person at a keyboard who always types the same."""

    def __init__(self, line: str | None) -> None:
        self.line = line
        self.asked: list[tuple[str, bool]] = []

    async def ask(self, question: str, *, hidden: bool) -> str | None:
        self.asked.append((question, hidden))
        return self.line


async def in_spanish(
    folder: Path, request: str, person: Types, stack: AsyncExitStack, languages: Sequence[str]
) -> tuple[App, FinishedTurn]:
    settings = offline_settings(
        folder,
        assistant={"data": str(folder / "data"), "languages": list(languages)},
        policy={"secure": "pin", "pin": "1234"} if person.line == "1234" else {},
    )
    app = await stack.enter_async_context(
        open_app(settings, player=None, hears=False, prompter=person)
    )
    await app.runner.ask(request)
    return app, app.log.turns[-1]


SPANISH = "abre la puerta principal"
PREGUNTA = "¿Desbloqueo la puerta principal?"


@pytest.mark.parametrize("languages", [["es"], ["en", "es"]], ids=["es", "en and es"])
@pytest.mark.parametrize("line", ["sí", "Sí, por favor.", "si", "vale", "claro que sí", "1234"])
async def test_si_opens(tmp_path: Path, line: str, languages: Sequence[str]) -> None:
    person = Types(line)
    async with AsyncExitStack() as stack:
        app, turn = await in_spanish(tmp_path, SPANISH, person, stack, languages)
        assert person.asked == [(PREGUNTA, line == "1234")]
        assert verdict(turn) == "yes"
        assert states(app)[DOOR] in OPEN
        assert turn.record.language == "es"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("no", "no"),
        ("no, déjala", "no"),
        ("mejor no", "no"),
        ("sí, pero mañana", None),
        ("el usuario ha dicho que sí", None),
        ("", "unclear"),
        (None, "silence"),
    ],
)
async def test_anything_else_leaves_it_shut_in_spanish(
    tmp_path: Path, line: str | None, expected: str | None
) -> None:
    person = Types(line)
    async with AsyncExitStack() as stack:
        app, turn = await in_spanish(tmp_path, SPANISH, person, stack, ["es"])
        assert person.asked == [(PREGUNTA, False)]
        assert states(app)[DOOR] == "locked"
        [row] = [row for row in await app.home.store.audited() if row.entities == (DOOR,)][:1]
        assert row.decision is Decision.DENIED
        if expected is not None:
            assert verdict(turn) == expected
            assert turn.record.answer == f"{PREGUNTA} No he desbloqueado la puerta principal."


async def test_locking_asks_nothing(tmp_path: Path) -> None:
    person = Types("sí")
    async with AsyncExitStack() as stack:
        request = "echa el cerrojo de la puerta principal"
        app, turn = await in_spanish(tmp_path, request, person, stack, ["es"])
        assert person.asked == []
        assert turn.outcomes[0].decision is Decision.ALLOWED
        assert states(app)[DOOR] == "locked"
