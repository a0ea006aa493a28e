"""Makes a turn of what opened it: its sound, its brain, its timeline, its profile."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from assistant.conversation.calls import ToolRun
from assistant.conversation.effects import OpenTurn
from assistant.conversation.events import Event
from assistant.conversation.hearing import Hearing
from assistant.conversation.judging import Judge
from assistant.conversation.live import LiveTurn
from assistant.conversation.speculative_turn import SpeculativeBrain
from assistant.conversation.timeline import ConversationClock, Timeline
from assistant.conversation.turn_services import TurnServices
from assistant.domain.clock import Clock
from assistant.speech.identify import Languages


class TurnMaker:
    """What every turn of one conversation is made of."""

    def __init__(
        self,
        performers: TurnServices,
        hearing: Hearing,
        conversation: ConversationClock,
        clock: Clock,
        new_turn_id: Callable[[], str],
        languages: Languages,
        profiles: Mapping[str, str],
    ) -> None:
        """`profiles`: wake word -> name of the profile that its turns have."""
        self.new_turn_id = new_turn_id
        self._performers = performers
        self._hearing = hearing
        self._conversation = conversation
        self._clock = clock
        self.languages = languages
        self._profiles = profiles
        self.profile = ""  # of a turn whose wake word names none

    def make(
        self,
        opening: OpenTurn,
        before: LiveTurn | None,
        dispatch: Callable[[Event], None],
        spawn: Callable[[ToolRun], asyncio.Task[bool]],
    ) -> LiveTurn:
        """`before`: the turn before it. `spawn` starts what outlives the turn."""
        asked = before.open_question if opening.held and before is not None else None
        held = asked.promoted if asked is not None else None
        conversation = self._conversation
        conversation.listen()
        timeline = Timeline(conversation)
        audio = held.audio if held is not None else self._hearing.sound_for(opening)
        performers = self._performers
        if held is not None:
            performers = replace(performers, brain=SpeculativeBrain(held.turn, performers.brain))
        if opening.wake is not None:
            timeline.mark("wake", conversation.at(opening.wake.at_ms))
        if opening.source in ("text", "announcement") or held is not None:
            conversation.stand()
        if opening.source == "text":
            timeline.mark("end_of_turn")
        turn_id = held.turn_id if held is not None else self.new_turn_id()
        profile = self._profile_of(opening, before)
        assumed = performers.profiles.begin(turn_id, profile) if performers.profiles else ""
        turn = LiveTurn(
            opening,
            turn_id,
            self._clock.now(),
            self.languages.led_by(assumed),
            timeline,
            performers,
            audio,
            dispatch,
            spawn,
            profile,
            Judge(opening, self.languages.codes, lambda: _said(before)),
        )
        if held is not None:
            turn.end_listening(None, conversation.now_ms)
        return turn

    def _profile_of(self, opening: OpenTurn, before: LiveTurn | None) -> str:
        if opening.source in ("follow_up", "barge_in"):
            return before.profile if before is not None else ""  # it goes on as it began
        return self._profiles.get(opening.wake.word if opening.wake else "", self.profile)


def _said(turn: LiveTurn | None) -> Sequence[str]:
    return turn.spoken.clauses if turn is not None else ()
