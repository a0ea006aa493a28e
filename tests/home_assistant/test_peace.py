"""Tests that a household's week hardly ever makes Hearth ask, and is never refused.

`household.tsv` holds the sentences with the calls that a good model makes of them. They are judged
as the program judges them, in a real house with its names and rooms; nothing is run.
"""

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from assistant.app.build import open_app
from assistant.app.home import HomeContext
from assistant.config.schema import Settings
from assistant.domain.tool_call import Decision, Tier
from assistant.tools.house.intents import INTENTS, suffix
from audio.player import NullPlayer
from tests.home_assistant.conftest import Address, real_only

FILE = Path(__file__).with_name("household.tsv")
SENTENCES = 200
MOST = 0.03  # fewer than this part may ask


@dataclass(frozen=True, slots=True)
class Said:
    """A sentence and a good model's calls for it."""

    language: str
    text: str
    calls: tuple[tuple[str, dict[str, Any]], ...]  # by the part of the tool's name that stays
    reached: frozenset[str]
    asked: str  # the rules by which it is asked about, "" where it is not


def household() -> list[Said]:
    rows = []
    for line in FILE.read_text().splitlines():
        if line.startswith("#"):
            continue
        language, text, calls, reached, asked = line.split("\t")
        parts = [call.partition(" ") for call in calls.split(" | ")]
        named = tuple((tool, json.loads(arguments)) for tool, _, arguments in parts)
        rows.append(Said(language, text, named, frozenset(reached.split()), asked))
    return rows


def still(home: HomeContext, said: Said) -> set[str]:
    """Return unreachable things of the sentence: not playing, or left off by another test."""
    wanted = [state for tool, _ in said.calls if tool in INTENTS for state in INTENTS[tool].states]
    entities = home.client.house.entities
    players = [name for name in said.reached if name.startswith("media_player.")]
    states = {name: entities[name].state for name in players}
    away = {name for name in players if not entities[name].features}  # as one that is off has none
    return away | {name for name, state in states.items() if wanted and state not in wanted}


async def judged(home: HomeContext, names: dict[str, str], said: Said) -> tuple[str, list[str]]:
    """Return the rules by which it would be asked about, and the errors."""
    asked, wrong, reached = [], [], set()
    for tool, arguments in said.calls:
        explained = await home.tools.explain(names.get(tool, tool), arguments, said.text)
        if explained is None:
            wrong.append(f"there is no tool {tool}")
            continue
        _, verdict = explained
        reached |= set(verdict.entities)
        if verdict.decision is Decision.NEEDS_CONFIRMATION:
            asked.append(verdict.rule)
        elif verdict.decision is Decision.DENIED:
            wrong.append(f"refused by {verdict.rule}")
    if reached != said.reached - still(home, said):
        wrong.append(f"reaches {sorted(reached)}")
    return " ".join(asked), wrong


def test_the_household_speaks_two_languages() -> None:
    rows = household()
    assert len({said.text for said in rows}) == len(rows) == SENTENCES
    assert Counter(said.language for said in rows) == {"en": 134, "es": 66}


@real_only
@pytest.mark.changes_nothing
@pytest.mark.since(2026, 11)  # whose tools older releases have not all
async def test_hardly_anything_is_asked_and_nothing_refused(house: Address, tmp_path: Path) -> None:
    if house.kind != "english":
        pytest.skip("the sentences are about the English house")
    given = {
        "assistant": {"data": str(tmp_path), "area": "Kitchen", "languages": ["en", "es"]},
        "home_assistant": {"url": house.url, "token": house.token},
        "brain": {"order": ["offline"]},
        "voice": {"engine": "espeak"},
    }
    asking, wrong = [], []
    player = NullPlayer(paced=False)
    async with open_app(Settings.model_validate(given), player, hears=False) as app:
        # Hearth's token is no administrator's, so its owner has rated the one script, once.
        await app.home.policy_contexts.ratings.rate({"script.movie_night": Tier.COMFORT})
        offered = (await app.home.tools.menu()).offered()
        names = {suffix(entry.tool.name): entry.tool.name for entry in offered}
        for said in household():
            asked, problems = await judged(app.home, names, said)
            if asked != said.asked:
                problems.append(f"asked about by {asked or 'nothing'}")
            asking += [f"{said.text} ({asked})"] if asked else []
            wrong += [f"{said.text}: {problem}" for problem in problems]
    part = len(asking) / SENTENCES
    print(
        f"{len(asking)} of {SENTENCES} ask ({part:.1%}), {len(wrong)} go wrong", *asking, sep="\n"
    )
    assert not wrong, "\n".join(wrong)
    assert part < MOST
