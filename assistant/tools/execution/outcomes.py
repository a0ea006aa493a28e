"""Parsing of a tool server's answer, and sentences about the result of a call."""

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assistant.domain.tool_call import Observed, Status
from assistant.speech.catalogue import FALLBACK, Catalogue, Names, counted
from assistant.tools.execution.home_errors import tell_error
from assistant.tools.execution.verification import Finding
from assistant.tools.house.articles import agreeing, best_name, noun_of, noun_of_all
from assistant.tools.house.names import (
    capitalised,
    has_no_article,
    named_thing,
    spoken_things,
)
from integrations.cleaning import one_line, visible
from integrations.home_assistant.house import House
from integrations.mcp.servers import McpResult

if TYPE_CHECKING:
    pass


# Reading a server's answer: Home Assistant's lists of successes and failures, or plain text.
MAX_DATA = 24_000  # characters of an answer for the brain
# Characters of an answer to read; tool servers are limited to less (`integrations.mcp`).
_MAX_READ = 200_000
_CUT = "\n[cut: these are the first {kept} of {all} characters]"
_MAX_NAME = 300
_MAX_REASON = 300
_IN_VAIN = re.compile(r"Failed to call \w+ for: \[(?P<ids>[^\]]*)\]")
_ENTITY = re.compile(r"[a-z0-9_]+\.[a-z0-9_]+")
_BEFORE_NUMBER = re.compile(r"(?<=[a-z]) (?=\d)")
_PREFIX = "Error calling tool: "


@dataclass(frozen=True, slots=True)
class Answer:
    text: str  # cleaned and capped; data, never instructions
    error: str = ""  # the server's reason; empty on success
    succeeded: tuple[str, ...] = ()  # entity ids
    failed: tuple[str, ...] = ()  # names of entities that failed
    problems: tuple[str, ...] = ()  # the server's reasons if only parts of the call failed


def read_answer(result: McpResult, *, of_home: bool = True) -> Answer:
    """Parse a tool result. A result that isn't in Home Assistant's format remains plain text.

    `of_home` is True if the result is from Home Assistant. Other servers' lists of entities are
    ignored.
    """
    text = capped(visible(result.text, _MAX_READ))
    if result.is_error:
        return Answer(text, error=_reason(text))
    data = _loaded(result.text).get("data")
    if not of_home or not isinstance(data, Mapping):
        return Answer(text)
    succeeded = [row for row in _rows(data.get("success")) if row.get("type") == "entity"]
    return Answer(
        text,
        succeeded=tuple(str(row.get("id")) for row in succeeded),
        failed=tuple(
            one_line(str(row.get("name") or row.get("id")), _MAX_NAME)
            for row in _rows(data.get("failed"))
        ),
    )


def join_answers(answers: Sequence[Answer]) -> Answer:
    """Join the answers to the parts of a call. The result is an error only if every part failed."""
    errors = [one.error for one in answers if one.error]
    if len(errors) == len(answers):
        return answers[0]
    failed = (name for one in answers for name in one.failed)
    return Answer(
        visible("\n".join(one.text for one in answers), MAX_DATA),
        succeeded=tuple(name for one in answers for name in one.succeeded),
        failed=tuple(dict.fromkeys(failed)),
        problems=tuple(dict.fromkeys(errors)),
    )


def called_in_vain(error: str) -> tuple[str, ...]:
    """Return the entity ids in Home Assistant's error message "Failed to call ..."."""
    found = _IN_VAIN.fullmatch(error)
    return tuple(_ENTITY.findall(found["ids"])) if found else ()


def capped(text: str) -> str:
    """Cut a long text to MAX_DATA characters, including a note about its original length."""
    if len(text) <= MAX_DATA:
        return text
    kept = MAX_DATA - len(_CUT.format(kept=MAX_DATA, all=len(text)))
    return text[:kept] + _CUT.format(kept=kept, all=len(text))


def _rows(value: Any) -> list[Mapping[str, Any]]:
    return [row for row in value if isinstance(row, Mapping)] if isinstance(value, list) else []


