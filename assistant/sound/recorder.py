"""Hands the recordings what the turns hear, at the moments at which it may be kept."""

from typing import Protocol

from assistant.conversation.effects import OpenTurn
from assistant.conversation.followers import TurnFollower
from assistant.domain.turn_audio import TurnAudio
from assistant.sound.recordings import Recordings
from audio.wake.protocol import NearMiss


class Turn(Protocol):
    """A turn under way (`assistant.conversation.live.LiveTurn`)."""

    audio: TurnAudio | None

    @property
    def turn_id(self) -> str:
        """As in the journal."""
        ...

    @property
    def opening(self) -> OpenTurn:
        """How it began."""
        ...


class Recent(Protocol):
    """Who remembers the last seconds (`assistant.conversation.hearing.Hearing`)."""

    def recent(self) -> bytes:
        """All that can be looked back on: 16 kHz mono int16."""
        ...


class Recorder(TurnFollower):
    """On the loop's thread; each call copies a few seconds of sound, and nothing where all is off.

    Whether anything may be kept at all the recordings decide: they are told where the conversation
    stands (`Recordings.stand`).
    """

    def __init__(self, recordings: Recordings, heard: Recent) -> None:
        self._recordings = recordings
        self._heard = heard

    def opened(self, turn: Turn) -> None:
        """A turn has begun, just now."""
        wake = turn.opening.wake
        if self._recordings.on and wake is not None and not wake.pressed:
            self._recordings.wake(wake, self._heard.recent())

    def missed(self, miss: NearMiss) -> None:
        """Something was nearly a wake word, just now."""
        if self._recordings.on:
            self._recordings.near_miss(miss, self._heard.recent(), miss.closeness)

    def whole(self, turn: Turn) -> None:
        """The person's sentence is over, just now: `turn.audio` is later that of an answer."""
        if not self._recordings.on or turn.audio is None or turn.opening.held:
            return
        wake = turn.opening.wake
        word = wake.word if wake is not None else turn.opening.source
        score = wake.score if wake is not None and not wake.pressed else None
        self._recordings.turn(turn.turn_id, turn.audio.pcm, word, score)
