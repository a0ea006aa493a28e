"""The sentences that the recogniser listens for, made from the house's own names."""

from collections.abc import Callable, Mapping, Sequence

from assistant.brains.offline.names import Name, Names, number_words, without_words
from assistant.brains.offline.phones import pronounce, wake_tails
from audio.recognize.protocol import Grammar
from integrations.home_assistant.house import House

# Words before the command that belong to the wake word: the sound may begin with its tail.
WAKE = "wakeword"

# Words of ours that CMUdict lacks.
READINGS: Mapping[str, tuple[str, ...]] = {"unmute": ("AH N M Y UW T",)}

# What turns a command into its opposite or a question about it. Only words long enough not to be
# mistaken for the wake word's tail.
NOT_ASKED = ("do not", "don't", "never", "did you", "why did you")

_SWITCHABLE = ("light", "switch", "fan", "media_player", "input_boolean", "climate")
_TOLD = ("light", "switch", "fan")
_OPENABLE = ("cover", "binary_sensor")
# Each stands in sentences of its own.
_ALONE = (
    *("light", "climate", "cover", "lock", "media_player", "fan", "vacuum", "script", "scene"),
    "sensor",
)
SAID = frozenset((*_SWITCHABLE, *_TOLD, *_OPENABLE, *_ALONE))  # domains that sentences are about

# What must exist, then sentences about it; left out where the house has none of it. None begins
# with a name: "lights on in the office" is also the end of "who left the lights on in the office".
_SENTENCES: tuple[tuple[tuple[str, ...], str], ...] = (
    (("thing",), "<turn> <onoff> [<the>] <thing> | <turn> [<the>] <thing> <onoff>"),
    (
        ("area", "light"),
        "<turn> <onoff> [all] [<the>] <area> (light | lights)"
        " | <turn> <onoff> [all] [<the>] lights in [<the>] <area>"
        " | <turn> [all] [<the>] <area> (light | lights) <onoff>"
        " | <turn> <onoff> [<the>] <area>"
        " | <turn> [all] [<the>] lights in [<the>] <area> <onoff>",
    ),
    (("light",), "<turn> off all [<the>] lights | <turn> all [<the>] lights off"),
    (
        ("floor", "light"),
        "<turn> <onoff> [all] [<the>] (lights <floor> | <floor> lights)",
    ),
    (
        ("light",),
        "(set | dim | brighten) [<the>] <light> to <percent>"
        " | set [the] brightness of [<the>] <light> to <percent>"
        " | set [<the>] <light> brightness to <percent>"
        " | set [<the>] <light> to (full | maximum) brightness"
        " | (set | turn | change) [<the>] <light> [to] <colour>"
        " | make [<the>] <light> <colour>",
    ),
    (
        ("area", "light"),
        "set [<the>] <area> (lights | brightness) to <percent>"
        " | dim [<the>] <area> lights to <percent>"
        " | set [the] brightness in [<the>] <area> to <percent>"
        " | (set | turn | change) [<the>] <area> lights [to] <colour>"
        " | make [<the>] <area> lights <colour>",
    ),
    (
        ("climate",),
        "(set | change) [<the>] <climate> [temperature] to <degrees>"
        " | turn (<updown> [<the>] <climate> | [<the>] <climate> <updown>) to <degrees>",
    ),
    (
        ("area", "climate"),
        "(set | change) [the] temperature in [<the>] <area> to <degrees>"
        " | set [<the>] <area> [temperature] to <degrees>"
        " | change [<the>] <area> temperature to <degrees>"
        " | make [<the>] <area> <number> degrees"
        " | <whatis> the temperature in [<the>] <area> | <whatis> the <area> temperature"
        " | how (warm | cold | hot) is [it in] [<the>] <area>",
    ),
    (("cover",), "<move> [<the>] <cover> | set [<the>] <cover> to <percent>"),
    (
        ("area", "cover"),
        "<move> [<the>] (blinds | blind | shades | shade | curtains | shutters) in [<the>] <area>",
    ),
    (
        ("lock",),
        "(lock | unlock) [<the>] <lock>"
        " | lock (all [<the>] doors | <the> doors | every door | everything | up | <the> house)",
    ),
    (
        ("media_player",),
        "set [<the>] <media_player> volume to <percent>"
        " | set the volume (of | on) [<the>] <media_player> to <percent>"
        " | turn [<the>] <media_player> [volume] <updown> to <percent>"
        " | (pause | stop | resume | mute | unmute) [<the>] <media_player>"
        " | (next | previous) track on [<the>] <media_player>"
        " | turn <updown> [<the>] <media_player> volume",
    ),
    (
        ("area", "media_player"),
        "(pause | stop | resume) [the] music in [<the>] <area>"
        " | turn <updown> [the] volume in [<the>] <area>"
        " | turn [the] volume <updown> in [<the>] <area>",
    ),
    (("fan",), "set [<the>] <fan> [speed] to <percent>"),
    (("area", "fan"), "<turn> <onoff> [<the>] fan in [<the>] <area>"),
    (
        ("vacuum",),
        "start [<the>] <vacuum> | return [<the>] <vacuum> to base"
        " | send [<the>] <vacuum> (home | [back] to (its | the) (dock | base))",
    ),
    (("script",), "(run | start | activate) [<the>] <script>"),
    (("scene",), "(activate | turn on) [<the>] <scene>"),
    (("lock",), "is [<the>] <lock> (locked | unlocked)"),
    (("openable",), "(is | are) [<the>] <openable> (open | closed)"),
    (
        ("door",),
        "is [<the>] <door> (open | closed) | is (any door | any window | anything) open"
        " | are all (doors | windows) closed | (is everything | is the house) closed"
        " | which (doors | windows) are open",
    ),
    (
        ("door", "lock"),
        "is [<the>] <door> (locked | unlocked) | (is everything | is the house) locked",
    ),
    (("told",), "is [<the>] <told> (on | off)"),
    (("sensor",), "<whatis> [<the>] <sensor>"),
    ((), "what time is it | <whatis> the time | <whatis> the date [today]"),
    ((), "never mind"),
    (
        (),
        "(set | start) a timer for (<span> | an hour | half an hour)"
        " | (set | start) a <count> (minute | second | hour) timer"
        " | (set | start) a <timer> timer for <span>"
        " | (cancel | stop | pause | resume) [the | my] timer"
        " | (cancel | stop) the <timer> timer | cancel all [my] timers"
        " | add <span> to [the | my] timer | take <span> off [the | my] timer"
        " | how (long | much time) is left on ([the | my] timer | the <timer> timer)",
    ),
    (
        (),
        "(set an alarm for | wake me [up] at) <clock> [tomorrow | on weekdays | every day]"
        " | (cancel | stop) the alarm | snooze",
    ),
    ((), "undo (that | it | the last one)"),
    (("thing",), "no <the> <thing> | i meant [<the>] <thing>"),
    (("area",), "i meant <the> (<area> | one in [<the>] <area>)"),
    # It hears no free words, so what there is to remember is typed.
    ((), "what do you remember | forget everything you remember"),
)

