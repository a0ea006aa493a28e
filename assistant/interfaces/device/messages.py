"""Parser for the notifications that Home Assistant sends to Hearth's device. Pure."""

import logging
import re
import tomllib
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from typing import Any, Literal, TypeVar

from pydantic import ValidationError

from assistant.confirmation.forms import FALLBACK, FOLDER, AnswerKind, Forms, languages
from assistant.speech.catalogue import Catalogue, length_of
from integrations.home_assistant.house import rows, text, texts
from integrations.home_assistant.mobile_app import Push
from integrations.web.requests import LONGEST_TEXT, AnnounceRequest, Choice, QuestionRequest, Wish

_TIMERS = "timers"  # `data.group` of messages about finished timers
# Texts that the companion apps take as commands to the phone, so they must not be spoken
# (companion.home-assistant.io, "Notification commands"). Android's begin with `command_`.
_ORDERS = frozenset(
    {
        "clear_badge",
        "clear_notification",
        "delete_alert",
        "remove_channel",
        "request_location_update",
        "update_complications",
        "update_widgets",
    }
)
# "0:05:00 timer finished", with a timedelta's str() (mobile_app/timers.py, 2026.11.0).
_UNNAMED = re.compile(r"(?:(\d+) days?, )?(\d{1,2}):(\d\d):(\d\d)(?:\.\d+)? timer finished")
_NAMED = " finished"


@dataclass(frozen=True, slots=True)
class Words:
    text: str
    language: str | None = None  # None means that it is detected from the text
    sound: str = ""  # a tone to play first


def words_of(push: Push, catalogue: Catalogue, language: str) -> Words | None:
    """Return the text to speak, or None if the message has none or is a command to a phone.
    `language` is used to announce finished timers."""
    message = plain(push.message)
    if message.startswith("command_") or message in _ORDERS:
        return None
    if message == "TTS":  # the Android companion app speaks `tts_text` then
        message = plain(str(push.data.get("tts_text") or ""))
    if push.data.get("group") == _TIMERS:
        return _timer(message, catalogue, language)
    text = ". ".join(part for part in (plain(push.title).rstrip("."), message) if part)
    return Words(short(text)) if text else None


def _timer(message: str, catalogue: Catalogue, language: str) -> Words | None:
    unnamed = _UNNAMED.fullmatch(message)
    if unnamed:
        days, hours, minutes, seconds = (int(number or 0) for number in unnamed.groups())
        length = timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
        spoken = length_of(length.total_seconds(), catalogue, language)
        text = catalogue.say("timers.over", language, length=spoken)
        return Words(text, catalogue.own(language), "timer")
    if message.endswith(_NAMED) and len(message) > len(_NAMED):
        name = short(message.removesuffix(_NAMED))
        line = catalogue.line("timers.over_named", language, name=name)
        return Words(line.text, line.language, "timer")
    return Words(short(message), None, "timer") if message else None


def plain(text: str) -> str:
    """Return the text as one line without control and format characters."""
    text = text[: 4 * LONGEST_TEXT]  # `short` would cut it anyway
    spaced = (" " if unicodedata.category(one) == "Cc" else one for one in text)
    kept = (one for one in spaced if not unicodedata.category(one).startswith("C"))
    return " ".join("".join(kept).split())


def short(text: str) -> str:
    """Cut the text to LONGEST_TEXT characters, at the end of a word if possible."""
    if len(text) <= LONGEST_TEXT:
        return text
    return text[:LONGEST_TEXT].rpartition(" ")[0] or text[:LONGEST_TEXT]


Form = TypeVar("Form", bound=Wish)

_NO = frozenset({"false", "no", "off", "0"})

_log = logging.getLogger(__name__)


def announcement_of(data: Mapping[str, Any], words: Words) -> AnnounceRequest | None:
    """Return the message's announcement, or None if there is nothing to speak or play.

    `data` can contain the keys that `manner_of` reads and `media`, a sound to play instead of the
    text. Invalid values are ignored.
    """
    media = data.get("media")
    said = {"media": media} if isinstance(media, str) and media.strip() else {"text": words.text}
    wanted = {"language": words.language, **manner_of(data), **said, "persist": True}
    return checked(AnnounceRequest, wanted, needed=("text", "media"))


