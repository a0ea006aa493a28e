"""Judges a dialogue by what changed in the house, in the lists and in the timers.

Values in the data files:

- a state or an attribute as text, `a|b` for either, `a..b` for a range;
- `up` and `down`, compared with the value before the sentence;
- `brightness`, `position` (covers) and `volume` in percent, `muted` (yes or no), `kelvin`, and
  `color`: a colour's name, `white`, `warm` or `cool`;
- `run` for a scene;
- `list=milk,brown_bread`: all open items of the shopping list, in any order;
- `timers=5m,pasta:1h30m`: all timers with the time left, or `paused`;
- `alarms=07:00`, `reminders=tue-08:00` or `reminders=20m`;
- `none` for an empty list.
"""

import colorsys
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Any

from integrations.demo_home.scenes import COLORS
from tests.understanding.cases import TALK, Case, Right, Said

LIST, TIMERS, ALARMS, REMINDERS, LATER = "list", "timers", "alarms", "reminders", "later"
_OWN = (LIST, TIMERS, ALARMS, REMINDERS)
_TOLERANCE_S = 8.0  # of a timer: the machine's time passes between two sentences
_HUE = 25.0  # degrees by which two reds may differ
_WARM_K, _COOL_K = 3200, 4500
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_PARTS = re.compile(r"(\d+)([hms])")
_UNITS = {"h": 3600, "m": 60, "s": 1}
# Words of an answer that admits that something is impossible, missing or unknown.
_ADMITS = re.compile(
    r"\b(can't|cannot|can not|couldn't|won't|don't|doesn't|didn't|not able|unable|sorry|"
    r"there(?:'s| is| are|'re) (?:no|nothing)|isn't (?:a|any)|aren't any|no such|only|between|"
    r"no (?:l[oa]s? )?(?:he entendido|"
    r"puedo|pude|sé|hay|tengo|conozco|encuentro|encontré|entiendo|entendí|se puede|existe|"
    r"admite|está disponible)|lo siento|ningún|ninguna|solo|sólo|entre)\b",
    re.IGNORECASE,
)


class Outcome(StrEnum):
    """The outcome of a dialogue, the most serious last."""

    RIGHT = "right"  # done, answered, or rightly left alone
    ASKED = "asked"  # asked where a question is right, and nothing done yet
    REFUSED = "refused"  # said rightly that this is impossible
    MISSED = "missed"  # not understood, asked needlessly or not done; nothing changed
    WRONG = "wrong"  # something else or only a part changed, or the answer is false
    ACTED = "acted on"  # talk that was taken for a command


GOOD = (Outcome.RIGHT, Outcome.ASKED, Outcome.REFUSED)


@dataclass(frozen=True, slots=True)
class Timer:
    """The relevant fields of a timer, alarm or reminder."""

    name: str
    due: datetime  # local
    left_s: float
    paused: bool = False

    @property
    def mark(self) -> tuple[str, bool, object]:
        """A value that stays the same until somebody changes the timer."""
        return self.name, self.paused, round(self.left_s) if self.paused else self.due


@dataclass(frozen=True, slots=True)
class View:
    """Everything that a sentence can change, at one moment."""

    states: Mapping[str, str]
    attributes: Mapping[str, Mapping[str, Any]]  # by entity id
    items: tuple[str, ...] = ()  # open items of the shopping list
    timers: tuple[Timer, ...] = ()
    alarms: tuple[Timer, ...] = ()
    reminders: tuple[Timer, ...] = ()
    later: tuple[str, ...] = ()  # ids of commands that run later

    def changed(self, before: "View") -> set[str]:
        """Return the entity ids that differ from `before`, and LIST, TIMERS and so on."""
        ids = self.states.keys() | before.states.keys()
        changed = {
            one
            for one in ids
            if self.states.get(one) != before.states.get(one)
            or self.attributes.get(one) != before.attributes.get(one)
        }
        own = {
            TIMERS: (self.timers, before.timers),
            ALARMS: (self.alarms, before.alarms),
            REMINDERS: (self.reminders, before.reminders),
        }
        changed |= {key for key, (now, then) in own.items() if _marks(now) != _marks(then)}
        if sorted(self.items) != sorted(before.items):
            changed.add(LIST)
        if self.later != before.later:
            changed.add(LATER)
        return {one for one in changed if not (one.startswith("todo.") and LIST in changed)}


def _marks(timers: Sequence[Timer]) -> list[Any]:
    return sorted((timer.mark for timer in timers), key=str)


@dataclass(frozen=True, slots=True)
class Reaction:
    """Hearth's reaction to one sentence: the house before and after, the answer and the calls."""

    before: View
    after: View
    answer: str = ""
    asked: bool = False  # it asked a question and waits for the answer
    understood: bool = True
    refused: bool = False  # a call was denied or failed, and the person was told
    acted: tuple[str, ...] = ()  # tools that did more than look something up