_RULES = {
    "the": "the | my",
    "turn": "turn | switch",
    "onoff": "on | off",
    "updown": "up | down",
    "move": "open | close | shut | raise | lower",
    "whatis": "what is | what's",
    "asked": "(can | could | would) you [please]",
    "colour": "white | red | orange | yellow | green | blue | purple | pink | turquoise",
    "percent": "<number> percent",
    "degrees": "<number> [degrees]",
    "hour": " | ".join(number_words(hour) for hour in range(1, 13)),
    "clock": "<hour> [o'clock | fifteen | thirty | forty five]"
    " | half past <hour> | quarter (past | to) <hour>",
    "span": "<count> (minute | minutes | second | seconds | hour | hours)"
    " | one hour and <count> minutes",
    # A recogniser with a grammar hears no other names; typed ones may be any.
    "timer": "bread | cake | chicken | coffee | egg | laundry | oven | pasta | pizza | potato"
    " | rice | tea",
}


def jsgf(names: Names) -> str:
    """One grammar of everything that can be said about this house, in JSpeech Grammar Format.

    The parser turns every sentence of it into an intent, except those that are not asked for.
    """
    lists = _name_lists(names)
    sentences = [
        sentence for needs, sentence in _SENTENCES if all(lists.get(need) for need in needs)
    ]
    rules = _RULES | {"notasked": " | ".join(NOT_ASKED)}
    rules |= {"number": _number(0), "count": _number(1)}
    rules |= {rule: " | ".join(texts) for rule, texts in lists.items() if texts}
    lines = ["#JSGF V1.0;", "grammar house;"]
    lines.append(f"public <said> = [{WAKE}] [please | <asked> | <notasked>] <command> [please];")
    lines.append("<command> = " + "\n | ".join(sentences) + ";")
    lines.extend(f"<{rule}> = {body};" for rule, body in rules.items())
    return "\n".join(lines)


def is_talk(text: str) -> bool:
    """Does the sentence begin with words that turn a command into talk about it?"""
    return text.startswith(tuple(f"{words} " for words in NOT_ASKED))


