"""Every converter on the whole corpus, and on menus of growing size, in one run."""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from itertools import cycle
from statistics import median
from typing import Protocol

from tests.benchmarks.converters import PEERS, Ours, Theirs, running
from tests.benchmarks.peers.environment import PeerMissing, Say
from tests.benchmarks.schema_corpus import Case, cases
from tests.benchmarks.schema_judge import Converted, Json, Judged, Verdict, judge

SIZES = (16, 50, 500, 1_000)  # tools of a menu
HEARTH = "Hearth"


class Converter(Protocol):
    """Ours or a peer's."""

    async def converted(self, cases: Sequence[Case]) -> list[Converted]: ...

    async def ms(self, tools: Sequence[Json]) -> float: ...


@dataclass(frozen=True, slots=True)
class Column:
    """The output of one converter for the corpus."""

    title: str
    judged: tuple[Judged, ...]  # in the corpus's order
    unwarned: int = 0  # that are right also if warnings count for nothing: the model is told all
    versions: Mapping[str, str] = field(default_factory=dict)  # of it and of what it sends with

    def counts(self) -> dict[Verdict, int]:
        """Return the number of each verdict."""
        found = Counter(one.verdict for one in self.judged)
        return {verdict: found[verdict] for verdict in Verdict}


@dataclass(frozen=True, slots=True)
class Comparison:
    """All results of one run."""

    cases: tuple[Case, ...]
    columns: tuple[Column, ...]  # ours first
    missing: dict[str, str]  # title -> why it could not be asked
    ms: dict[int, dict[str, tuple[float, ...]]]  # size -> title -> of CPU, of each pass
    own_ms: dict[int, float]  # size -> of ours, what is not google-genai's; the median


async def compare(passes: int, say: Say, sizes: Sequence[int] = SIZES) -> Comparison:
    """Judge them all, then time menus `passes` times in turns."""
    corpus = cases()
    async with AsyncExitStack() as stack:
        ours = Ours()
        converters: dict[str, Converter] = {HEARTH: ours}
        columns, missing = [await _column(HEARTH, ours, corpus)], dict[str, str]()
        for peer in PEERS:
            say(f"{peer.title}: {len(corpus)} tools")
            try:
                theirs = await stack.enter_async_context(running(peer, say))
                columns.append(await _column(peer.title, theirs, corpus))
            except PeerMissing as error:
                missing[peer.title] = str(error)
                continue
            converters[peer.title] = theirs
        taken = home_tools(corpus, columns)
        menus = {size: menu(taken, size) for size in sizes}
        ms = {size: await _timed(converters, tools, passes, say) for size, tools in menus.items()}
    own_ms = {
        size: median(ours.own_ms(tools) for _ in range(passes)) for size, tools in menus.items()
    }
    return Comparison(tuple(corpus), tuple(columns), missing, ms, own_ms)


def home_tools(corpus: Sequence[Case], columns: Sequence[Column]) -> list[Case]:
    """Return the tools in a home's shapes that crash no converter, so that all can be timed on
    them."""
    crashed = {
        case.name
        for column in columns
        for case, judged in zip(corpus, column.judged, strict=True)
        if judged.verdict is Verdict.CRASH
    }
    return [case for case in corpus if case.group == "home" and case.name not in crashed]


def menu(some: Sequence[Case], size: int) -> list[Json]:
    """Repeat these tools up to `size`, no two of them the same."""
    tools = []
    for number, case in zip(range(size), cycle(some), strict=False):
        schema = dict(case.schema)
        schema["properties"] = {**schema["properties"], f"argument_{number}": {"type": "string"}}
        listed = case.listed()
        tools.append({**listed, "name": f"{listed['name']}_{number}", "inputSchema": schema})
    return tools


async def _column(title: str, converter: Converter, corpus: Sequence[Case]) -> Column:
    made = await converter.converted(corpus)
    pairs = list(zip(corpus, made, strict=True))
    judged = tuple(judge(case, one) for case, one in pairs)
    mute = [judge(case, replace(one, reports=())) for case, one in pairs]
    unwarned = sum(one.verdict is Verdict.RIGHT for one in mute)
    return Column(
        title, judged, unwarned, converter.versions if isinstance(converter, Theirs) else {}
    )


async def _timed(
    converters: Mapping[str, Converter], tools: Sequence[Json], passes: int, say: Say
) -> dict[str, tuple[float, ...]]:
    """Return the ms of CPU of each converter; each pass shuffles their order."""
    say(f"a menu of {len(tools)} tools, {passes} times each")
    chance, taken = random.Random(1), {title: list[float]() for title in converters}
    for number in range(-1, passes):  # the first does not count
        order = list(converters)
        chance.shuffle(order)
        for title in order:
            ms = await converters[title].ms(tools)
            if number >= 0:
                taken[title].append(ms)
    return {title: tuple(values) for title, values in taken.items()}