def manner_of(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the announcement options that `data` contains: `volume` (0 to 1), `preannounce`,
    `priority`, `expire_s` (from `expire`, in seconds) and `language`. Home Assistant's templates
    send them as strings."""
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
    """Validate a request, dropping its invalid fields. Returns None if a field in `needed`, or the
    request as a whole, is invalid."""
    fields = dict(wanted)
    while True:
        try:
            return form.model_validate(fields)
        except ValidationError as error:
            faults = error.errors(include_url=False, include_context=False, include_input=False)
            wrong = {str(fault["loc"][0]) for fault in faults if fault["loc"]} & fields.keys()
        if not wrong or wrong & set(needed):
            return None
        _log.info("ignored invalid data in a message: %s", ", ".join(sorted(wrong)))
        fields = {key: value for key, value in fields.items() if key not in wrong}


def number(given: Any) -> Any:
    """Return a number or a numeric string as a float, and anything else unchanged."""
    if isinstance(given, bool) or not isinstance(given, int | float | str):
        return given
    try:
        return float(given)
    except (ValueError, OverflowError):
        return given


def _small(given: Any) -> Any:
    return given.strip().lower() if isinstance(given, str) else given


# Name and behaviour of actions that expect text.
_REPLY, _TYPED = "REPLY", "textInput"
_ANY = "{reply}"
_LINK = "URI"  # an action that opens a page can't be spoken
_MOST, _LONGEST = 50, 300  # sentences per answer, characters per sentence (`requests.Choice`)
# Characters that are special in hassil templates or not spoken.
_SIGNS = dict.fromkeys(map(ord, "()[]{}<>|\\:;,.!?¡¿"), " ")

YesNo = Literal["yes", "no"]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question that an automation asks, and the data for the events that report its answer."""

    request: QuestionRequest
    told: Mapping[str, Any]  # `tag` and `action_data`, unchanged
    reply: str = ""  # the action that accepts any sentence, or ""


def question_of(data: Mapping[str, Any], words: Words, codes: Sequence[str]) -> Asked | None:
    """Return the question, or None if the message has no button that can be answered by voice.

    `data.actions` is a list of `{action, title}`, as for the companion apps. An action can list its
    answers in `sentences` (hassil templates); otherwise, its title is the answer. `data.timeout` is
    the time to answer in seconds. `codes` are the languages spoken in this home.
    """
    actions = [one for one in rows(data.get("actions")) if text(one.get("action"))]
    spoken = [one for one in actions if one["action"] != _LINK]
    if not spoken:
        return None
    typed = [one for one in spoken if one["action"] == _REPLY or one.get("behavior") == _TYPED]
    given = manner_of(data)
    spoken_here = (*codes, str(given.get("language") or codes[0]))
    choices = _choices([one for one in spoken if one not in typed], words.text, spoken_here)
    if not choices and not typed:
        return None
    if choices and typed:  # without choices, any sentence is accepted anyway
        choices.append(Choice(id=text(typed[0]["action"]), sentences=[_ANY]))
    wanted = {
        "language": words.language,
        **given,
        "question": words.text,
        "answers": choices,
        "timeout_s": number(data.get("timeout")),
    }
    request = checked(
        QuestionRequest,
        {key: value for key, value in wanted.items() if value is not None},
        needed=("question", "answers"),
    )
    if request is None:
        return None
    told = {key: data[key] for key in ("tag", "action_data") if data.get(key) is not None}
    return Asked(request, told, text(typed[0]["action"]) if typed else "")


def _choices(
    actions: Sequence[Mapping[str, Any]], question: str, codes: Sequence[str]
) -> list[Choice]:
    forms = Forms(languages())  # titles can be in a different language from the answers
    meant = [_meaning(forms, text(one.get("title")), question) for one in actions]
    choices: dict[str, Choice] = {}
    for action, means in zip(actions, meant, strict=True):
        name = action["action"]
        sentences = _given(action.get("sentences"))
        if not sentences:
            title = plain(text(action.get("title")).translate(_SIGNS))
            sentences = [title] if any(sign.isalnum() for sign in title) else []
            if means is not None and meant.count(means) == 1:
                sentences = [*sentences, *_alike(means, tuple(codes))]
        short = [one for one in sentences if len(one) <= _LONGEST][:_MOST]
        if short and len(name) <= 100:
            choices.setdefault(name, Choice(id=name, sentences=short))
    return list(choices.values())[: _MOST - 1]


def _given(sentences: Any) -> list[str]:
    return [sentences] if isinstance(sentences, str) and sentences else list(texts(sentences))


def _meaning(forms: Forms, title: str, question: str) -> YesNo | None:
    for said in (title, title.partition(",")[0]):
        match forms.read(said, asked=question):
            case AnswerKind.YES | AnswerKind.ALWAYS:
                return "yes"
            case AnswerKind.NO:
                return "no"
    return None


@cache
def _alike(means: YesNo, codes: tuple[str, ...]) -> tuple[str, ...]:
    """Return the phrases for yes (or no) in these languages as hassil templates. A phrase that
    means no in one of the languages never counts as a yes."""
    bases = {code.lower().replace("_", "-").partition("-")[0] for code in codes}
    known = sorted(bases & set(languages())) or [FALLBACK]
    tables = [tomllib.loads((FOLDER / f"{one}.toml").read_text("utf-8")) for one in known]
    against = {phrase for table in tables for phrase in table["no"]} if means == "yes" else set()
    rows: list[str] = []
    for phrase in dict.fromkeys(phrase for table in tables for phrase in table[means]):
        if phrase in against:
            continue
        if not rows or len(rows[-1]) + len(phrase) + 3 > _LONGEST:
            rows.append(phrase)
        else:
            rows[-1] += f"|{phrase}"
    return tuple(f"({row})" for row in rows)
