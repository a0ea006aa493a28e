"""A microphone that goes is told aloud to whoever is speaking with us, and to nobody else."""

import logging

import pytest

from assistant.conversation.rules.state import Standing, State
from assistant.domain.clock import VirtualClock
from assistant.sound.mute import BACK_S, MicrophoneTones
from audio.device_status import MicrophoneStatus as Status
from audio.errors import DeviceLost


class Room:
    """Tones that were heard, in a room whose loudspeaker may be missing."""

    def __init__(self) -> None:
        self.tones: list[str] = []
        self.mute = False

    async def sound(self, name: str) -> None:
        if self.mute:
            raise DeviceLost("The loudspeaker has gone.")
        self.tones.append(name)


IDLE = Standing(State.IDLE, False, Status.LISTENING)
FAULT = Standing(State.FAULT, False, Status.MISSING)


async def heard(room: Room, clock: VirtualClock, *standings: Standing | float) -> list[str]:
    """The tones, if this happens; a number is a wait in seconds."""
    async with MicrophoneTones(room.sound, clock, IDLE) as tones:
        for standing in standings:
            if isinstance(standing, Standing):
                tones.stand(standing)
            else:
                clock.advance(standing)
            await clock.settle()
    return room.tones


def at(state: State, microphone: Status = Status.LISTENING, muted: bool = False) -> Standing:
    return Standing(state, muted, microphone)


SPEAKING_OF_IT = at(State.SPEAKING, Status.MISSING)


@pytest.mark.parametrize(
    ("happens", "tones"),
    [
        ([FAULT, IDLE], []),  # at night
        ([at(State.SPEAKING), at(State.SPEAKING, Status.MISSING), FAULT, IDLE], []),
        ([at(State.LISTENING), FAULT, SPEAKING_OF_IT, FAULT, 10.0, IDLE], ["unmute"]),
        ([at(State.WAKING), at(State.FAULT, Status.ELSEWHERE), IDLE], ["unmute"]),
        ([at(State.CONFIRMING), SPEAKING_OF_IT, FAULT, IDLE], ["unmute"]),
        ([at(State.FOLLOW_UP), FAULT], ["error"]),
        ([at(State.FOLLOW_UP), FAULT, IDLE, FAULT, IDLE], ["error", "unmute"]),
        ([at(State.LISTENING), FAULT, BACK_S + 1, IDLE], []),  # nobody waits so long
        # Back while we still speak of the loss: not over our own words.
        ([at(State.LISTENING), SPEAKING_OF_IT, at(State.SPEAKING)], []),
        ([at(State.LISTENING), SPEAKING_OF_IT, at(State.SPEAKING), IDLE], ["unmute"]),
        # Whoever speaks and is heard knows that it is back.
        ([at(State.LISTENING), SPEAKING_OF_IT, at(State.WAKING), IDLE], []),
        ([at(State.LISTENING), FAULT, at(State.FAULT, Status.CLOSED, muted=True), IDLE], []),
        # One that is silent most of the time is no news.
        ([at(State.IDLE, Status.SILENT), IDLE, at(State.IDLE, Status.SILENT), IDLE], []),
    ],
)
async def test_who_hears_what(happens: list[Standing | float], tones: list[str]) -> None:
    assert await heard(Room(), VirtualClock(), *happens) == tones


async def test_a_room_without_loudspeaker(caplog: pytest.LogCaptureFixture) -> None:
    room = Room()
    room.mute = True
    assert await heard(room, VirtualClock(), at(State.FOLLOW_UP), FAULT) == []
    assert "could not be played" in caplog.text


@pytest.mark.parametrize("why", [Status.SILENT, Status.CLOSED])
async def test_what_was_not_heard_and_is_again_is_a_line_of_the_log(
    why: Status, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        unheard = at(State.IDLE, why, muted=why is Status.CLOSED)
        await heard(Room(), VirtualClock(), unheard, at(State.IDLE, Status.OPENING), IDLE, IDLE)
    assert caplog.messages == ["the microphone is heard again"]
