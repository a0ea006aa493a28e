"""The one sentence that tells a brain what became of a call."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assistant.domain.outcome import Observed, Status
from assistant.speech.catalogue import Catalogue
from assistant.tools.resolve import named_thing
from assistant.tools.verify import Finding
from integrations.cleaning import one_line, visible
from integrations.home_assistant.house import House
from integrations.mcp.servers import McpResult

# What a server's answer says: Home Assistant's lists of successes and failures, or plain text.


MAX_DATA = 24_000  # characters of an answer that a brain is given
_MAX_READ = 200_000  # of one that is looked at: a tool server's are no longer (`integrations.mcp`)
_CUT = "\n[cut: these are the first {kept} of {all} characters]"
_MAX_NAME = 300
_MAX_REASON = 300
_IN_VAIN = re.compile(r"Failed to call \w+ for: \[(?P<ids>[^\]]*)\]")
_ENTITY = re.compile(r"[a-z0-9_]+\.[a-z0-9_]+")
_PREFIX = "Error calling tool: "


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer, read."""

    text: str  # cleaned and capped; data, never instructions
    error: str = ""  # the server's reason; empty where it said yes
    succeeded: tuple[str, ...] = ()  # entity ids
    failed: tuple[str, ...] = ()  # names of things that did not work


def read_answer(result: McpResult, *, of_home: bool = True) -> Answer:
    """Read a result; whatever is not Home Assistant's form is kept as text.

    `of_home`: Home Assistant wrote it. What another server says in that form names nothing: it
    knows no entity of this house.
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
    """Join what was answered to the parts of one call; an error of all of them is an error."""
    errors = [one.error for one in answers if one.error]
    if len(errors) == len(answers):
        return answers[0]
    failed = (*(name for one in answers for name in one.failed), *errors)
    return Answer(
        visible("\n".join(one.text for one in answers), MAX_DATA),
        succeeded=tuple(name for one in answers for name in one.succeeded),
        failed=tuple(dict.fromkeys(failed)),
    )


def called_in_vain(error: str) -> tuple[str, ...]:
    """Return the ids of the things that Home Assistant could not call, in its own words for that;
    they are no words for people."""
    found = _IN_VAIN.fullmatch(error)
    return tuple(_ENTITY.findall(found["ids"])) if found else ()


def capped(text: str) -> str:
    """At most MAX_DATA characters; the end of a text that was longer says how much there was."""
    if len(text) <= MAX_DATA:
        return text
    kept = MAX_DATA - len(_CUT.format(kept=MAX_DATA, all=len(text)))
    return text[:kept] + _CUT.format(kept=kept, all=len(text))


def _rows(value: Any) -> list[Mapping[str, Any]]:
    return [row for row in value if isinstance(row, Mapping)] if isinstance(value, list) else []


def _reason(text: str) -> str:
    """The reason without Home Assistant's prefix, as a sentence; never empty."""
    said = _loaded(text).get("error")
    reason = str(said) if isinstance(said, str) else text.removeprefix(_PREFIX)
    return one_line(reason, _MAX_REASON).rstrip(".") or "no reason given"


def _loaded(text: str) -> Mapping[str, Any]:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):  # the latter: nested a thousand times
        return {}
    return content if isinstance(content, Mapping) else {}


MAX_NAMED = 4  # things told one by one
MAX_VALUE = 2_000  # characters of what fills a sentence


class Sentences:
    """Catalogue sentences in one language."""

    def __init__(self, catalogue: Catalogue, language: str) -> None:
        self._catalogue = catalogue
        self._language = language

    def say(self, key: str, **values: object) -> str:
        """One sentence of the catalogue. Texts among the values are put on one line, cleaned."""
        clean = {name: _clean(value) for name, value in values.items()}
        return self._catalogue.say(key, self._language, **clean)

    def with_options(self, key: str, options: Sequence[str], /, **values: object) -> str:
        """One sentence of the catalogue, and the names that are nearest to what was given."""
        sentence = self.say(key, **values)
        if not options:
            return sentence
        return self.say("tools.nearest", sentence=sentence, names=", ".join(options))

    def failed(self, error: str, options: Sequence[str], house: House) -> str:
        """What did not work: the server's reason, or the things that cannot do it."""
        things = [house.entities[one] for one in called_in_vain(error) if one in house.entities]
        if not things:
            return self.with_options("tools.failed", options, reason=error)
        names = ", ".join(one.name for one in things[:MAX_NAMED])
        return self.with_options("tools.cannot", options, names=names)

    def after(self, status: Status, answer: Answer, finding: Finding, house: House) -> str:
        """What was done, what was seen, and what did not work, by name."""
        observed = finding.observed
        if status is Status.FAILED and answer.succeeded and observed:
            done = self._states(observed, house)
            return self.say("tools.partly", what=done, names=", ".join(answer.failed))
        if status is Status.FAILED:
            return self.say("tools.failed", reason=", ".join(answer.failed))
        if status is Status.NOT_OBSERVED:
            return self._not_observed(finding, house)
        if not observed:
            return self.say("tools.done")
        return self.say("tools.done_what", what=self._states(observed, house))

    def _not_observed(self, finding: Finding, house: House) -> str:
        """What does not show what was asked, and what does."""
        late = [one for one in finding.observed if one.entity_id in finding.missing]
        if not late or finding.as_asked is None:
            return self.say("tools.not_seen")
        done = [one for one in finding.observed if one.entity_id not in finding.missing]
        if any(one.entity_id not in finding.plain for one in late):
            told = self.say("tools.not_observed", what=self._reports(late, house))
        else:
            told = self.say("tools.only_switches", names=_names(late, house))
            done = list(finding.observed)  # they have been switched all the same
        if not done:
            return told
        return self.say("tools.but", done=self._states(done, house), told=told)

    def _reports(self, late: Sequence[Observed], house: House) -> str:
        """ "the front door still reports unlocked", or how many things do not follow."""
        if len(late) > MAX_NAMED:
            return self.say("tools.many_late", count=len(late))
        return "; ".join(
            self.say(
                "tools.still_reports" if one.after == one.before else "tools.reports",
                name=named_thing(_name(one, house), self._catalogue, self._language),
                state=self.state(one.after),
            )
            for one in late
        )

    def _states(self, observed: Sequence[Observed], house: House) -> str:
        """ "Kitchen Light: on 30 %; Lamp: off", or how many things changed."""
        if len(observed) > MAX_NAMED:
            return self.say("tools.many_things", count=len(observed))
        return "; ".join(f"{_name(one, house)}: {self.state(one.after)}" for one in observed)

    def state(self, state: str | None) -> str:
        """A state in the turn's language, where the catalogue has the word."""
        word, _, detail = (state or "unknown").partition(" ")
        try:
            word = self.say(f"states.{word}")
        except KeyError:  # an entity's own word, such as a sensor's value
            word = word.replace("_", " ")
        return f"{word} {detail}".strip()


def _clean(value: object) -> object:
    return one_line(value, MAX_VALUE) if isinstance(value, str) else value


def _names(observed: Sequence[Observed], house: House) -> str:
    return ", ".join(_name(one, house) for one in observed[:MAX_NAMED])


def _name(observed: Observed, house: House) -> str:
    entity = house.entities.get(observed.entity_id)
    return entity.name if entity is not None else observed.entity_id