def vocabulary(names: Names) -> list[str]:
    """Every word that a name brings, each once."""
    called = (*names.entities, *names.areas, *names.floors, *names.doors)
    texts = (name.text for name in called)
    return list(dict.fromkeys(word for text in texts for word in text.split()))


def _number(least: int) -> str:
    """Up to 100, built of tens and ones: a tenth of the size of the list of all."""
    small = " | ".join(number_words(number) for number in range(least, 20))
    tens = " | ".join(number_words(number) for number in range(20, 100, 10))
    ones = " | ".join(number_words(number) for number in range(1, 10))
    return f"{small} | ({tens}) [{ones}] | {number_words(100)}"


def _name_lists(names: Names) -> dict[str, list[str]]:
    lists = {domain: names.of(domain) for domain in _ALONE}
    lists["thing"] = names.of(*_SWITCHABLE)
    lists["told"] = names.of(*_TOLD)
    lists["openable"] = names.of(*_OPENABLE)
    lists["door"] = list(dict.fromkeys(name.text for name in names.doors))
    lists["area"] = list(dict.fromkeys(name.text for name in names.areas))
    lists["floor"] = list(dict.fromkeys(name.text for name in names.floors))
    return lists


# The names that a recogniser listens for: in a large house those of this room and floor first.
#
# A grammar costs memory and time with each name, and each name is one more that another may be
# taken for. All names of 5,000 things take 74 MB and 0.16 s of a core for a second of sound; as
# many as are kept here take 17 MB and 0.06 s (docs/scale.md). What is left out can still be typed,
# said by its room ("the lights in the attic"), and said to a brain that has no grammar.

MOST_NAMES = 250  # of things
MOST_PLACES = 60  # rooms and floors with all their names; each stands in many sentences
_MOST_FLOORS = 10
_ASKED = frozenset({"sensor", "binary_sensor"})  # nobody tells them to do something


def nearby(names: Names, house: House, area_id: str) -> Names:
    """At most MOST_NAMES of things and MOST_PLACES of rooms and floors.

    `area_id`: the room of this box, "" where nobody knows. Kept are what is in it, then what has no
    room (scripts, scenes), then what is on its floor, then the rest; what can only be asked about
    comes behind all of that, but for what is in the room. Order and ties are the house's.
    """
    can_be_said = tuple(name for name in names.entities if name.domain in SAID)
    here = house.areas.get(area_id)
    floor_id = here.floor_id if here is not None else None

    def far(place_id: str | None) -> int:
        """Of an area: 0 this one, 1 on this floor, 2 elsewhere."""
        area = house.areas.get(place_id or "")
        if area is None or here is None:
            return 2
        return 0 if area is here else 1 if floor_id and area.floor_id == floor_id else 2

    def rank(name: Name) -> tuple[bool, int]:
        areas = [house.entities[one].area_id for one in name.ids]
        near = min(1 if one is None else 2 * far(one) for one in areas)
        return name.domain in _ASKED and near > 0, near

    floors = _first(names.floors, _MOST_FLOORS, lambda name: (floor_id not in name.ids, 0))
    areas = _first(
        names.areas, MOST_PLACES - len(floors), lambda name: (False, min(map(far, name.ids)))
    )
    things = _first(can_be_said, MOST_NAMES, rank)
    kept = {one for name in things for one in name.ids}
    doors = tuple(name for name in names.doors if not kept.isdisjoint(name.ids))
    return Names(things, areas, floors, doors)


def _first(
    names: tuple[Name, ...], most: int, rank: Callable[[Name], tuple[bool, int]]
) -> tuple[Name, ...]:
    """The lowest in rank, in the order in which all of them stand."""
    if len(names) <= most:
        return names
    kept = sorted(range(len(names)), key=lambda at: rank(names[at]))[:most]
    return tuple(names[at] for at in sorted(kept))


def sayable(
    names: Names, house: House, area_id: str, unknown: Callable[[Sequence[str]], list[str]]
) -> Grammar:
    """All commands with the names near that room; those that nobody can pronounce are left out.

    `names`: the house's; `area_id`: "" where the room is not known; `unknown`: of words, those that
    the recogniser's dictionary lacks. Asks espeak-ng about them, which takes a moment.
    """
    near = nearby(names, house, area_id)
    strange = unknown(vocabulary(near))
    readings = {WAKE: wake_tails(), **READINGS, **pronounce(strange)}
    return Grammar(jsgf(without_words(near, set(strange) - set(readings))), readings)
