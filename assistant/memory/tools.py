"""The memory tools: `remember`, `recall`, `correct_memory` and `forget`."""

import json
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from assistant.domain.clock import Clock
from assistant.domain.records import MemoryRecord, StoreError
from assistant.domain.tool_call import Tier
from assistant.journal.tables import MemoryRows
from assistant.memory.facts import (
    CORRECT_TAKES,
    CORRECT_WHEN,
    FORGET_TAKES,
    FORGET_WHEN,
    MAX_FACTS,
    MORE,
    RECALL_TAKES,
    RECALL_WHEN,
    REMEMBER_TAKES,
    REMEMBER_WHEN,
    Given,
    choose,
    corrected,
    given_by,
    is_own,
    is_same,
    like,
    meant,
    name_in,
    nameless,
    new_fact,
    signed,
    told,
)
from assistant.memory.words import asked_for, plain
from assistant.speech.catalogue import Catalogue
from assistant.tools.builtin.protocol import (
    CORRECT,
    FORGET,
    RECALL,
    REMEMBER,
    AskFirst,
    BuiltIn,
    BuiltInRequest,
    BuiltInResult,
    Run,
    failure,
    schema,
)

MAX_TOLD = 20  # facts returned by one recall
MAX_SAID = 4  # of these, facts in the spoken sentence
MAX_OPTIONS = 5  # facts to list if several match

_log = logging.getLogger(__name__)
_EVERYTHING = "forget_all"


async def _nothing() -> str:
    return ""


