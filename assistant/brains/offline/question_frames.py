"""Read questions whose words can be in any order: "are the lights upstairs still on".

As in `device_frames`, a frame fits only if it explains every piece. A question starts with a
question word or ends with a question mark, so that "the light was on" isn't read as a question.
"""

from collections.abc import Callable, Sequence
from typing import Any

from assistant.brains.offline.calendar_answers import NEXT, WEEK, day_of
from assistant.brains.offline.frames import Reading, Sentence
from assistant.brains.offline.lexicon import NameIndex, Piece, pieces_of, words_of
from assistant.brains.offline.parse import ParsedCommand
from assistant.brains.offline.sentences import CALENDAR, READING, ROOM, SUN, WHEN
from assistant.brains.offline.targets import NoTarget, Scene, Target
from assistant.tools.vocabulary import mentions
from integrations.home_assistant.house import Entity

_SWITCHED = ("light", "switch", "fan", "media_player", "climate", "input_boolean", "humidifier")
# State, and the domains that can have it, the usual one first.
_STATES: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("be_unlocked", "unlocked", ("lock",)),
    ("be_locked", "locked", ("lock",)),
    ("be_playing", "playing", ("media_player",)),
    ("be_open", "open", ("cover", "valve")),
    ("be_closed", "closed", ("cover", "valve")),
    ("be_on", "on", _SWITCHED),
    ("be_off", "off", _SWITCHED),
)
_OPENERS = frozenset(
    "is_it which who how_far how_fast how_many where how_bright how_loud how_set how_warm "
    "how_humid weather_ask when_ask calendar_ask weather sun_ask calendar".split()
)
_DAYS = (("week", "week"), ("tomorrow", "tomorrow"), ("today", "today"))
_EXTRAS = ("still", "which", "is_it", "overnight")

Frame = Callable[[Sentence], Reading | None]


def read_question(text: str, language: str, index: NameIndex, scene: Scene) -> Reading:
    """Return the commands that answer a question, or [] if no frame explains it."""
    pieces = pieces_of(text, language, index)
    if not pieces or not _asks(pieces, text):
        return []
    return _first_fit(_FRAMES, pieces, text, scene)


def read_outside(text: str, language: str, index: NameIndex, scene: Scene) -> Reading:
    """Return the question about the temperature outdoors if the house has a sensor there."""
    pieces = pieces_of(text, language, index)
    if not pieces or not any(one.tag == "outside" for some in pieces for one in some):
        return []
    return _first_fit((_outdoors,), pieces, text, scene)


def _first_fit(
    frames: Sequence[Frame], pieces: Sequence[Sequence[Piece]], text: str, scene: Scene
) -> Reading:
    for frame in frames:
        sentence = Sentence(pieces, text, scene)
        try:
            reading = frame(sentence)
        except NoTarget:
            continue
        if reading and sentence.whole:
            return reading
    return []


def _asks(pieces: Sequence[Sequence[Piece]], text: str) -> bool:
    if "?" in text:
        return True
    meant = (
        some
        for some in pieces
        if not all(one.tag in ("filler", "article", "any_of") for one in some)
    )
    first = next(meant, ())
    return any(one.tag in _OPENERS for one in first)


# States.


def _states(sentence: Sentence) -> Reading | None:
    found = next((one for one in _STATES if sentence.has(one[0])), None)
    if found is None or not sentence.has("is_it", "which", "how_many"):
        return None
    tag, state, domains = found
    either = sentence.take("or")  # "is the shade up or down"
    sentence.take(*(one for one, *_ in _STATES)) if either else None
    many, which = sentence.take("how_many"), sentence.has("which")
    sentence.take(tag, "turn")  # "did you turn it off"
    sentence.take(*_EXTRAS)
    anything = sentence.take("anything")
    if not sentence.names_targets() and not sentence.has("all") and not (which or anything):
        return None
    if not sentence.has("thing", "kind", "area", "floor", "all"):
        sentence.take("here", "it", "one")
        targets = [_everywhere(domains[0])]
    else:
        whole = sentence.has("all")
        targets = sentence.targets(domains, domains[0])
        if not whole and (many or which) and not sentence.has("thing", "area", "floor", "here"):
            targets = [Target(domain=one.domain, topic=one.topic) for one in targets]
    if either:
        return [_state_of(sentence, one, "one", {"domain": one.domain}) for one in targets]
    kind = "how_many" if many else "which" if which else ""
    return [_asked(sentence, one, state, kind) for one in targets]


