"""Conversion of a speech grammar into a minimal word network.

pocketsphinx's own conversion copies each rule to every place where the rule is used. In this
module, positions that can be followed by the same words share a state, which results in about a
tenth of the states and arcs. The weights and the best path are the same.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pocketsphinx

# Pronunciations come from CMUdict in pocketsphinx's wheel, and only those needed are read. A
# decoder that loads all 134,000 words needs 22 MB and 0.15 s for them, while a grammar has about a
# hundred.


_FILE = "en-us/cmudict-en-us.dict"  # one line for each pronunciation: "a AH", "a(2) EY"


def readings(words: Iterable[str]) -> Mapping[str, tuple[str, ...]]:
    """Return the pronunciations of these words, each as phones separated by spaces. Unknown words
    are left out. Reads the dictionary file, which takes 50 ms."""
    wanted = {word.encode() for word in words}
    found = dict[bytes, list[bytes]]()
    if wanted:
        with Path(pocketsphinx.get_model_path(_FILE)).open("rb") as file:
            for line in file:
                spelled, _, phones = line.partition(b" ")
                word = spelled.partition(b"(")[0] or spelled
                if word in wanted:
                    found.setdefault(word, []).append(phones.strip())
    return {
        word.decode(): tuple(phones.decode() for phones in several)
        for word, several in found.items()
    }


_RULE = re.compile(r"\s*(public\s+)?<([^<>\s]+)>\s*=\s*([^;]*);")
_TOKEN = re.compile(r"<[^<>\s]+>|[()\[\]|+]|[^\s<>()\[\]|+*/{}]+")
_HEADER = re.compile(r"\s*#JSGF[^;]*;\s*grammar[^;]*;")

_Arcs = dict[tuple[str, int], float]  # (word or "" for none, next state) -> weight


@dataclass(frozen=True, slots=True)
class Arc:
    source: int  # state
    target: int  # state
    weight: float  # 0 to 1
    word: str  # "" for an arc without a word


@dataclass(frozen=True, slots=True)
class Network:
    """A network of words. Each path from `start` to `final` is a valid sentence."""

    start: int  # state
    final: int  # state
    arcs: tuple[Arc, ...]  # includes a direct arc for each chain of arcs without a word

    def words(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(arc.word for arc in self.arcs if arc.word))


def network_of(jsgf: str) -> Network:
    """Build the network of a grammar that has one public rule. Supports the words, rules, groups,
    alternatives, `[optional]` parts and `+` of the JSpeech Grammar Format. Raises ValueError if the
    grammar can't be converted."""
    public, rules = _rules(jsgf)
    states = _States()
    entry = states.of(_Weaver(rules, states).rule(public, states.final))
    return Network(entry, states.final, tuple(states.arcs_from(entry)))


class _States:
    final = 0

    def __init__(self) -> None:
        self._arcs: list[_Arcs] = [{}]
        self._known: dict[frozenset[tuple[tuple[str, int], float]], int] = {}

    def of(self, arcs: _Arcs) -> int:
        closed = self._closed(arcs)
        key = frozenset(closed.items())
        if key not in self._known:
            self._known[key] = len(self._arcs)
            self._arcs.append(closed)
        return self._known[key]

    def fresh(self) -> int:
        self._arcs.append({})
        return len(self._arcs) - 1

    def tell(self, state: int, arcs: _Arcs) -> None:
        self._arcs[state] = self._closed(arcs)

    def arcs_from(self, start: int) -> Iterator[Arc]:
        seen, waiting = {start}, [start]
        while waiting:
            state = waiting.pop()
            for (word, target), weight in self._arcs[state].items():
                yield Arc(state, target, weight, word)
                if target not in seen:
                    seen.add(target)
                    waiting.append(target)

    def _closed(self, arcs: _Arcs) -> _Arcs:
        """Return the arcs with a direct arc added for each chain of arcs without a word."""
        closed = dict(arcs)
        for (word, target), weight in arcs.items():
            if not word:
                further = self._arcs[target].items()
                _add(closed, {key: more for key, more in further if not key[0]}, weight)
        return closed


