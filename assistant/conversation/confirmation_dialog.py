"""Ask a confirmation question and judge the answer. Hearth does both, without the model."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from assistant.confirmation.witness import Witness
from assistant.conversation.rules.events import AnswersBy, Prompter
from assistant.conversation.speculative_turn import SpeculativeTurn, transcript_of
from assistant.domain.records import ConfirmationRecord
from assistant.domain.tool_call import Question, Settlement, Tier, ToolCall
from assistant.domain.turn_audio import TurnAudio

if TYPE_CHECKING:
    from assistant.confirmation.witness import OwnersPhone

UNDERSTAND_S = 8.0  # seconds for a brain to show whether it heard a command
STARS = "****"  # replaces a PIN in stored text

_NOBODY = Settlement("silence")


@dataclass(frozen=True, slots=True)
class AskingServices:
    """The services that ask a person for confirmation."""

    witness: Witness
    prompter: Prompter | None = None
    phone: "OwnersPhone | None" = None
    learn: Callable[[str], None] = lambda text: None  # adds a note to the model's next turn
    on_page: bool = False  # the person answers on their page, also if they spoke the command


class ConfirmationDialog:
    """A confirmation question about one call. `settlement` resolves when it is answered or
    abandoned."""

    def __init__(
        self, question: Question, call: ToolCall, means: AskingServices, *, typed: bool
    ) -> None:
        self.question = question
        self.call = call
        self.heard: str | None = None
        self.settlement: asyncio.Future[Settlement] = asyncio.get_running_loop().create_future()
        self._held: SpeculativeTurn | None = None  # the brain's speculative turn on the answer
        self.typed_text: str | None = None  # the typed answer, if it came from a keyboard
        self.nobody = False  # True if nobody could have answered
        self._means = means
        self._typed = typed

    @property
    def by(self) -> AnswersBy:
        """The channel of the answer: "ear" (spoken), "keys" (typed) or "phone"."""
        if self.question.how == "phone":
            return "phone"
        if self._typed or (self.question.how == "pin" and not self._hears_digits):
            return "keys"
        return "ear"

    @property
    def line(self) -> str:
        """The catalogue key of the question. Its fields are `question` and `phone`."""
        match self.question.how:
            case "pin" if self._typed:
                return "asking.typed_pin"
            case "pin":
                return "asking.say_pin" if self.by == "ear" else "asking.type_pin"
            case "phone":
                return "asking.on_phone"
            case _:
                return "asking.question"

    @property
    def phone_name(self) -> str:
        return self._means.phone.name if self._means.phone is not None else ""

    @property
    def prompter(self) -> Prompter | None:
        """The keyboard or page on which the person types."""
        return self._means.prompter

    @property
    def private(self) -> bool:
        """True if the answer is a PIN, which is recognised only on this device and never stored."""
        return self.question.how == "pin"

    @property
    def settled(self) -> bool:
        return self.settlement.done()

    async def enter_pin(self, typed: str, by: str) -> Settlement:
        """Return the verdict on a PIN from another channel, without settling the question."""
        witness = self._means.witness
        return await witness.enter(witness.typed_digits(typed), by)

    def record(self) -> ConfirmationRecord:
        """Return the journal record of the question and its result, without the PIN."""
        done = self.settlement.done() and not self.settlement.cancelled()
        verdict = self.settlement.result().verdict if done else "silence"
        heard = STARS if self.private and self.heard is not None else self.heard
        return ConfirmationRecord(self.question.text, heard, verdict)

    def settle(self, settlement: Settlement) -> None:
        if not self.settlement.done():
            self.settlement.set_result(settlement)

    def no_answer(self, *, waited: bool) -> None:
        """Settle the question as unanswered. `waited` is False if nobody was able to answer it."""
        self.nobody = not waited
        self.settle(_NOBODY)

    async def by_keys(self) -> None:
        prompter = self._means.prompter
        if prompter is None:
            self.no_answer(waited=False)
            return
        text = await prompter.ask(self.question.text, hidden=self.private)
        if text is None:
            self.no_answer(waited=True)
            return
        self.heard = text
        witness = self._means.witness
        if self.private:
            self.settle(await witness.enter(witness.typed_digits(text), "typed"))
        else:
            self.typed_text = text
            self.settle(witness.weigh(self.question, text, None, "typed"))

    async def by_phone(self) -> None:
        """Ask the question on the owner's phone. Raises IntegrationError."""
        phone = self._means.phone
        tapped = await phone.ask(self.question) if phone is not None else None
        if phone is None or tapped is None:
            self.no_answer(waited=phone is not None)
            return
        self.heard = tapped
        self.settle(Settlement(tapped, f"phone {phone.name}" if tapped == "yes" else ""))

    async def by_ear(self, audio: TurnAudio, held: SpeculativeTurn | None) -> None:
        """Judge a spoken answer once its audio is complete. `held` is the brain's speculative turn
        on the same audio."""
        self._held = held
        pcm = await audio.complete()
        witness, question = self._means.witness, self.question
        if self.private:
            digits = await witness.spelled(pcm)
            self.heard = digits
            self.settle(await witness.enter(digits, "voice"))
            return
        transcript, recognised = await self._words(pcm)
        self.heard = transcript or recognised
        settlement = witness.weigh(question, transcript, recognised, "voice")
        if settlement.verdict == "new_command" and not await self._is_command():
            settlement = Settlement("unclear")
        self.settle(settlement)

    @property
    def _is_heard_here(self) -> bool:
        return self._means.witness.hears(self.question.language)

    @property
    def _hears_digits(self) -> bool:
        return self._means.witness.hears_secrets(self.question.language)

    async def _words(self, pcm: bytes) -> tuple[str | None, str | None]:
        # A security-sensitive call needs both. For other calls, one is enough.
        own = partial(self._means.witness.recognise, pcm, self.question.language)
        if self.question.tier is Tier.SECURE:
            transcript, recognised = await asyncio.gather(self._transcript(), own())
            return transcript, recognised
        transcript = await self._transcript()
        return (transcript, None) if transcript else (None, await own())

    async def _transcript(self) -> str | None:
        checked = self.question.tier is Tier.SECURE and self._is_heard_here
        return await transcript_of(self._held, checked=checked)

    async def _is_command(self) -> bool:
        if self._held is None:
            return False
        try:
            async with asyncio.timeout(UNDERSTAND_S):
                return await self._held.understood()
        except TimeoutError:
            return False
