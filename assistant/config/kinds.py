"""Types of settings. Their error messages complete a sentence that begins with the key."""

import re
from collections.abc import Hashable, Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, SecretStr

TOKEN_PREFIX = "auth_tokens/"  # of Gemini's ephemeral tokens
SHORTEST_TOKEN = 16  # minimum length of the HTTP token in characters; generated tokens have 43
_LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")
_TIME = re.compile(r"([01]\d|2[0-3]):[0-5]\d")


class Section(BaseModel):
    """A table of the configuration file. It is immutable and rejects unknown keys."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", populate_by_name=True, hide_input_in_errors=True
    )


def _language(code: str) -> str:
    if not _LANGUAGE.fullmatch(code):
        raise ValueError('must be a language code such as "en" or "es-MX"')
    return code


def _language_or_empty(code: str) -> str:
    return _language(code) if code else code


def _time_of_day(text: str) -> str:
    if not _TIME.fullmatch(text):
        raise ValueError('must be a time such as "22:00"')
    return text


def _time_of_day_or_empty(text: str) -> str:
    return _time_of_day(text) if text else text


def _web_address(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError('must be an address such as "http://192.168.1.5:8123"')
    return url.rstrip("/")


def _home_address(url: str) -> str:
    return url if url == "demo" else _web_address(url)


def _web_address_or_empty(url: str) -> str:
    return _web_address(url) if url else url


def _callback(url: str) -> str:
    parts = urlsplit(url)
    plain = not (parts.query or parts.fragment or "@" in parts.netloc)
    if parts.scheme not in ("http", "https") or not parts.hostname or not plain:
        raise ValueError(
            'must be addresses such as "http://192.168.1.5:8123/auth/external/callback"'
        )
    return url


def _plain_name(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_-]+", name):
        raise ValueError('must contain only letters, digits, "-" and "_"')
    return name


def _notify_name(name: str) -> str:
    if name and not re.fullmatch(r"[a-z0-9_]+", name):
        raise ValueError('must be the name of a notify action such as "mobile_app_pixel"')
    return name


def _model_name(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._/-]*", name):
        raise ValueError('must be the name of a model, such as "gemini-3.8-live"')
    return name


def _local_model(name: str) -> str:
    if name.split() not in ([], [name]):
        raise ValueError('must be the name of a model on the server, such as "qwen3:4b-instruct"')
    return name


def _topic(topic: str) -> str:
    if not re.fullmatch(r"[^/+#\s\x00$][^+#\s\x00]*(?<!/)", topic) or len(topic) > 100:
        raise ValueError('must be a topic such as "hearth/kitchen", without +, # and spaces')
    return topic


def _topic_or_empty(topic: str) -> str:
    return _topic(topic) if topic else topic


def _home_folder(text: str) -> str:
    return str(Path(text).expanduser()) if text.startswith("~/") else text


def _http_token(token: SecretStr) -> SecretStr:
    given = token.get_secret_value().strip()
    if given and len(given) < SHORTEST_TOKEN:
        raise ValueError(
            f"must have at least {SHORTEST_TOKEN} characters; leave it out and create one with "
            "`hearth token create admin`"
        )
    return token


def _pin(pin: SecretStr) -> SecretStr:
    if not re.fullmatch(r"([0-9]{4,12})?", pin.get_secret_value()):
        raise ValueError("must be 4 to 12 digits")
    return pin


def at_least_one(values: tuple[object, ...]) -> tuple[object, ...]:
    if not values:
        raise ValueError("must have at least one entry")
    return values


def no_repeats(values: tuple[Hashable, ...]) -> tuple[Hashable, ...]:
    if len(set(values)) < len(values):
        raise ValueError("must not contain duplicates")
    return values


def _as_list(given: object) -> object:
    return [given] if isinstance(given, str) else given


Flag = Annotated[bool, Field(strict=True)]
Count = Annotated[int, Field(strict=True, ge=0)]
Positive = Annotated[int, Field(strict=True, ge=1)]
Port = Annotated[int, Field(strict=True, ge=1, le=65535)]
Amount = Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)]
Seconds = Annotated[float, Field(strict=True, gt=0, allow_inf_nan=False)]
Speed = Annotated[float, Field(strict=True, ge=0.25, le=4)]
Volume = Annotated[float, Field(strict=True, ge=0, le=2)]
Language = Annotated[str, AfterValidator(_language)]
OptionalLanguage = Annotated[str, AfterValidator(_language_or_empty)]
TimeOfDay = Annotated[str, AfterValidator(_time_of_day)]
OptionalTime = Annotated[str, AfterValidator(_time_of_day_or_empty)]
HomeAddress = Annotated[str, AfterValidator(_home_address)]  # "demo" or a web address
Callback = Annotated[
    str, AfterValidator(_callback)
]  # not normalised, because it is compared exactly
OptionalWebAddress = Annotated[str, AfterValidator(_web_address_or_empty)]
NotifyName = Annotated[str, AfterValidator(_notify_name)]  # without "notify."; may be empty
PlainName = Annotated[str, AfterValidator(_plain_name)]
PlainNameOrEmpty = Annotated[str, AfterValidator(lambda name: name and _plain_name(name))]
ModelName = Annotated[str, AfterValidator(_model_name)]
Thinking = Literal["", "low", "medium", "high"]
ModelNames = Annotated[  # a single name may be given as text
    tuple[ModelName, ...],
    BeforeValidator(_as_list),
    AfterValidator(at_least_one),
    AfterValidator(no_repeats),
]
OptionalLocalModel = Annotated[str, AfterValidator(_local_model)]
NameOrPath = Annotated[str, AfterValidator(_home_folder)]  # a leading ~/ is expanded
Topic = Annotated[str, AfterValidator(_topic)]
TopicBase = Annotated[str, AfterValidator(_topic_or_empty)]
HttpToken = Annotated[SecretStr, AfterValidator(_http_token)]  # may be empty
Pin = Annotated[SecretStr, AfterValidator(_pin)]
Texts = tuple[str, ...]
BrainName = Literal["gemini-live", "gemini-once", "home-assistant", "local", "offline"]
NO_SECRET = SecretStr("")


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that is most similar to `name`, or None if none is similar enough."""
    found = get_close_matches(name.lower(), list(known), n=1, cutoff=0.6)
    return found[0] if found else None


def one_of(names: Iterable[str]) -> str:
    """Join names into a list such as "a, b or c"."""
    *first, last = names
    return f"{', '.join(first)} or {last}" if first else last
