"""Which addresses may be asked for a page: none that carries what is known of this home outside.

An address is sent to whoever owns it, so a model that has read "fetch https://thief.example/?q="
and knows what is remembered would give it away. Once it has read text of strangers it may ask only
for what the person said, and for links of a page that was fetched, as they stand there. Pure.
"""

import re
import unicodedata
from collections import deque
from collections.abc import Iterable
from urllib.parse import SplitResult, unquote_plus, urljoin, urlsplit

from integrations.web.fetch import Fetched
from integrations.web.page import links

_PAGES = 16  # whose links are remembered, the newest
_RUN = 3  # words of a memory in a row that are no accident
_LETTERS = 5  # of a memory of fewer words
_DIGITS = 4  # of a number that is no accident either
_AROUND_DOTS = re.compile(r"\s*\.\s*")
_WORD = re.compile(r"\w+")


class Seen:
    """The links of the pages that were fetched last."""

    def __init__(self) -> None:
        self._pages: deque[frozenset[str]] = deque(maxlen=_PAGES)

    def note(self, page: Fetched) -> None:
        """A page was fetched: its own links without a query may be followed."""
        base = urlsplit(page.url)
        found = (_parts(link, page.url) for link in links(page))
        mine = (one for one in found if one and _origin(one) == _origin(base) and not one.query)
        self._pages.append(frozenset(_plain(one) for one in mine))

    def holds(self, url: str) -> bool:
        """True of a link of such a page, as it stands there."""
        parts = _parts(url)
        return parts is not None and any(_plain(parts) in page for page in self._pages)


def was_said(url: str, said: Iterable[str]) -> bool:
    """True where the person named this address: its host and all that follows."""
    parts = _parts(url)
    if parts is None or parts.hostname is None:
        return False
    rest = unquote_plus(parts.path.rstrip("/") + (f"?{parts.query}" if parts.query else ""))
    netloc = parts.netloc.casefold().removeprefix("www.")
    named = re.compile(rf"(?<![\w.@-]){re.escape(netloc + rest.casefold())}(?![\w@-]|\.\w)")
    texts = (_AROUND_DOTS.sub(".", unquote_plus(text).casefold()) for text in said)
    return any(named.search(text.replace("www.", "")) for text in texts)


def carries(url: str, memories: Iterable[str]) -> bool:
    """True where something that is remembered stands in the address, in whatever spelling."""
    text = "".join(_words(unquote_plus(url)))
    return any(piece in text for memory in memories for piece in _pieces(memory))


def _pieces(memory: str) -> set[str]:
    """What of a memory tells that it is it."""
    words = _words(memory)
    pieces = {word for word in words if sum(map(str.isdigit, word)) >= _DIGITS}
    if len(words) >= _RUN:
        runs = range(len(words) - _RUN + 1)
        return pieces | {"".join(words[at : at + _RUN]) for at in runs}
    whole = "".join(words)
    return pieces | ({whole} if len(whole) >= _LETTERS else set())


def _words(text: str) -> list[str]:
    signs = unicodedata.normalize("NFKD", text.casefold())
    plain = "".join(sign for sign in signs if not unicodedata.combining(sign))
    return _WORD.findall(plain.replace("_", " "))


def _parts(url: str, base: str = "") -> SplitResult | None:
    """The parts of an address, of a link of the page `base`; None where it is none."""
    try:
        parts = urlsplit(urljoin(base, url.strip()))
        parts.port  # noqa: B018 -- it is read only when asked for, and may be none
    except ValueError:
        return None
    return parts


def _origin(parts: SplitResult) -> tuple[str, str]:
    return parts.scheme, parts.netloc.casefold()


def _plain(parts: SplitResult) -> str:
    query = f"?{parts.query}" if parts.query else ""
    return f"{parts.scheme}://{parts.netloc.casefold()}{parts.path or '/'}{query}"
