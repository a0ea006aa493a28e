"""Says one sentence to the home's conversation engine, once, and looks what happened."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Protocol

from assistant.domain.call import SentenceMatch
from assistant.domain.outcome import Status, Tier, ToolOutcome
from assistant.tools.answer import Answer
from assistant.tools.intents import BROADCAST
from assistant.tools.sentences import Sentences
from assistant.tools.verdict import PolicyDecision
from assistant.tools.verify import GLANCE_S, LivePicture, verify
from integrations.cleaning import one_line
from integrations.errors import IntegrationError, Unavailable
from integrations.home_assistant.conversation import EngineReply
from integrations.home_assistant.house import House
from integrations.home_assistant.refusals import CommandRefused, Unanswered

TRIGGER = "conversation.trigger"  # a sentence that automations wait for, as rules know it
NAME = "conversation.process"  # of such a call in the journal; no tool of the menu
MAX_SPEECH = 2_000  # characters of a reply

# A sentence -> Hearth's own answer to it, where the engine's is not to be trusted; "": it is.
CheckAnswer = Callable[[SentenceMatch], Awaitable[str]]


class Engine(Protocol):
    """The conversation engine (`integrations.home_assistant.conversation.Conversation`)."""

    async def process(self, text: str, language: str, owner: str = "") -> EngineReply:
        """Say it, in the conversation of `owner`. Raises Unanswered where it may have been carried
        out, else IntegrationError."""
        ...


class Saying:
    """The execution of a call that is a sentence. Its own words of reply end in `data`."""

    def __init__(
        self,
        engine: Engine,
        home: LivePicture,
        wait_s: float,
        check: CheckAnswer | None = None,
    ) -> None:
        """`wait_s`: how long a change in the house is waited for; `check`: see `CheckAnswer`."""
        self._engine = engine
        self._home = home
        self._wait_s = wait_s
        self._check = check

    async def run(
        self,
        match: SentenceMatch,
        verdict: PolicyDecision,
        outcome: ToolOutcome,
        sentences: Sentences,
        owner: str = "",
    ) -> ToolOutcome:
        """The outcome, filled in from one that holds what is known before. `owner`: whose talk
        with the engine it is part of, a program's name or "" for people."""
        before = self._home.house
        try:
            reply = await self._engine.process(match.text, match.language, owner)
        except Unanswered as error:
            status = Status.TIMEOUT if error.timed_out else Status.UNKNOWN
            sentence = sentences.say("tools.timeout" if error.timed_out else "tools.lost")
            late = await verify(
                match.intent, match.slots, verdict.entities, before, self._home, 0.0
            )
            return replace(outcome, status=status, sentence=sentence, awaited=late.awaited)
        except CommandRefused as error:
            reason = one_line(str(error), MAX_SPEECH).rstrip(".")
            sentence = sentences.say("tools.failed", reason=reason)
            return replace(outcome, status=Status.FAILED, sentence=sentence)
        except IntegrationError as error:
            return replace(
                outcome,
                status=Status.FAILED,
                sentence=sentences.say("tools.unreachable"),
                data=str(error),
                retryable=isinstance(error, Unavailable),
            )
        speech = one_line(reply.speech, MAX_SPEECH)
        own = await self._check(match) if self._check and verdict.tier is Tier.READ else ""
        if own:  # also in place of an error: it names nothing that can be seen
            answered = sentences.say("tools.answered")
            return replace(outcome, status=Status.DONE, sentence=answered, data=own)
        if reply.kind == "error":
            reason = speech or sentences.say("tools.failed", reason=reply.code or "error")
            return replace(outcome, status=Status.FAILED, sentence=reason, data=speech)
        if verdict.tier is Tier.READ:
            # "Never mind" is answered without a word.
            answered = sentences.say("tools.answered" if speech else "tools.done")
            return replace(outcome, status=Status.DONE, sentence=answered, data=speech)
        return await self._look(match, verdict, reply, before, sentences, outcome)

    async def _look(
        self,
        match: SentenceMatch,
        verdict: PolicyDecision,
        reply: EngineReply,
        before: House,
        sentences: Sentences,
        outcome: ToolOutcome,
    ) -> ToolOutcome:
        """What the house shows of it. An automation's effect is not known, so it is believed."""
        if match.intent == BROADCAST and not reply.succeeded:
            unheard = sentences.say("tools.unheard")
            return replace(outcome, status=Status.NOT_OBSERVED, sentence=unheard)
        reached = reply.succeeded or verdict.entities
        wait_s = self._wait_s if match.intent else min(self._wait_s, GLANCE_S)
        finding = await verify(
            match.intent, match.slots, reached, before, self._home, wait_s, verdict.effects
        )
        status = Status.DONE
        if reply.failed:
            status = Status.FAILED
        elif finding.as_asked is False or (reached and not self._home.connected):
            status = Status.NOT_OBSERVED
        speech = one_line(reply.speech, MAX_SPEECH)
        failed = tuple(one_line(name, MAX_SPEECH) for name in reply.failed)
        answer = Answer(speech, succeeded=reply.succeeded, failed=failed)
        return replace(
            outcome,
            status=status,
            observed=finding.observed,
            sentence=sentences.after(status, answer, finding, self._home.house),
            data=speech,
            as_asked=finding.as_asked is True,
            awaited=finding.awaited,
        )
