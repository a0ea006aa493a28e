"""A notification with buttons as a spoken question, in the companion apps' own form. Pure."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from assistant.confirmation.forms import FALLBACK, AnswerKind, Forms
from assistant.confirmation.wording import FOLDER, languages
from assistant.interfaces.device.messages import Words, checked, manner_of, number, plain
from integrations.home_assistant.shapes import rows, text, texts
from integrations.web.requests import Choice, QuestionRequest

_REPLY, _TYPED = "REPLY", "textInput"  # an action whose answer is text, by its name or behaviour
_ANY = "{reply}"
_LINK = "URI"  # an action that opens a page: nothing to be said
_MOST, _LONGEST = 50, 300  # sentences of an answer, characters of one (`requests.Choice`)
_SIGNS = dict.fromkeys(map(ord, "()[]{}<>|\\:;,.!?¡¿"), " ")  # hassil's own, and what is not heard

YesNo = Literal["yes", "no"]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question of an automation's, and what its event will hold."""

    request: QuestionRequest
    told: Mapping[str, Any]  # `tag` and `action_data`, as they were given
    reply: str = ""  # the action that takes any words, "" where none does


def question_of(data: Mapping[str, Any], words: Words, codes: Sequence[str]) -> Asked | None:
    """The question, None where the message has no buttons that can be answered by voice.

    `data.actions` is a list of `{action, title}`, as the companion apps take it; `sentences` may be
    given with each, in hassil's form, else its title is the answer, and where that is a yes or no
    whatever else means the same. `data.timeout`: seconds for the answer. `codes`: the languages
    that people speak here.
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
    if choices and typed:  # any other words; without choices they are all taken anyhow
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
    forms = Forms(languages())  # titles are written by other people than those who answer
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
    """Whether a title is a yes or a no: "OK", "Yes, close it", "No, thanks"."""
    for said in (title, title.partition(",")[0]):
        match forms.read(said, asked=question):
            case AnswerKind.YES | AnswerKind.ALWAYS:
                return "yes"
            case AnswerKind.NO:
                return "no"
    return None


@cache
def _alike(means: YesNo, codes: tuple[str, ...]) -> tuple[str, ...]:
    """All that is a yes, or a no, in these languages, as few templates."""
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