@dataclass(frozen=True, slots=True)
class Verdict:
    outcome: Outcome
    why: str = ""


@dataclass(slots=True)
class Result:
    """The result of a dialogue."""

    case: Case
    outcome: Outcome = Outcome.RIGHT
    why: str = ""
    told: list[tuple[str, str]] = field(default_factory=list)  # sentences and answers
    ms: list[float] = field(default_factory=list)  # time of each sentence


def judge(said: Said, seen: Reaction, sort: str, *, leaps: bool = False) -> Verdict:
    """Return the outcome of one sentence. `leaps` is True if time passes in the dialogue. A
    scheduled command then doesn't count as a change yet."""
    changed = seen.after.changed(seen.before) - ({LATER} if leaps else set())
    if sort == TALK:
        acted = sorted(changed) or list(seen.acted)
        return Verdict(Outcome.ACTED, f"did {', '.join(acted)}") if acted else _RIGHT
    for right in said.rights:
        if not _fits(right, seen, changed):
            continue
        if right.kind in _SOFT:
            return Verdict(_SOFT[right.kind])
        return _RIGHT
    return _fault(said, seen, changed)


_RIGHT = Verdict(Outcome.RIGHT)
_SOFT = {"ask": Outcome.ASKED, "refuse": Outcome.REFUSED}


def _fault(said: Said, seen: Reaction, changed: set[str]) -> Verdict:
    """Return the verdict on a sentence that has no right outcome."""
    if changed:
        return Verdict(Outcome.WRONG, f"changed {', '.join(_shown(seen, changed))}")
    if said.leap_min:
        return Verdict(Outcome.MISSED, "nothing happened in that time")
    if not seen.understood or not (seen.answer or seen.asked):
        return Verdict(Outcome.MISSED, "not understood")
    if seen.asked:
        return Verdict(Outcome.MISSED, "asked needlessly")
    if seen.refused or _ADMITS.search(seen.answer):
        return Verdict(Outcome.MISSED, "refused or failed")
    if any(right.kind == "same" and right.says for right in said.rights):
        return Verdict(Outcome.MISSED, "did not say that it was so already")
    if all(right.kind == "refuse" for right in said.rights):
        return Verdict(Outcome.WRONG, "did not say that it can't")
    return Verdict(Outcome.WRONG, "said something false, or something else")


def _shown(seen: Reaction, changed: set[str]) -> list[str]:
    """Return the changes with their new values."""
    return [f"{key}={_now(seen, key)}" for key in sorted(changed)]


def _now(seen: Reaction, key: str) -> str:
    now, then = seen.after, seen.before
    if key == LIST:
        return ", ".join(now.items) or "none"
    if key in _OWN:
        timers: Sequence[Timer] = getattr(now, key)
        return ", ".join(f"{one.name} {one.due:%H:%M:%S}".strip() for one in timers) or "none"
    if key == LATER:
        return str(len(now.later))
    old = then.attributes.get(key, {})
    fresh = [f"{k} {v}" for k, v in now.attributes.get(key, {}).items() if old.get(k) != v]
    return f"{now.states.get(key)} ({', '.join(fresh)})" if fresh else str(now.states.get(key))


def _fits(right: Right, seen: Reaction, changed: set[str]) -> bool:
    said = all(re.search(one, seen.answer, re.IGNORECASE) for one in right.says)
    if right.kind == "nothing":
        return said and not changed and not seen.acted
    if not said or not (seen.understood or right.changes):
        return False
    if right.kind == "refuse":
        return not changed and (seen.refused or bool(_ADMITS.search(seen.answer)))
    if seen.asked != (right.kind == "ask"):
        return False
    wanted = {_entity(key) for key, _ in right.changes}
    if any(not _among(one, wanted | set(right.allowed)) for one in changed):
        return False
    if right.changes and not changed and not any(key in _OWN for key in wanted):
        return False
    return all(_holds(key, value, seen) for key, value in right.changes)


def _entity(key: str) -> str:
    return ".".join(key.split(".")[:2])


def _among(one: str, patterns: set[str]) -> bool:
    return any(fnmatchcase(one, pattern) for pattern in patterns)