class _Weaver:
    """Builds states from rules, last word first, because a state needs the states that
    follow it."""

    def __init__(self, rules: Mapping[str, list[str]], states: _States) -> None:
        self._rules = rules
        self._states = states
        self._made: dict[tuple[str, int], _Arcs] = {}
        self._open: list[str] = []  # rules in progress

    def rule(self, name: str, after: int) -> _Arcs:
        """Return the first arcs of a rule that is followed by the state `after`."""
        made = self._made.get((name, after))
        if made is None:
            if name not in self._rules:
                raise ValueError(f"there is no rule {name}")
            if name in self._open:
                raise ValueError(f"the rule {name} contains itself")
            self._open.append(name)
            tokens = self._rules[name]
            made = self._alternatives(tokens, 0, len(tokens), after)
            self._open.pop()
            self._made[name, after] = made
        return made

    def _alternatives(
        self, tokens: list[str], start: int, end: int, after: int, *, optional: bool = False
    ) -> _Arcs:
        bars = [at for at, depth in _depths(tokens, start, end) if not depth and tokens[at] == "|"]
        edges = [start - 1, *bars, end]
        share = 1 / (len(edges) - 1 + optional)
        arcs: _Arcs = {("", after): share} if optional else {}
        for before, behind in pairwise(edges):
            _add(arcs, self._sequence(tokens, before + 1, behind, after), share)
        return arcs

    def _sequence(self, tokens: list[str], start: int, end: int, after: int) -> _Arcs:
        if start == end:
            raise ValueError("an alternative is empty")
        arcs: _Arcs = {}
        while end > start:
            again = tokens[end - 1] == "+"
            last = end - 1 - again
            first = _opening(tokens, start, last)
            if again:
                arcs = self._repeated(tokens, first, last, after)
            else:
                arcs = self._item(tokens, first, last, after)
            end = first
            if end > start:
                after = self._states.of(arcs)
        return arcs

    def _item(self, tokens: list[str], first: int, last: int, after: int) -> _Arcs:
        token = tokens[first]
        if token in "([":
            return self._alternatives(tokens, first + 1, last, after, optional=token == "[")
        if token.startswith("<"):
            return self.rule(token[1:-1], after)
        return {(token, after): 1.0}

    def _repeated(self, tokens: list[str], first: int, last: int, after: int) -> _Arcs:
        behind = self._states.fresh()
        arcs = self._item(tokens, first, last, behind)
        if any(not word for word, _ in arcs):
            raise ValueError("a repeated part can be empty")
        self._states.tell(behind, {("", after): 0.5, ("", self._states.of(arcs)): 0.5})
        return arcs


def _add(arcs: _Arcs, more: _Arcs, share: float) -> None:
    for key, weight in more.items():
        arcs[key] = max(arcs.get(key, 0.0), share * weight)


def _rules(jsgf: str) -> tuple[str, dict[str, list[str]]]:
    header = _HEADER.match(jsgf)
    at, end = header.end() if header else 0, len(jsgf.rstrip())
    public, rules = "", dict[str, list[str]]()
    while at < end:
        found = _RULE.match(jsgf, at)
        if found is None:
            raise ValueError(f"no rule begins at {jsgf[at : at + 40].strip()!r}")
        name, body = found[2], found[3]
        if "".join(_TOKEN.findall(body)) != "".join(body.split()):
            raise ValueError(f"the rule {name} contains an unknown character")
        rules[name] = _TOKEN.findall(body)
        public = name if found[1] else public
        at = found.end()
    if not public:
        raise ValueError("no rule is public")
    return public, rules


def _depths(tokens: list[str], start: int, end: int) -> Iterator[tuple[int, int]]:
    depth = 0
    for at in range(start, end):
        depth -= tokens[at] in ")]"
        if depth < 0:
            raise ValueError("a closing bracket has no opening bracket")
        yield at, depth
        depth += tokens[at] in "(["
    if depth:
        raise ValueError("an opening bracket is not closed")


def _opening(tokens: list[str], start: int, last: int) -> int:
    depth = 0
    for at in range(last, start - 1, -1):
        depth += (tokens[at] in ")]") - (tokens[at] in "([")
        if not depth:
            if tokens[at] in ("|", "+"):
                break
            return at
    raise ValueError("a bracket or a + is in an invalid place")
