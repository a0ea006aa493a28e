"""`send_to_phone`: a message to somebody's phone, through Home Assistant's companion app."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from assistant.domain.outcome import Tier
from assistant.speech.catalogue import Catalogue
from assistant.tools.builtin.protocol import BuiltIn, BuiltInRequest, BuiltInResult, one_line
from assistant.tools.house.names import folded, stemmed
from integrations.home_assistant.house import House
from integrations.home_assistant.phones import Phone, Phones

SEND_TO_PHONE = "send_to_phone"
MAX_MESSAGE = 2_000  # characters; a phone shows a few hundred and the rest when it is opened
MAX_TITLE = 80
MAX_OPTIONS = 8

# Not what tells one phone from another: in English and Spanish, stemmed.
_GENERIC = frozenset(
    stemmed(word)
    for word in (
        *("phone", "mobile", "cell", "cellphone", "telephone", "smartphone", "device", "the", "my"),
        *("teléfono", "móvil", "celular", "dispositivo", "el", "mi", "de", "del", "to", "of", "al"),
    )
)
# Words alone in a message that the companion apps take for an order: "clear_notification", "TTS".
_ORDER = re.compile(r"(?i)tts|[a-z]+(?:_[a-z]+)+")


class SendToPhone:
    """Sends what a person wants to have on a phone."""

    def __init__(self, phones: Phones, house: Callable[[], House], catalogue: Catalogue) -> None:
        """`house`: the newest picture."""
        self._phones = phones
        self._house = house
        self._catalogue = catalogue

    def tool(self) -> BuiltIn:
        """The tool for the menu."""
        return BuiltIn(
            name=SEND_TO_PHONE,
            description="Sends a message to a phone of this household as a notification. Call it "
            "when the person wants something sent, texted or shown on a phone, theirs or somebody "
            "else's. It is not for speaking in a room.",
            schema={
                "type": "object",
                "properties": {
                    "message": {
                        "type": "string",
                        "description": "What the phone shows, written to be read, with line breaks "
                        "where it is a list.",
                    },
                    "to": {
                        "type": "string",
                        "description": "The person's or the phone's name. Leave it out where none "
                        "was said.",
                    },
                    "title": {"type": "string", "description": "A few words, if they help."},
                },
                "required": ["message"],
            },
            tier=Tier.COMFORT,
            run=self._run,
            needed=lambda: may_have_phones(self._house()),
            guests=False,
        )

    async def _run(self, arguments: Mapping[str, Any], request: BuiltInRequest) -> BuiltInResult:
        message = readable(str(arguments["message"]))
        if not message:
            return self._failed("phone.empty", request)
        known = await self._phones.all()
        if not known:
            return self._failed("phone.none", request)
        name = str(arguments.get("to", ""))
        meant = choose(known, name)
        if len(meant) != 1:
            options = tuple(one_line(phone.name) for phone in (meant or known)[:MAX_OPTIONS])
            key = "phone.which" if meant else "phone.unknown"
            return self._failed(key, request, options, name=one_line(name))
        title = one_line(str(arguments.get("title", "")))[:MAX_TITLE]
        await self._phones.send(meant[0], message, title)
        sentence = self._catalogue.say("phone.sent", request.language, name=one_line(meant[0].name))
        return BuiltInResult(sentence)

    def _failed(
        self, key: str, request: BuiltInRequest, options: tuple[str, ...] = (), **values: str
    ) -> BuiltInResult:
        sentence = self._catalogue.say(key, request.language, **values)
        return BuiltInResult(sentence, failed=True, valid_options=options)


def may_have_phones(house: House) -> bool:
    """Whether a phone may be there: each comes with a device tracker."""
    return any(entity_id.startswith("device_tracker.") for entity_id in house.entities)


def choose(phones: Sequence[Phone], name: str) -> list[Phone]:
    """The phones that a name may mean; all of them for none, or for "my phone".

    A name must be known whole: what is for Ana María is not sent to Ana.
    """
    whole = [one for one in phones if any(folded(known) == folded(name) for known in one.names)]
    if whole:
        return whole
    words = _words([name]) - _GENERIC
    return [phone for phone in phones if words <= _words(phone.names)]


def readable(text: str) -> str:
    """A message as it may be shown: of its invisible signs only line breaks stay, and it ends.

    A word that a companion app would obey gets a full stop, which makes it a word.
    """
    lines = (_printable(line) for line in text[: 2 * MAX_MESSAGE].splitlines())
    message = re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()[:MAX_MESSAGE].rstrip()
    return f"{message}." if _ORDER.fullmatch(message) else message


def _printable(line: str) -> str:
    """Joiners stay too: many a picture sign is made of several."""
    kept = (" " if sign == "\t" else sign for sign in line)
    return "".join(
        sign for sign in kept if sign == "\u200d" or not unicodedata.category(sign).startswith("C")
    ).rstrip()


def _words(names: Iterable[str]) -> frozenset[str]:
    """Of all names, without plurals and "'s"."""
    return frozenset(
        stemmed(word) for name in names for word in re.findall(r"\w+", folded(name)) if word
    )
