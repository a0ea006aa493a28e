"""Sentences for Home Assistant's error messages.

Home Assistant writes its messages for developers, in English and with entity ids, so Hearth doesn't
speak them. Sources: `helpers/intent.py` (`MatchFailedReason`, `IntentError`), `helpers/service.py`,
`exceptions.py`, `components/climate`, `components/lock` and `components/mcp_server/server.py`.
"""

import re
from collections.abc import Mapping

from assistant.speech.catalogue import Catalogue
from assistant.tools.house.names import spoken_names, spoken_place, spoken_things
from assistant.tools.house.targets import NAMED_KINDS

_THINGS = frozenset({"hidden", "no_name"})  # errors whose `name` is an entity's


_NUMBER = r"-?\d+(?:\.\d+)?"
# The first match wins. The group `name` is the given name; `low` and `high` are limits.
_KNOWN = tuple(
    (re.compile(pattern, re.IGNORECASE), key)
    for pattern, key in (
        (
            r"^No entities matched the name \(given name '(?P<name>[^']+)'(?!, area|, floor)",
            "no_name",
        ),
        (r"^The area does not exist.*given area '(?P<name>[^']+)'", "no_room"),
        (r"^Area '(?P<name>[^']+)' does not exist", "no_room"),
        (r"^The floor does not exist.*given floor '(?P<name>[^']+)'", "no_room"),
        (r"^Multiple entities share the name.*given name '(?P<name>[^']+)'", "same_name"),
        (r"^No matching entities are exposed.*given name '(?P<name>[^']+)'", "hidden"),
        (
            r"^No entities were in the area \(given area '(?P<name>[^']+)'"
            r"(?:, domains (?P<kind>\w+))?\)",
            "none_here",
        ),
        (r"^No (?:matching |exposed )?entit", "nothing_there"),
        (r"^Item '?(?P<name>[^']+?)'? not found on list", "not_on_list"),
        (r"Multiple entities|cannot target all devices", "which"),
        (
            rf"(?:Accepted|valid) range (?:is )?(?P<low>{_NUMBER})\D{{1,20}}(?P<high>{_NUMBER})",
            "out_of_range",
        ),
        (r"does not support|not supported|No entities supported", "unsupported"),
        (r"(?:service|action|tool) .{1,100} not found|Unknown intent", "no_action"),
        (
            r"\bcode\b.{0,60}(?:required|invalid|match)|(?:requires?|invalid) (?:a )?code",
            "needs_code",
        ),
        (r"unauthorized|not authorized|no permission", "not_permitted"),
        (
            r"not respond|did not answer|timed? ?out|unavailable|not connected|cannot connect",
            "silent",
        ),
        (r"already running", "running"),
        (
            r"invalid slot info|not a valid|is not valid|expected .{1,60} at |out of range",
            "bad_value",
        ),
        (r"value must be|required key not provided|not a valid option|extra keys", "bad_value"),
        (r"^Failed to call |^Error handling |^Unexpected error", "failed"),
    )
)
# Error codes of websocket commands (`components/websocket_api/const.py`) and of the conversation
# engine (`helpers/intent.py`, `IntentResponseErrorCode`).
_BY_CODE = {
    "no_intent_match": "not_understood",
    "failed_to_handle": "failed",
    "invalid_format": "bad_value",
    "no_valid_targets": "nothing_there",
    "not_found": "no_action",
    "timeout": "silent",
    "unauthorized": "not_permitted",
}
_ELSEWHERE = {"not_understood": "fault.not_understood", "which": "policy.which_thing"}


def tell_error(catalogue: Catalogue, language: str, text: str, code: str = "") -> str:
    """Return a sentence for an error message from Home Assistant. If the message is unknown, the
    error code determines the sentence."""
    for pattern, name in _KNOWN:
        found = pattern.search(text)
        if found is not None:
            return catalogue.say(
                _key(name, found["kind"] if name == "none_here" else ""),
                language,
                **_values(name, found.groupdict()),
            )
    return catalogue.say(_key(_BY_CODE.get(code, "unknown")), language)


def _key(name: str, kind: str | None = "") -> str:
    if name == "none_here":
        return f"policy.none_here_{kind}" if kind in NAMED_KINDS else "policy.none_here"
    return _ELSEWHERE.get(name, f"home_error.{name}")


def _values(name: str, groups: Mapping[str, str | None]) -> dict[str, str]:
    values = {one: value for one, value in groups.items() if value}
    if "name" in values:
        said = values.pop("name")
        if name == "none_here":
            values["names"] = spoken_place(said)
        else:
            values["names"] = (spoken_things if name in _THINGS else spoken_names)([said])
    return values