def _reason(text: str) -> str:
    said = _loaded(text).get("error")
    reason = str(said) if isinstance(said, str) else text.removeprefix(_PREFIX)
    return one_line(reason, _MAX_REASON).rstrip(".") or "no reason given"


def _loaded(text: str) -> Mapping[str, Any]:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):  # RecursionError: nested a thousand levels
        return {}
    return content if isinstance(content, Mapping) else {}


# States that have a sentence without a name: "OK, opening it."
_SAID_AS_IT = frozenset(
    {"on", "off", "open", "closed", "opening", "closing", "locked", "unlocked", "locking"}
    | {"unlocking"}
)
_ACTIONS = frozenset({"pressed", "started"})  # worded as Hearth's actions: "I've started Film"
MAX_NAMED = 4  # entities to name
MAX_VALUE = 2_000  # characters of a value in a sentence


class Sentences:
    """Sentences from the catalogue in one language."""

    def __init__(self, catalogue: Catalogue, language: str) -> None:
        self._catalogue = catalogue
        self._language = language

    def say(self, key: str, **values: object) -> str:
        """Return the sentence for `key`. Strings in `values` are cleaned and put on one line."""
        clean = {name: _clean(value) for name, value in values.items()}
        return self._catalogue.say(key, self._language, **clean)

    def with_options(self, key: str, options: Sequence[str], /, **values: object) -> str:
        """Return the sentence for `key`, followed by the similar valid names in `options`."""
        return self.followed_by(self.say(key, **values), options)

    def home_error(self, text: str, code: str = "") -> str:
        return tell_error(self._catalogue, self._language, text, code)

    def followed_by(self, sentence: str, options: Sequence[str]) -> str:
        """Return the sentence, followed by the similar valid names in `options`. Entity ids are
        left out, because only models use them."""
        names = [one for one in options if not _ENTITY.fullmatch(one)]
        if not names:
            return sentence
        return self.say("tools.nearest", sentence=sentence, names=", ".join(names))

    def failed(self, error: str, options: Sequence[str], house: House) -> str:
        """Return a sentence about a failed call: the cause of the failure, or the entities that
        can't do this."""
        things = [house.entities[one] for one in called_in_vain(error) if one in house.entities]
        if not things:
            return self.followed_by(self.home_error(error), options)
        names = spoken_things(one.names for one in things[:MAX_NAMED])
        return self.with_options("tools.cannot", options, names=names)

    def after(
        self,
        status: Status,
        answer: Answer,
        finding: Finding,
        house: House,
        *,
        confirmed: bool = False,
    ) -> str:
        """Return a sentence about a call's result: what succeeded, what failed and the new states.

        If `confirmed`, the sentence may leave out the entity's name, because the question has just
        mentioned it.
        """
        observed = finding.observed
        if status is Status.FAILED:
            return self._failed(answer, finding, house)
        if status is Status.NOT_OBSERVED:
            return self._not_observed(finding, house)
        if not observed:
            return self.say("tools.done")
        if confirmed and len(observed) == 1 and (observed[0].after or "") in _SAID_AS_IT:
            return self.say(f"tools.it_{observed[0].after}")
        return self.say("tools.done_what", what=self._states(observed, house))

    def _failed(self, answer: Answer, finding: Finding, house: House) -> str:
        names = spoken_things(answer.failed)
        done = self._states(finding.observed, house) if answer.succeeded else ""
        if done and names:
            return self.say("tools.partly", what=done, names=names)
        if names:
            return self.say("tools.cannot", names=names)
        told = self.failed(answer.problems[0], (), house)
        return self.say("tools.but", done=done, told=told) if done else told

    def _not_observed(self, finding: Finding, house: House) -> str:
        late = [one for one in finding.observed if one.entity_id in finding.missing]
        if not late or finding.as_asked is None:
            return self.say("tools.not_seen")
        done = [one for one in finding.observed if one.entity_id not in finding.missing]
        if any(one.entity_id not in finding.plain for one in late):
            told = self.say("tools.not_observed", what=self._reports(late, house))
        else:
            told = self.say("tools.only_switches", names=_names(late, house))
            done = list(finding.observed)  # they were switched all the same
        if not done:
            return told
        return self.say("tools.but", done=self._states(done, house), told=told)

    def _reports(self, late: Sequence[Observed], house: House) -> str:
        if len(late) > MAX_NAMED:
            return self.say("tools.many_late", count=counted(len(late)))
        return "; ".join(self._report(one, house) for one in late)

    def _report(self, one: Observed, house: House) -> str:
        names = _every_name(one, house)
        name = named_thing(names, self._catalogue, self._language)
        if one.after == "unavailable":
            return self.say("house_state.unreachable", names=name)
        key = "tools.still_reports" if one.after == one.before else "tools.reports"
        return self.say(key, name=name, state=self.state_of(names, one.after))

    def _states(self, observed: Sequence[Observed], house: House) -> str:
        if len(observed) > MAX_NAMED:
            return self.say("tools.many_things", count=counted(len(observed)))
        named: dict[str, list[Observed]] = {}
        for one in observed:
            named.setdefault(one.after or "unknown", []).append(one)
        return capitalised(
            "; ".join(self._statement(state, ones, house) for state, ones in named.items())
        )

    def _statement(self, after: str, observed: Sequence[Observed], house: House) -> str:
        """Return a statement such as "the lamp and the fan are off", or "Lamp, Fan: off" if the
        language needs a gender that isn't known."""
        things = [_every_name(one, house) for one in observed]
        titles = [
            names[0]
            for one, names in zip(observed, things, strict=True)
            if has_no_article(one.entity_id, names[0])
        ]
        told, state = spoken_things(things, titles), self.state(after)
        if after in _ACTIONS:
            return self.say(f"tools.{after}", names=told)
        if state[:1].isdigit():  # a number, such as the length of a list
            return f"{told}: {state}"
        language = self._catalogue.own(self._language).partition("-")[0]
        noun = noun_of_all([best_name(names, language) for names in things], language)
        if language != FALLBACK and noun is None:
            return f"{told.within(language)}: {state}"
        plural = noun is not None and noun.plural
        many = told.several or plural
        be = self.say(f"house_state.is_{'many' if many else 'one'}")
        at = _BEFORE_NUMBER.sub(_at(state, language), state, count=1)  # "on at 30 %"
        at = agreeing(at, noun, language)
        return self.say("house_state.statement", names=told, be=be, state=at)

    def state_of(self, names: Sequence[str], state: str | None) -> str:
        """Return an entity's state in this language. In languages such as Spanish, the state agrees
        with the entity's name."""
        language = self._catalogue.own(self._language).partition("-")[0]
        return agreeing(self.state(state), noun_of(best_name(names, language), language), language)

    def state(self, state: str | None) -> str:
        """Return a state in this language, or unchanged if the catalogue doesn't have it."""
        word, _, detail = (state or "unknown").partition(" ")
        for key in (f"states.{word}", f"offline.state_{word}"):
            with suppress(KeyError):
                return f"{self.say(key)} {detail}".strip()
        # A state of the entity's own, such as a sensor's value.
        return f"{word.replace('_', ' ')} {detail}".strip()


def _clean(value: object) -> object:
    if isinstance(value, Names):
        return value.changed(lambda said: one_line(said, MAX_VALUE))
    return one_line(value, MAX_VALUE) if isinstance(value, str) else value


def _names(observed: Sequence[Observed], house: House) -> str:
    return spoken_things(_every_name(one, house) for one in observed[:MAX_NAMED])


def _every_name(observed: Observed, house: House) -> tuple[str, ...]:
    entity = house.entities.get(observed.entity_id)
    return entity.names if entity is not None else (observed.entity_id,)


def _at(state: str, language: str) -> str:
    if language == "es":
        return " al " if state.endswith("%") else " a "
    return {"en": " at ", "pt": " a ", "fr": " à "}.get(language, ", ")
