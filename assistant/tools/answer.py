"""What a server's answer says: Home Assistant's lists of successes and failures, or plain text."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from integrations.cleaning import one_line, visible
from integrations.mcp.servers import McpResult

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