def _everywhere(domain: str) -> Target:
    return Target(domain=domain, everywhere=True)


def _asked(sentence: Sentence, target: Target, state: str, kind: str) -> ParsedCommand:
    if not kind:
        ending = state in ("closed", "locked", "off") and not sentence.has("any_of")
        kind = "all" if ending or sentence.has("all") else "any"
    slots: dict[str, Any] = {"domain": target.domain, "state": state}
    if target.domain == "climate" and state in ("on", "off"):
        kind = "one"  # its state is "heat" or "cool"
        slots = {"domain": "climate"}
    classes = _classes(target)
    if classes:
        slots["device_class"] = classes
    return _state_of(sentence, target, kind, slots)


def _classes(target: Target) -> list[str]:
    if target.domain != "cover" or target.ids:
        return []
    named = {"kind_garages": "garage", "outer_gates": "gate"}.get(target.topic)
    return [named] if named else ["blind", "curtain", "shade", "shutter", "awning"]


def _state_of(
    sentence: Sentence, target: Target, kind: str, slots: dict[str, Any]
) -> ParsedCommand:
    return ParsedCommand(
        "HassGetState",
        sentence.text,
        slots,
        entity_ids=target.ids,
        area_id=target.area_id,
        floor_id=target.floor_id,
        area_said=bool(target.place),
        place=target.place,
        response="one_yesno" if target.ids and "state" in slots else kind,
    )


def _whereabouts(sentence: Sentence) -> Reading | None:
    if not sentence.take("where", "arm"):
        return None
    sentence.take_verb("clean", "mow")
    sentence.take("where", "still", "is_it", "which", "here", "dock")
    targets = sentence.targets(("vacuum", "lawn_mower", "alarm_control_panel"))
    return [_state_of(sentence, one, "one", {"domain": one.domain}) for one in targets]


# Values.


def _values(sentence: Sentence) -> Reading | None:
    for tags, response, domain in _READINGS:
        if not sentence.has(tags[0]):
            continue
        sentence.take(*tags)
        sentence.take(*_EXTRAS, "temperature")
        named = sentence.has("thing", "kind", "area", "floor", "all")
        if not named and response in ("brightness", "position"):
            return None
        targets = sentence.targets((domain,), domain) if named else [_everywhere(domain)]
        return [
            ParsedCommand(
                READING,
                sentence.text,
                {"domain": domain},
                entity_ids=one.ids,
                area_id=one.area_id,
                floor_id=one.floor_id,
                response=response,
            )
            for one in targets
        ]
    return None


_READINGS: tuple[tuple[tuple[str, ...], str, str], ...] = (
    (("how_bright", "brightness"), "brightness", "light"),
    (("how_loud", "volume", "music"), "volume", "media_player"),
    (("how_set", "where"), "target", "climate"),
    (("how_fast", "speed"), "speed", "fan"),
    (("how_far", "be_open", "be_closed", "position"), "position", "cover"),
)


def _air(sentence: Sentence) -> Reading | None:
    warm = sentence.take("how_warm")
    if not warm and not sentence.take("how_humid"):
        return None
    sentence.take(*_EXTRAS, "weather_ask", "today")
    place = sentence.take("area", "floor")
    if not place and not (sentence.take("here") and sentence.scene.here):
        return None
    area = place.value[0] if place and place.tag == "area" else ""
    floor = place.value[0] if place and place.tag == "floor" else ""
    return [
        ParsedCommand(
            "HassClimateGetTemperature" if warm else "HassGetState",
            sentence.text,
            area_id=area or ("" if floor else sentence.scene.here),
            floor_id=floor,
            area_said=bool(place),
            place=place.text if place else "",
            response="" if warm else ROOM,
        )
    ]


