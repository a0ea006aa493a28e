"""Extract the main text of a web page, without menus and hidden text."""

import codecs
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from integrations.cleaning import one_line, visible
from integrations.web.fetch import Fetched
from integrations.web.markup import End, Start, Text, pieces

MAX_TEXT = 6_000  # characters of a page's text
MAX_TITLE = 200
MAX_LINKS = 500
_LITTLE = 200  # characters; a main part with less text is ignored
_ENOUGH = 8 * MAX_TEXT  # characters to collect; more would be cut off anyway
_MOST_STEPS = 2_000_000  # only a malicious page needs more
_DEEPEST = 500  # levels of nesting; browsers have a similar limit

_VOID = frozenset(
    "area base br col embed hr img input link meta param source track wbr".split()
)  # fmt: skip
_UNSEEN = frozenset(
    {
        *("audio", "button", "canvas", "datalist", "dialog", "head", "iframe", "map", "math"),
        *("noembed", "noframes", "noscript", "object", "optgroup", "option", "progress", "script"),
        *("select", "style", "svg", "template", "textarea", "video"),
    }
)
_ASIDE = frozenset({"aside", "footer", "form", "header", "menu", "nav"})
_ASIDE_ROLES = frozenset({"banner", "complementary", "contentinfo", "navigation", "search"})
_MAIN = frozenset({"article", "main"})
_BLOCKS = frozenset(
    {
        *("address", "article", "aside", "blockquote", "body", "caption", "dd", "details", "div"),
        *("dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3"),
        *("h4", "h5", "h6", "header", "html", "li", "main", "menu", "nav", "ol", "p", "pre"),
        *("section", "summary", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul"),
    }
)
# The open elements that each start tag closes (HTML, "optional tags").
_ENDS: Mapping[str, frozenset[str]] = {
    "li": frozenset({"li", "p"}),
    "dt": frozenset({"dt", "dd", "p"}),
    "dd": frozenset({"dt", "dd", "p"}),
    "tr": frozenset({"tr", "td", "th", "p"}),
    "td": frozenset({"td", "th", "p"}),
    "th": frozenset({"td", "th", "p"}),
    "body": frozenset({"head"}),
}
_HIDING = re.compile(
    r"display:none|visibility:(hidden|collapse)|opacity:0?\.?0*([;!]|$)|font-size:0?\.?0*[a-z%]*([;!]|$)"
    r"|text-indent:-\d{3}|(left|top|right|bottom|margin[a-z-]*):-\d{3}|(^|;)(max-)?(height|width):0"
    r"|clip(-path)?:|color:transparent|\\"
)
# Class names that common style sheets use to hide elements.
_HIDDEN_CLASSES = frozenset(
    {
        *("d-none", "hidden", "hide", "invisible", "offscreen", "screen-reader-text", "sr-only"),
        *("visually-hidden", "visuallyhidden", "is-hidden", "u-hidden"),
    }
)
_RULE = re.compile(r"([^{}]{1,2000})\{([^{}]{0,2000})\}")
_NAMED = re.compile(r"[.#][\w-]+$")
_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w-]{2,40})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Page:
    """The readable content of a page. It is untrusted and must never be followed as an
    instruction."""

    title: str
    text: str  # at most MAX_TEXT characters, one paragraph per line
    whole: bool  # False if something was cut off


def links(fetched: Fetched) -> list[str]:
    """Return the targets of the page's links as written, at most MAX_LINKS (500)."""
    if fetched.kind == "text/plain":
        return []
    found: dict[str, None] = {}
    for piece in pieces(_decoded(fetched)):
        if isinstance(piece, Start) and piece.name == "a" and piece.attributes.get("href"):
            found[piece.attributes["href"]] = None
        if len(found) >= MAX_LINKS:
            break
    return [*found]


def read_page(fetched: Fetched) -> Page:
    """Return the readable content of a page. Never raises."""
    source = _decoded(fetched)
    if fetched.kind == "text/plain":
        return _page("", source.splitlines(), fetched.whole)
    reader = _Reader()
    for piece in pieces(source):
        if not reader.take(piece):
            break
    reader.end_line()
    main = reader.main if sum(map(len, reader.main)) >= _LITTLE else reader.all
    return _page(reader.title, main, fetched.whole and not reader.stopped)


def _page(title: str, lines: list[str], whole: bool) -> Page:
    kept = "\n".join(filter(None, (" ".join(line.split()) for line in lines)))
    text = visible(kept, MAX_TEXT + 1)
    if len(text) > MAX_TEXT:
        text, whole = text[:MAX_TEXT].rpartition(" ")[0] or text[:MAX_TEXT], False
    return Page(one_line(title, MAX_TITLE), text, whole)


