"""What a message's data asks for, checked as every program's request is. Pure."""

import logging
from collections.abc import Collection, Mapping
from typing import Any, TypeVar

from pydantic import ValidationError

from assistant.interfaces.device.messages import Words
from integrations.web.requests import AnnounceRequest, Wish

Form = TypeVar("Form", bound=Wish)

_NO = frozenset({"false", "no", "off", "0"})

_log = logging.getLogger(__name__)


def announcement_of(data: Mapping[str, Any], words: Words) -> AnnounceRequest | None:
    """What is to be announced, None where there is nothing to say. It outlives a restart.

    Of the message's data count those of `manner_of` and `media`, a sound that is played in place of
    the words. What makes no sense there counts as not given.
    """
    media = data.get("media")
    said = {"media": media} if isinstance(media, str) and media.strip() else {"text": words.text}
    wanted = {"language": words.language, **manner_of(data), **said, "persist": True}
    return checked(AnnounceRequest, wanted, needed=("text", "media"))


def manner_of(data: Mapping[str, Any]) -> dict[str, Any]:
    """How it is to be said: `volume` (0 to 1), `preannounce`, `priority`, `expire` (seconds) and
    `language`, where they are given. Templates give all of it as text."""
    language = data.get("language")
    given = {
        "preannounce": str(data.get("preannounce")).strip().lower() not in _NO,
        "priority": _small(data.get("priority")),
        "volume": number(data.get("volume")),
        "expire_s": number(data.get("expire")),
        "language": language.strip().replace("_", "-") if isinstance(language, str) else language,
    }
    return {key: value for key, value in given.items() if value not in (None, "")}


def checked(form: type[Form], wanted: Mapping[str, Any], needed: Collection[str]) -> Form | None:
    """The request, without what makes no sense in it. None where that is one of `needed`."""
    fields = dict(wanted)
    while True:
        try:
            return form.model_validate(fields)
        except ValidationError as error:
            faults = error.errors(include_url=False, include_context=False, include_input=False)
            wrong = {str(fault["loc"][0]) for fault in faults if fault["loc"]} & fields.keys()
        if not wrong or wrong & set(needed):
            return None
        _log.info("of a message's data this makes no sense: %s", ", ".join(sorted(wrong)))
        fields = {key: value for key, value in fields.items() if key not in wrong}


def number(given: Any) -> Any:
    """A text that is a number as that; all else as it is, for whoever checks it."""
    if isinstance(given, bool) or not isinstance(given, int | float | str):
        return given
    try:
        return float(given)
    except (ValueError, OverflowError):
        return given


def _small(given: Any) -> Any:
    return given.strip().lower() if isinstance(given, str) else given
