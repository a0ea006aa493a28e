"""What a server's answer says: Home Assistant's lists of successes and failures, or plain text."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from integrations.mcp.servers import McpResult

MAX_DATA = 24_000  # characters of an answer that a brain is given
_PREFIX = "Error calling tool: "


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer, read."""

    text: str  # cleaned and capped; data, never instructions
    error: str = ""  # the server's reason; empty where it said yes
    succeeded: tuple[str, ...] = ()  # entity ids
    failed: tuple[str, ...] = ()  # names of things that did not work


def read_answer(result: McpResult) -> Answer:
    """Read a result; whatever is not Home Assistant's form is kept as text."""
    text = _clean(result.text)
    if result.is_error:
        return Answer(text, error=_reason(text))
    data = _loaded(result.text).get("data")
    if not isinstance(data, Mapping):
        return Answer(text)
    succeeded = [row for row in _rows(data.get("success")) if row.get("type") == "entity"]
    return Answer(
        text,
        succeeded=tuple(str(row.get("id")) for row in succeeded),
        failed=tuple(
            _clean(str(row.get("name") or row.get("id"))) for row in _rows(data.get("failed"))
        ),
    )


def _rows(value: Any) -> list[Mapping[str, Any]]:
    return [row for row in value if isinstance(row, Mapping)] if isinstance(value, list) else []


def _reason(text: str) -> str:
    """The reason without Home Assistant's prefix, as a sentence; never empty."""
    said = _loaded(text).get("error")
    reason = str(said) if isinstance(said, str) else text.removeprefix(_PREFIX)
    reason = " ".join(reason.split())[:300]
    return reason.rstrip(".") or "no reason given"


def _loaded(text: str) -> Mapping[str, Any]:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):  # the latter: nested a thousand times
        return {}
    return content if isinstance(content, Mapping) else {}


def _clean(text: str) -> str:
    """Without control, direction and zero-width characters; line ends stay."""
    plain = re.sub(r"[^\S\n ]|\r", " ", text)
    return "".join(c for c in plain if c.isprintable() or c == "\n")[:MAX_DATA]