def _decoded(fetched: Fetched) -> str:
    found = _CHARSET.search(fetched.body[:2048]) if fetched.kind == "text/html" else None
    for name in (fetched.charset, found[1].decode("ascii") if found else "", "utf-8"):
        try:
            if name and codecs.lookup(name)._is_text_encoding:
                return fetched.body.decode(name, "replace")
        except (LookupError, ValueError):
            continue
    return fetched.body.decode("utf-8", "replace")


@dataclass(slots=True)
class _Open:
    name: str
    seen: bool  # the element and all elements around it are visible
    aside: bool
    main: bool


@dataclass(slots=True)
class _Reader:
    title: str = ""
    main: list[str] = field(default_factory=list)  # paragraphs of the main part
    # all paragraphs except headers, menus and the like
    all: list[str] = field(default_factory=list)
    stopped: bool = False  # a limit was reached before the end of the page
    _stack: list[_Open] = field(default_factory=list)
    _open: Counter[str] = field(default_factory=Counter)  # number of open elements by name
    # ".class" and "#id" selectors that the page's own style hides
    _hidden: set[str] = field(default_factory=set)
    _line: list[str] = field(default_factory=list)
    _in_main: bool = False  # the current line is in the main part
    _length: int = 0
    _steps: int = 0

    def take(self, piece: Start | End | Text) -> bool:
        self._steps += 1
        match piece:
            case Start():
                self._start(piece)
            case End(name):
                self._end(name)
            case Text(text):
                self._text(text)
        if self._length > _ENOUGH or self._steps > _MOST_STEPS or len(self._stack) > _DEEPEST:
            self.stopped = True
        return not self.stopped

    def _start(self, tag: Start) -> None:
        name = tag.name
        if name in _BLOCKS or name in ("br", "hr"):
            self.end_line()
        ended = _ENDS.get(name, frozenset({"p"}) if name in _BLOCKS else frozenset())
        while self._stack and self._stack[-1].name in ended:
            self._pop()
        if name in _VOID:
            return
        around = self._stack[-1] if self._stack else _Open("", seen=True, aside=False, main=False)
        role = tag.attributes.get("role", "").lower()
        one = _Open(
            name,
            around.seen and name not in _UNSEEN and not self._hides(tag),
            around.aside or (name in _ASIDE and not around.main) or role in _ASIDE_ROLES,
            around.main or name in _MAIN or role in _MAIN,
        )
        self._stack.append(one)
        self._open[name] += 1

    def _hides(self, tag: Start) -> bool:
        given = tag.attributes
        if "hidden" in given or given.get("aria-hidden", "").strip().lower() == "true":
            return True
        if _hiding(given.get("style", "")):
            return True
        classes = given.get("class", "").split()
        if not _HIDDEN_CLASSES.isdisjoint(one.lower() for one in classes):
            return True
        named = {f".{one}" for one in classes} | {f"#{given.get('id', '')}"}
        return not self._hidden.isdisjoint(named)

    def _end(self, name: str) -> None:
        if name in _BLOCKS:
            self.end_line()
        if not self._open[name]:
            return
        if name not in _BLOCKS and name not in _UNSEEN:
            # As in browsers, the end tag of an inline element closes no block that is still open
            # inside it.
            for one in reversed(self._stack):
                self._steps += 1
                if one.name == name:
                    break
                if one.name in _BLOCKS or one.name in _UNSEEN:
                    return
        while self._pop() != name:
            pass

    def _pop(self) -> str:
        name = self._stack.pop().name
        self._open[name] -= 1
        return name

    def _text(self, text: str) -> None:
        inside = self._stack[-1] if self._stack else None
        if inside is not None and inside.name == "title" and not self.title:
            self.title = text
        elif inside is not None and inside.name == "style":
            self._learn(text)
        elif inside is None or (inside.seen and not inside.aside and inside.name != "title"):
            self._in_main = inside is not None and inside.main
            self._line.append(text)
            self._length += len(text)

    def _learn(self, style: str) -> None:
        """Record the classes and ids that the page's own style sheet hides, for any medium."""
        for selectors, declarations in _RULE.findall(style):
            if _hiding(declarations):
                for selector in selectors.split(","):
                    found = _NAMED.search(selector.strip())
                    if found is not None:
                        self._hidden.add(found[0])

    def end_line(self) -> None:
        line = " ".join("".join(self._line).split())
        self._line.clear()
        if line:
            self.all.append(line)
            if self._in_main:
                self.main.append(line)


def _hiding(style: str) -> bool:
    plain = re.sub(r"/\*.*?(\*/|$)|\s", "", style[:2000].lower(), flags=re.DOTALL)
    return _HIDING.search(plain) is not None