def _holds(key: str, wanted: str, seen: Reaction) -> bool:
    """Return True if the value after the sentence is the expected one."""
    if key in _OWN:
        return _holds_own(key, wanted, seen.after)
    entity, (domain, name, *rest) = _entity(key), key.split(".")
    if name == "*":
        same = [one for one in seen.after.states if one.startswith(f"{domain}.")]
        keys = [".".join((one, *rest)) for one in same]
        return any(_holds(one, wanted, seen) for one in keys)
    if wanted == "run":
        return seen.after.states.get(entity) != seen.before.states.get(entity)
    attribute = rest[0] if rest else ""
    if attribute == "color":
        return any(_coloured(one, seen.after.attributes[entity]) for one in wanted.split("|"))
    now, then = (_value(view, entity, attribute) for view in (seen.after, seen.before))
    if wanted in ("up", "down"):
        step = _number(now) - _number(then)
        return step > 0 if wanted == "up" else step < 0
    return any(_equals(now, one) for one in wanted.split("|"))


def _value(view: View, entity: str, attribute: str) -> Any:
    known = view.attributes.get(entity, {})
    match attribute:
        case "":
            return view.states.get(entity)
        case "brightness":
            return (known.get("brightness") or 0) * 100 / 255
        case "position":
            return known.get("current_position")
        case "volume":
            return known.get("volume_level", 0) * 100
        case "muted":
            return "yes" if known.get("is_volume_muted") else "no"
        case "kelvin":
            return known.get("color_temp_kelvin")
    return known.get(attribute)


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def _equals(now: Any, wanted: str) -> bool:
    if not isinstance(now, int | float):
        return bool(now == wanted)
    low, mark, high = wanted.replace("%", "").partition("..")
    slack = 0.6 if now > 2 else 0.05  # a percentage is rounded to 1/255
    return float(low) - slack < now < float(high if mark else low) + slack


def _coloured(name: str, attributes: Mapping[str, Any]) -> bool:
    kelvin, rgb = attributes.get("color_temp_kelvin"), attributes.get("rgb_color")
    if kelvin is not None:
        fits = {"white": True, "warm": kelvin <= _WARM_K, "cool": kelvin >= _COOL_K}
        return bool(fits.get(name, False))
    if rgb is None or name in ("warm", "cool"):
        return False
    hue, saturation, _ = colorsys.rgb_to_hsv(*(part / 255 for part in rgb))
    if name == "white":
        return saturation < 0.2
    right = colorsys.rgb_to_hsv(*(part / 255 for part in COLORS[name]))[0]
    apart = abs(hue - right) * 360
    return saturation > 0.1 and min(apart, 360 - apart) <= _HUE


# The shopping list, and timers of all kinds.


def _holds_own(key: str, wanted: str, now: View) -> bool:
    if key == LIST:
        return _items_fit(wanted, now.items)
    timers: Sequence[Timer] = getattr(now, key)
    if wanted == "none":
        return not timers
    if wanted == "paused":
        return [timer.paused for timer in timers] == [True]
    left = list(timers)
    for one in wanted.split(","):
        found = next((timer for timer in left if _timer_fits(one, timer)), None)
        if found is None:
            return False
        left.remove(found)
    return not left


def _items_fit(wanted: str, items: Sequence[str]) -> bool:
    now = sorted(item.casefold().replace(" ", "_") for item in items)
    names = [] if wanted == "none" else wanted.split(",")
    if len(names) != len(now):
        return False
    left = list(now)
    for name in names:
        found = next((one for one in name.split("|") if one in left), None)
        if found is None:
            return False
        left.remove(found)
    return True


def _timer_fits(wanted: str, timer: Timer) -> bool:
    return any(_one_fits(one, timer) for one in wanted.split("|"))


def _one_fits(wanted: str, timer: Timer) -> bool:
    if timer.paused:
        return False
    day, mark, clock = wanted.rpartition("-")
    if re.fullmatch(r"\d\d:\d\d", clock):
        right_day = not mark or day == _DAYS[timer.due.weekday()]
        return right_day and f"{timer.due:%H:%M}" == clock
    name, _, length = wanted.rpartition(":")
    right_s = sum(int(number) * _UNITS[unit] for number, unit in _PARTS.findall(length))
    return name in timer.name.casefold() and abs(timer.left_s - right_s) <= _TOLERANCE_S


async def hold(case: Case, say: Callable[[Said], Awaitable[tuple[Reaction, float]]]) -> Result:
    """Hold a dialogue with `say`, which returns the reaction to a sentence and the time that it
    took, in ms. A dialogue ends with its first fault."""
    result = Result(case)
    asked = False
    for said in case.turns:
        if said.if_asked and not asked:
            continue
        seen, ms = await say(said)
        asked = seen.asked
        result.told.append((said.text, seen.answer))
        if not said.leap_min:
            result.ms.append(ms)
        verdict = judge(said, seen, case.sort, leaps=case.leaps)
        result.outcome, result.why = verdict.outcome, verdict.why
        if verdict.outcome not in GOOD:
            break
    return result