def _playing(sentence: Sentence) -> Reading | None:
    if not sentence.has("who", "which", "is_it"):
        return None
    asked = sentence.take("be_playing", "listening", "artist")
    sentence.take("named")
    song = sentence.take("song")
    if not asked and not song:
        return None
    if not sentence.take("who", "which"):
        return None
    sentence.take("is_it", "it_is", "still")
    area = sentence.take("area")
    kinds = [one for some in sentence.pieces for one in some if one.tag == "kind"]
    if any(one.value[1] != "media_player" for one in kinds):
        raise NoTarget
    sentence.take("kind", "music", "here", "it")
    area_id = area.value[0] if area else ""
    return [ParsedCommand(READING, sentence.text, {}, area_id=area_id, response="playing")]


# The weather, the sun and the calendar.


def _outdoors(sentence: Sentence) -> Reading | None:
    if sentence.has("future"):
        return None
    if not sentence.take("how_warm", "cold", "hot", "warmer", "cooler", "temperature"):
        return None
    sentence.take("how_warm", "cold", "hot", "warmer", "cooler", "temperature", "it_is", "which")
    sentence.take("outside", "is_it", "weather_ask")
    sentence.take("today", "degrees", "still", "also")
    sensor = _sensor_outside(sentence.scene)
    if sensor is None:
        return _about_weather(sentence, "today")
    return [
        ParsedCommand(
            "HassGetState",
            sentence.text,
            {"domain": "sensor"},
            entity_ids=(sensor.entity_id,),
            name=sensor.name,
            response="one",
        )
    ]


def _sensor_outside(scene: Scene) -> Entity | None:
    found = [
        one
        for one in scene.house.of_domain("sensor")
        if one.device_class == "temperature" and mentions("outdoors", *one.names)
    ]
    return found[0] if found else None


def _weather(sentence: Sentence) -> Reading | None:
    day = next((when for tag, when in _DAYS if sentence.has(tag)), "")
    about = sentence.take("weather")
    felt = sentence.take("cold", "hot", "warmer", "cooler", "how_warm", "temperature", "degrees")
    outside = sentence.take("outside")
    if not about and not (felt and (day or outside)):
        return None
    sentence.take("weather_ask", "is_it", "which", "it_is", "too", "also", "later", "stop", "not")
    sentence.take("week", "tomorrow", "today")
    return _about_weather(sentence, day or "today")


def _about_weather(sentence: Sentence, when: str) -> Reading:
    return [ParsedCommand("HassGetWeather", sentence.text, {"when": when})]


def _sun(sentence: Sentence) -> Reading | None:
    sun = sentence.take("sun_ask")
    if not sun:
        return None
    asked = sentence.take("when_ask", "sun_ask")
    sentence.take("when_ask", "is_it", "weather_ask", "which", "it_is", "up", "down", "set", "dark")
    sentence.take("today", "tomorrow")
    return [ParsedCommand(SUN, sentence.text)] if asked or sun else None


def _calendar(sentence: Sentence) -> Reading | None:
    day = sentence.take("today", "tomorrow", "week")
    about = sentence.take("calendar")
    asked = sentence.take("calendar_ask")
    if not about and not (asked and day):
        return None
    coming = sentence.has("when_ask", "next")
    sentence.take("is_it", "which", "anything", "when_ask", "next", "on", "also", "no", "start")
    when = NEXT if coming and day is None else WEEK
    if day is not None:
        when = day_of(words_of(day.text)) if day.tag == "week" else day.tag
    calendars = [one for one in sentence.scene.house.exposed() if one.domain == "calendar"]
    slots = {WHEN: when}
    if not calendars:
        return [ParsedCommand(CALENDAR, sentence.text, slots)]
    return [
        ParsedCommand(CALENDAR, sentence.text, slots, (one.entity_id,), one.name)
        for one in calendars
    ]


_FRAMES: tuple[Frame, ...] = (
    _outdoors,
    _air,
    _values,
    _whereabouts,
    _playing,
    _states,
    _sun,
    _weather,
    _calendar,
)