class Memories:
    """The household's remembered facts, and the tools that manage them.

    `private` returns True while facts must not be revealed, for example while there are guests.
    `lately` returns what people said last and can raise StoreError. `area` is the device's room.
    """

    def __init__(
        self,
        store: MemoryRows,
        catalogue: Catalogue,
        clock: Clock,
        *,
        private: Callable[[], bool] = lambda: False,
        lately: Callable[[], Awaitable[str]] = _nothing,
        area: str = "",
    ) -> None:
        self._store = store
        self._catalogue = catalogue
        self._clock = clock
        self._private = private
        self._lately = lately
        self._area = area
        self._told: tuple[MemoryRecord, ...] = ()  # facts in the last briefing
        self._unsigned: MemoryRecord | None = None  # fact whose owner was asked for their name

    async def briefed(self, said: str = "", *, program: bool = False) -> tuple[str, ...]:
        """Return the facts for a model's instruction, one line each, oldest first. Never raises.

        Sensitive facts are left out. If not all others fit, those that match the current topic and
        `said` (the current request) are preferred. If facts are left out, a last line says so. If
        `program` is True, what people said doesn't affect the selection.
        """
        if self._private():
            return ()
        try:
            known = await self._store.all()
            chosen = choose(known, [])
            if len(chosen) < sum(not fact.sensitive for fact in known):
                lately = "" if program else await self._lately()
                words = f"{said} {lately} {self._area}"
                before = () if program else self._told
                chosen = choose(known, await like(words, self._store), before)
        except StoreError as error:
            _log.warning("the remembered facts cannot be read: %s", error)
            return ()
        if not program:
            self._told = chosen
        lines = tuple(told(fact) for fact in chosen)
        return lines if len(chosen) == len(known) else (*lines, MORE)

    async def texts(self) -> tuple[str, ...]:
        """Return the text of every fact, including sensitive ones, or () if the store fails."""
        try:
            return tuple(fact.text for fact in await self._store.all())
        except StoreError as error:
            _log.warning("the remembered facts cannot be read: %s", error)
            return ()

    async def expected(self, text: str, spoken: bool) -> tuple[dict[str, Any], str] | None:
        """Check whether a sentence answers Hearth's question about the owner of a new fact.

        Return the arguments for `remember` and the fact's language, or None if it doesn't. A
        `spoken` sentence must introduce the name ("I'm Ana"); typed text can be the name alone.
        Never raises.
        """
        name = "" if self._private() else name_in(text, bare=not spoken)
        try:
            asked = nameless(await self._store.all(), self._clock.now()) if name else None
        except StoreError as error:
            _log.warning("the remembered facts cannot be read: %s", error)
            return None
        return ({"who": name}, asked.language) if asked is not None else None

    def tools(self) -> tuple[BuiltIn, BuiltIn, BuiltIn, BuiltIn]:
        keep = schema(REMEMBER_TAKES)
        read = schema(RECALL_TAKES)
        mend = schema(CORRECT_TAKES, "about", "fact")
        drop = schema(FORGET_TAKES)
        return (
            self._tool(REMEMBER, REMEMBER_WHEN, keep, self._remember, self._asks_to_remember),
            self._tool(RECALL, RECALL_WHEN, read, self._recall, None),
            self._tool(CORRECT, CORRECT_WHEN, mend, self._correct, self._asks_to_correct),
            self._tool(FORGET, FORGET_WHEN, drop, self._forget, self._asks_to_forget),
        )

    def _tool(
        self,
        name: str,
        description: str,
        takes: Mapping[str, Any],
        run: Run,
        asks: Callable[[Mapping[str, Any], str | None], AskFirst | None] | None,
    ) -> BuiltIn:
        # Programs can read facts if their token allows it, but only people can change them.
        reads = asks is None
        tier = Tier.READ if reads else Tier.COMFORT
        safe = self._safely(run)
        return BuiltIn(
            name,
            description,
            takes,
            tier,
            safe,
            guests=False,
            programs=reads,
            words=True,
            asks=asks,
        )

    def _safely(self, run: Run) -> Run:
        async def safe(arguments: Mapping[str, Any], request: BuiltInRequest) -> BuiltInResult:
            try:
                return await run(arguments, request)
            except StoreError as error:
                _log.error("the memory failed: %s", error)
                return failure(self._catalogue, "memory.broken", request)

        return safe

    # --- confirmation before a change

    def _asks_to_remember(self, arguments: Mapping[str, Any], heard: str | None) -> AskFirst | None:
        given, offered = given_by(arguments), arguments.get("offered") is True
        if not given.text or self._signs(given) is not None:
            return None
        if not offered and asked_for(REMEMBER, heard):
            return None
        return AskFirst(REMEMBER, given.text)

    def _asks_to_correct(self, arguments: Mapping[str, Any], heard: str | None) -> AskFirst | None:
        if arguments.get("offered") is not True and asked_for(CORRECT, heard):
            return None
        return AskFirst(CORRECT, given_by(arguments).text)

    def _asks_to_forget(self, arguments: Mapping[str, Any], heard: str | None) -> AskFirst | None:
        if arguments.get("all") is True:
            return AskFirst(_EVERYTHING)
        if asked_for(FORGET, heard):
            return None
        return AskFirst(FORGET, given_by({"fact": arguments.get("about", "")}).text)

    def _signs(self, given: Given) -> MemoryRecord | None:
        fact = self._unsigned
        if fact is None or not given.who or nameless([fact], self._clock.now()) is None:
            return None
        return fact if not given.text or is_same(given.text, fact) else None

    # --- the actions

    async def _remember(
        self, arguments: Mapping[str, Any], request: BuiltInRequest
    ) -> BuiltInResult:
        given, now = given_by(arguments), self._clock.now()
        known = await self._store.all()
        nobodys = nameless(known, now) if given.who else None
        if nobodys is not None and (not given.text or is_same(given.text, nobodys)):
            await self._store.keep(signed(nobodys, given.who))
            return self._said("memory.signed", request, name=given.who)
        refused = self._refusal(given, request)
        if refused is not None:
            return refused
        if any(plain(fact.text) == plain(given.text) for fact in known):
            return self._said("memory.known", request)
        if len(known) >= MAX_FACTS:
            return failure(self._catalogue, "memory.full", request)
        fact = new_fact(given, request.language, now)
        await self._store.keep(fact)
        kept = self._catalogue.say(_kept(fact), request.language)
        if fact.who or not is_own(fact.text, fact.language):
            return BuiltInResult(kept)
        self._unsigned = fact
        return BuiltInResult(f"{kept} {self._catalogue.say('memory.whose', request.language)}")

    async def _recall(self, arguments: Mapping[str, Any], request: BuiltInRequest) -> BuiltInResult:
        known = await self._store.all()
        about = str(arguments.get("about", "")).strip()
        found = await like(about, self._store) if about else known[::-1]
        # Don't reveal sensitive facts to somebody who only asks what Hearth remembers.
        open_ones = [f for f in found if not f.sensitive or (about and not request.program)]
        if not open_ones:
            key = "memory.only_private" if found else "memory.nothing_like_it"
            return self._said(key if known else "memory.nothing", request)
        told_now = open_ones[:MAX_TOLD]
        data: dict[str, Any] = {"remembered": [_row(fact) for fact in told_now]}
        if len(open_ones) > MAX_TOLD:
            data["left_out"] = len(open_ones) - MAX_TOLD
        if len(open_ones) < len(found):
            data["private_left_out"] = len(found) - len(open_ones)
        sentence = self._told_aloud(open_ones, len(open_ones) < len(found), request)
        return BuiltInResult(sentence, json.dumps(data, ensure_ascii=False))

    async def _correct(
        self, arguments: Mapping[str, Any], request: BuiltInRequest
    ) -> BuiltInResult:
        given, known = given_by(arguments), await self._store.all()
        refused = self._refusal(given, request)
        if refused is not None:
            return refused
        fact = await self._one(str(arguments["about"]), known, request, "memory.which_corrected")
        if isinstance(fact, BuiltInResult):
            return fact
        await self._store.keep(corrected(fact, given, self._clock.now(), request.language))
        return self._said("memory.corrected", request)

    async def _forget(self, arguments: Mapping[str, Any], request: BuiltInRequest) -> BuiltInResult:
        if arguments.get("all") is True:
            count = await self._store.forget_all()
            return self._said("memory.forgotten_all" if count else "memory.nothing", request)
        known, about = await self._store.all(), str(arguments.get("about", ""))
        fact = await self._one(about, known, request, "memory.which")
        if isinstance(fact, BuiltInResult):
            return fact
        await self._store.forget(fact.id)
        return self._said("memory.forgotten", request)

    async def _one(
        self, about: str, known: Sequence[MemoryRecord], request: BuiltInRequest, which: str
    ) -> MemoryRecord | BuiltInResult:
        found = meant(about, known)
        if len(found) == 1:
            return found[0]
        near = found or await like(about, self._store)
        if not near:
            return failure(
                self._catalogue, "memory.nothing_like_it" if known else "memory.nothing", request
            )
        options = tuple(fact.text for fact in near[:MAX_OPTIONS])
        return failure(self._catalogue, which, request, options)

    def _refusal(self, given: Given, request: BuiltInRequest) -> BuiltInResult | None:
        if not given.text:
            return failure(self._catalogue, "memory.empty", request)
        return failure(self._catalogue, "memory.too_long", request) if given.too_long else None

    # --- the answers

    def _told_aloud(
        self, found: Sequence[MemoryRecord], left_out: bool, request: BuiltInRequest
    ) -> str:
        say, language = self._catalogue.say, request.language
        facts = " ".join(f"{told(fact).rstrip(' .')}." for fact in found[:MAX_SAID])
        parts = [say("memory.told", language, facts=facts)]
        if len(found) > MAX_SAID:
            parts.append(say("memory.told_more", language, count=len(found) - MAX_SAID))
        if left_out:
            parts.append(say("memory.private", language))
        return " ".join(parts)

    def _said(self, key: str, request: BuiltInRequest, **values: str) -> BuiltInResult:
        return BuiltInResult(self._catalogue.say(key, request.language, **values))


def _kept(fact: MemoryRecord) -> str:
    return "memory.kept_private" if fact.sensitive else "memory.kept"


def _row(fact: MemoryRecord) -> dict[str, str]:
    row = {"told_on": f"{fact.created_at:%Y-%m-%d}", "fact": fact.text}
    return row | {
        key: given for key, given in (("told_by", fact.who), ("about", fact.about)) if given
    }
