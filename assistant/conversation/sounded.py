"""How much of a turn's answer was heard, where it was cut off or nothing but a tone came."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assistant.conversation.live import LiveTurn


class Sounded:
    """Of one turn, now: while it is under way it may still become more."""

    def __init__(self, turn: "LiveTurn") -> None:
        self._turn = turn
        self._cut_taken = False

    @property
    def cut_at(self) -> str | None:
        """The words that were heard of an answer that was cut off; None: it was not, or nothing of
        it was to be heard."""
        turn = self._turn
        if turn.opening.silent:
            return None
        has_words = not self._only_a_tone and (turn.answer or turn.spoken.clauses)
        return turn.spoken.heard if has_words else None

    def take_cut(self) -> str | None:
        """How much was heard of what the brain answered or was about to, given once, where that
        was cut off; None too where the voice was ours."""
        turn = self._turn
        ours = turn.voice_is_ours or turn.failed or self._only_a_tone
        unsaid = turn.opening.silent or "end_of_turn" not in turn.timeline.as_dict()
        if ours or unsaid or self._cut_taken:
            return None
        heard = turn.spoken.heard
        self._cut_taken = heard is not None
        return heard

    @property
    def only_toned(self) -> bool:
        """Once it is over: it has sounded, and nothing but the tone before it was heard."""
        turn, spoken = self._turn, self._turn.spoken
        heard = spoken.clauses or (turn.sound is not None and spoken.audio_ms > turn.tone_ms)
        return "first_audio_out" in turn.timeline.as_dict() and not heard

    @property
    def _only_a_tone(self) -> bool:
        return self._turn.sound is not None and not self._turn.spoken.clauses
