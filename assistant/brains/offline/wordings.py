"""Match sentences with free text or fixed wording: small talk, lists, timers and alarms.

Each `wordings/LANGUAGE.toml` contains the following, with regular expressions for whole sentences:

- `parts`: texts that replace placeholders such as `{list}` in the expressions. `polite` and `after`
  are words that can be left out at the start and at the end.
- `units`: how lengths of time are written in the strict templates.
- `talk`, `lists`, `answers`: expressions by meaning.
- `continued`: sentences that continue the conversation, by meaning: `also` repeats the last command
  or question for something else, `instead` corrects it, and `only` keeps a part of it.
- `rewords`: expressions, and the wording of a strict template that replaces each (`as`). "§" stands
  for a length of time. An expression with `after` fits only after a command about a "timer",
  "alarm" or "reminder", one that runs "later", or a timer without a "length".
- `commands`: the same for commands to devices: "make sure the lamp is off" is "turn off the lamp".
"""

import re
import tomllib
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType

_FOLDER = Path(__file__).parent / "wordings"
_END = " \t,.!?¡¿;:"
_PLACEHOLDER = re.compile(r"\{(\w*[a-z]\w*)\}")  # not a repetition such as {0,2}
LENGTH = "§"


@dataclass(frozen=True, slots=True)
class _Wordings:
    topics: Mapping[str, tuple[tuple[str, re.Pattern[str]], ...]]
    # By topic: template, intent before, expression.
    rewords: Mapping[str, tuple[tuple[str, str, re.Pattern[str]], ...]]
    units: Mapping[str, str]
    before: re.Pattern[str]
    after: re.Pattern[str]


@cache
def _load(language: str) -> _Wordings | None:
    path = _FOLDER / f"{language}.toml"
    if not path.exists():
        return None
    written = tomllib.loads(path.read_text(encoding="utf-8"))
    parts: dict[str, str] = written["parts"]

    def pattern(text: str) -> re.Pattern[str]:
        while _PLACEHOLDER.search(text):  # a part can contain other parts
            text = _PLACEHOLDER.sub(lambda found: parts[found[1]], text)
        return re.compile(_without_accents(text), re.IGNORECASE)

    return _Wordings(
        {
            topic: tuple(
                (key, pattern(text)) for key, texts in written[topic].items() for text in texts
            )
            for topic in ("talk", "lists", "answers", "continued")
        },
        {
            topic: tuple(
                (one["as"], one.get("after", ""), pattern(text))
                for one in written[topic]
                for text in one["said"]
            )
            for topic in ("rewords", "commands")
        },
        written["units"],
        pattern(rf"(?:{parts['polite']})\b[ ,]+"),
        pattern(rf"[ ,]+(?:{parts['after']})$"),
    )


def _without_accents(text: str) -> str:
    """Return a text of the same length without accents, which people often leave out."""
    return "".join(unicodedata.normalize("NFKD", one)[0] for one in text)


def wordings(topic: str, text: str, language: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the meanings of a sentence in a topic, each with the texts of its named groups."""
    known = _load(language)
    for said in _without_politeness(text, known) if known is not None else ():
        plain = _without_accents(said)
        for key, pattern in known.topics[topic] if known is not None else ():
            if (found := pattern.fullmatch(plain)) is not None:
                yield key, _groups(found, said)


def reworded(
    text: str,
    language: str,
    length: Mapping[str, int] = MappingProxyType({}),
    after: str = "",
    topic: str = "rewords",
) -> Iterator[str]:
    """Yield the sentence in the words of the templates of a topic. `length` is the length of time
    that LENGTH stands for: hours, minutes and seconds. `after` selects the expressions."""
    known = _load(language)
    if known is None:
        return
    span = " ".join(f"{number} {known.units[unit]}" for unit, number in length.items())
    for said in _without_politeness(text, known):
        plain = _without_accents(said)
        for template, needed, pattern in known.rewords[topic]:
            if needed == after and (found := pattern.fullmatch(plain)) is not None:
                filled = template
                for name, part in _groups(found, said).items():
                    filled = filled.replace(f"{{{name}}}", part)
                yield filled.replace(LENGTH, span)


def shortened(text: str, language: str) -> Iterator[str]:
    """Yield the sentence, and then the sentence with one more polite word removed each time."""
    known = _load(language)
    return _without_politeness(text, known) if known is not None else iter(())


def _groups(found: re.Match[str], said: str) -> dict[str, str]:
    """Return the texts of the named groups as they are written in the sentence."""
    spans = {name: said[slice(*found.span(name))] for name in found.groupdict() if found[name]}
    return {name: part.strip() for name, part in spans.items()}


def _without_politeness(text: str, known: _Wordings) -> Iterator[str]:
    """Yield the sentence, and then the sentence with one more polite word removed each time."""
    said = " ".join(unicodedata.normalize("NFC", text).replace("’", "'").split()).strip(_END)
    while said:
        yield said
        plain = _without_accents(said)
        if (ended := known.after.search(plain)) is not None:
            yield said[: ended.start()].strip(_END)
        begun = known.before.match(plain)
        if begun is None:
            return
        said = said[begun.end() :].strip(_END)
