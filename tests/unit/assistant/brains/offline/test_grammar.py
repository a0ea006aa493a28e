"""Tests that the parser understands every sentence that the grammar accepts."""

import random
import re
from dataclasses import replace

import pytest

from assistant.brains.offline.grammar import (
    MOST_NAMES,
    MOST_PLACES,
    READINGS,
    SAID,
    WAKE,
    is_talk,
    jsgf,
    nearby,
    vocabulary,
)
from assistant.brains.offline.names import Names, house_names, naming
from assistant.brains.offline.parse import Parser
from audio.recognize.sphinx import SphinxRecognizer
from integrations.home_assistant.house import Area, Entity, Floor, House
from tests.benchmarks.scale.houses import picture
from tests.corpus.house import corpus_house

SAMPLES = 600


class Sampler:
    """Generates random sentences of a grammar in JSpeech Grammar Format."""

    def __init__(self, text: str, seed: int) -> None:
        found = re.findall(r"(?:public )?<(\w+)> = (.*?);", text, re.DOTALL)
        self._rules = {
            name: re.findall(r"<\w+>|[()\[\]|]|[^\s()\[\]|<>]+", body) for name, body in found
        }
        self._random = random.Random(seed)

    def sentence(self, rule: str) -> str:
        words, rest = self._choice(self._rules[rule])
        assert rest == []
        return " ".join(words)

    def _choice(self, tokens: list[str]) -> tuple[list[str], list[str]]:
        """Return one of the alternatives up to a closing bracket, and the remaining tokens."""
        alternatives: list[list[str]] = [[]]
        while tokens:
            token, tokens = tokens[0], tokens[1:]
            if token in ")]":
                break
            if token == "|":
                alternatives.append([])
            elif token in "([":
                words, tokens = self._choice(tokens)
                if token == "(" or self._random.random() < 0.5:
                    alternatives[-1].extend(words)
            elif token.startswith("<"):
                alternatives[-1].extend(self.sentence(token[1:-1]).split())
            else:
                alternatives[-1].append(token)
        return self._random.choice(alternatives), tokens


def test_every_sentence_of_the_grammar_is_a_command() -> None:
    names = house_names(corpus_house())
    parser = Parser(names)
    sampler = Sampler(jsgf(names), seed=1)
    sentences = {sampler.sentence("command") for _ in range(SAMPLES)}
    assert len(sentences) > SAMPLES // 3
    assert sorted(text for text in sentences if parser.parse(text, "en") is None) == []


def test_the_recogniser_knows_every_word_of_the_grammar() -> None:
    names = house_names(corpus_house())
    words = re.findall(r"(?<!<)\b[a-z']+\b(?!>)", jsgf(names).partition("<said> =")[2])
    ours = {*READINGS, *vocabulary(names), WAKE}
    assert set(SphinxRecognizer().unknown(words)) <= ours


def test_talk_about_a_command_is_heard_but_not_understood() -> None:
    names = house_names(corpus_house())
    parser = Parser(names)
    sampler = Sampler(jsgf(names), seed=2)
    spoken = {sampler.sentence("said") for _ in range(300)}
    talk = {text.removeprefix(f"{WAKE} ") for text in spoken}
    talk = {text for text in talk if is_talk(text) and not text.startswith("never mind")}
    assert talk
    assert [text for text in talk if parser.parse(text, "en") is not None] == []


# --- Of a large house a recogniser listens for what is near; of a small one for everything.

LARGE = picture(5_000)
FAR = "outer_bathroom"  # in the middle of the house's list


def rooms_of(names: Names, house: House) -> list[str | None]:
    return [house.entities[name.ids[0]].area_id for name in names.entities]


def test_a_small_house_keeps_every_name_that_can_be_said() -> None:
    names = house_names(corpus_house())
    near = nearby(names, corpus_house(), "kitchen")
    assert near.areas == names.areas
    assert near.floors == names.floors
    assert near.entities == tuple(name for name in names.entities if name.domain in SAID)
    assert jsgf(near) == jsgf(names)


def test_a_large_house_is_cut_to_what_a_recogniser_bears() -> None:
    near = nearby(house_names(LARGE), LARGE, FAR)
    assert len(near.entities) == MOST_NAMES
    assert len(near.areas) + len(near.floors) == MOST_PLACES


def test_this_room_and_floor_come_first() -> None:
    near = nearby(house_names(LARGE), LARGE, FAR)
    here = LARGE.areas[FAR]
    all_here = {name.text for name in house_names(LARGE).entities if room(name.ids[0]) == FAR}
    assert all_here <= {name.text for name in near.entities}
    floor = {area.area_id for area in LARGE.areas.values() if area.floor_id == here.floor_id}
    assert floor <= {name.ids[0] for name in near.areas}
    assert here.floor_id in {name.ids[0] for name in near.floors}


def room(entity_id: str) -> str | None:
    return LARGE.entities[entity_id].area_id


def test_where_nobody_knows_the_room_things_that_obey_come_before_sensors() -> None:
    near = nearby(house_names(LARGE), LARGE, "")
    assert not {name.domain for name in near.entities} & {"sensor", "binary_sensor"}


def test_what_has_no_room_is_said_everywhere() -> None:
    scene = Entity("scene.good_night", "Good Night", "unknown")
    house = replace(LARGE, entities={**LARGE.entities, scene.entity_id: scene})
    near = nearby(house_names(house), house, FAR)
    assert "good night" in {name.text for name in near.entities}
    assert nearby(house_names(house), house, "").entities[-1].text == "good night"


def test_the_houses_order_stays() -> None:
    names = house_names(LARGE)
    near = nearby(names, LARGE, FAR)
    places = [names.entities.index(name) for name in near.entities]
    assert places == sorted(places)


def test_a_room_without_a_floor_has_no_neighbours() -> None:
    shed = Area("shed", "Shed")
    house = House(
        {"f": Floor("f", "Floor")},
        {"shed": shed, "other": Area("other", "Other")},
        {
            one.entity_id: one
            for one in (
                *(
                    Entity(f"light.o{at}", f"Lamp {at}", "off", area_id="other")
                    for at in range(300)
                ),
                Entity("light.shed", "Shed Light", "off", area_id="shed"),
            )
        },
    )
    near = nearby(house_names(house), house, "shed")
    assert "shed light" in {name.text for name in near.entities}
    assert rooms_of(near, house).count("other") == MOST_NAMES - 1


@pytest.mark.parametrize(
    "change", [{"name": "Ceiling"}, {"aliases": ("top",)}, {"area_id": "hall"}, {"exposed": False}]
)
def test_what_names_depend_on_tells_every_change_of_them(change: dict[str, object]) -> None:
    house = corpus_house()
    light = house.entities["light.kitchen"]
    changed = replace(light, **change)  # type: ignore[arg-type]
    other = replace(house, entities={**house.entities, light.entity_id: changed})
    assert naming(other) != naming(house)


def test_a_state_that_changes_is_no_change_of_names() -> None:
    house = corpus_house()
    light = replace(house.entities["light.kitchen"], state="on", attributes={"brightness": 3})
    other = replace(house, entities={**house.entities, light.entity_id: light})
    assert naming(other) == naming(house)


def test_a_place_that_is_renamed_is_a_change_of_names() -> None:
    house = corpus_house()
    area = next(iter(house.areas.values()))
    renamed = replace(house, areas={**house.areas, area.area_id: replace(area, name="Den")})
    assert naming(renamed) != naming(house)
