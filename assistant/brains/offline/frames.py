"""A sentence whose words can be in any order, and the commands that frames make from it."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from assistant.brains.offline.lexicon import Piece
from assistant.brains.offline.parse import ParsedCommand
from assistant.brains.offline.targets import (
    TARGET_TAGS,
    NoTarget,
    Scene,
    Target,
    entities_of,
    members,
    targets_of,
)
from integrations.home_assistant.house import Entity

_IDLE = ("filler", "article", "to", "only")  # pieces that can be left out
_REST = frozenset({"rest", "else"})
MOST_CHOICES = 5  # devices that a question names


@dataclass(frozen=True, slots=True)
class Ask:
    """A command that could mean several devices, so that Hearth has to ask which one."""

    choices: tuple[tuple[Entity, ParsedCommand], ...]


class Sentence:
    """The pieces of a sentence. Each frame takes the pieces that it explains."""

    def __init__(self, pieces: Sequence[Sequence[Piece]], text: str, scene: Scene) -> None:
        self.pieces = pieces
        self.text = text
        self.scene = scene
        self._left = self._cut()
        self.tags = {
            piece.tag
            for number, options in enumerate(pieces)
            for piece in options
            if number <= self._left or piece.tag not in TARGET_TAGS
        }
        if self.tags & _REST and self._left < len(pieces):
            self.tags.add("all")
        self._taken: set[int] = set()
        self.sure = min((max(one.sure for one in some) for some in pieces), default=1.0)

    def has(self, *tags: str) -> bool:
        return not self.tags.isdisjoint(tags)

    def first(self, tag: str) -> Piece | None:
        return next((one for some in self.pieces for one in some if one.tag == tag), None)

    def take(self, *tags: str) -> Piece | None:
        """Take all pieces with one of these meanings, and return the first."""
        first = None
        for number, options in enumerate(self.pieces):
            for piece in options:
                if piece.tag in tags:
                    self._taken.add(number)
                    self.sure = min(self.sure, piece.sure)
                    first = first or piece
                    break
        return first

    def take_verb(self, *tags: str) -> Piece | None:
        """Take pieces like `take`, except those that can be a device: "vacuum" is a noun too."""
        first = None
        for number, options in enumerate(self.pieces):
            verb = next((one for one in options if one.tag in tags), None)
            if verb is not None and not any(one.tag in ("kind", "thing") for one in options):
                self._taken.add(number)
                self.sure = min(self.sure, verb.sure)
                first = first or verb
        return first

    def targets(self, domains: Iterable[str], default: str = "") -> list[Target]:
        """Take the devices and places. Raises NoTarget if they don't fit these domains."""
        left = self._left
        found = []
        for number, options in enumerate(self.pieces):
            targets = [piece for piece in options if piece.tag in TARGET_TAGS]
            if any(piece.tag in _REST for piece in targets) and left == len(self.pieces):
                raise NoTarget  # the rest of what?
            if targets and number not in self._taken:
                self._taken.add(number)
                if number < left:
                    found.append(targets)
            elif number > left and any(one.tag == "nowhere" for one in options):
                raise NoTarget
        self.take("except", "and")
        if left < len(self.pieces):  # "the lights except the office" are those of the house
            found.append([Piece("all", "")])
            if not self.scene.recent:  # "turn them all off except the office"
                found = [some for some in found if not {"it", "both"} & {one.tag for one in some}]
        selected = targets_of(found, frozenset(domains), self.scene, default)
        # "the water at the main valve" names one device twice.
        chosen = list({one.ids or one: one for one in selected}.values())
        self.sure = min([self.sure, *(one.sure for one in chosen)])
        return chosen

    def names_targets(self) -> bool:
        return self.has("thing", "area", "floor", "kind", "it")

    @property
    def rest_of(self) -> str:
        """The domain of "the rest": that of what is left as it is, or "" if that is a room."""
        left = [piece for some in self.pieces[self._left :] for piece in some]
        domains = {piece.value[1] for piece in left if piece.tag == "kind"}
        domains |= {one.partition(".")[0] for p in left if p.tag == "thing" for one in p.value}
        return domains.pop() if len(domains) == 1 and "rest" in self.tags else ""

    def names(self, *domains: str) -> bool:
        """Return True if the sentence names a device of these domains, or the kind."""
        return any(
            (one.tag == "kind" and one.value[1] in domains)
            or (one.tag == "thing" and one.value[0].partition(".")[0] in domains)
            for some in self.pieces
            for one in some
        )

    def _cut(self) -> int:
        # What follows "except" is left as it is; the policy removes it from the call's targets.
        for number, options in enumerate(self.pieces):
            if any(piece.tag == "except" for piece in options):
                return number
        return len(self.pieces)

    @property
    def whole(self) -> bool:
        """True if every piece has been taken or can be left out."""
        numbers = range(len(self.pieces))
        return all(number in self._taken or self._is_idle(number) for number in numbers)

    def _is_idle(self, number: int) -> bool:
        tags = {one.tag for one in self.pieces[number]}
        if "again" in tags:  # "turn it back on", but not "the back door"
            after = self.pieces[number + 1] if number + 1 < len(self.pieces) else []
            return not any(one.tag in TARGET_TAGS for one in after)
        return not tags.isdisjoint(_IDLE)


Reading = list[ParsedCommand | Ask]


def commands(sentence: Sentence, targets: Sequence[Target], intent: str, **slots: Any) -> Reading:
    made: Reading = []
    for target in targets:
        if len(target.ids) > 1:
            made.append(_ask(sentence, target, intent, **slots))
        elif target.ids:
            entity = sentence.scene.house.entities[target.ids[0]]
            made.append(command_for(entity, sentence.text, intent, **slots))
        else:
            classes = _cover_classes(target, sentence)
            kind = {"device_class": classes} if classes else {}
            made.append(
                ParsedCommand(
                    intent=intent,
                    text=sentence.text,
                    slots={"domain": target.domain, **kind, **slots},
                    area_id=target.area_id,
                    floor_id=target.floor_id,
                    area_said=bool(target.area_id),
                    place=target.place,
                )
            )
    return made


def _cover_classes(target: Target, sentence: Sentence) -> list[str]:
    if target.domain != "cover":
        return []
    found = {one.device_class for one in members(target, sentence.scene.house)}
    return sorted(one for one in found if one)


def command_for(entity: Entity, text: str, intent: str, **slots: Any) -> ParsedCommand:
    """Return the command for a single entity."""
    return ParsedCommand(
        intent=intent,
        text=text,
        slots={"domain": entity.domain, **slots},
        entity_ids=(entity.entity_id,),
        name=entity.name,
    )


def _ask(sentence: Sentence, target: Target, intent: str, **slots: Any) -> ParsedCommand | Ask:
    things = members(target, sentence.scene.house)
    here = [one for one in things if one.area_id and one.area_id == sentence.scene.here]
    if len(here) == 1:
        return command_for(here[0], sentence.text, intent, **slots)
    return Ask(
        tuple((one, command_for(one, sentence.text, intent, **slots)) for one in here or things)
    )


def one_of(
    sentence: Sentence, targets: Sequence[Target], make: Callable[[Entity], ParsedCommand]
) -> Reading:
    """Return the command for the only device that can be meant. If there are several, return a
    question, unless the person means all of them."""
    things = entities_of(targets, sentence.scene.house)
    if not things:
        raise NoTarget
    here = [one for one in things if one.area_id and one.area_id == sentence.scene.here]
    placed = any(one.placed or one.ids for one in targets)
    if len(here) == 1 and not placed and not sentence.has("all"):
        things = here
    if len(things) == 1 or sentence.has("all", "both", "it") or len(targets) > 1:
        return [make(one) for one in things]
    return [Ask(tuple((one, make(one)) for one in things))]


def each(
    sentence: Sentence, targets: Sequence[Target], make: Callable[[Entity], ParsedCommand | None]
) -> Reading:
    """Return a command for each device that supports it."""
    made: Reading = []
    for target in targets:
        things = members(target, sentence.scene.house)
        if len(target.ids) > 1:
            here = [one for one in things if one.area_id and one.area_id == sentence.scene.here]
            choices = [(one, made_one) for one in here or things if (made_one := make(one))]
            if not choices:
                raise NoTarget
            made += [choices[0][1]] if len(choices) == 1 else [Ask(tuple(choices))]
        else:
            made += [one for thing in things if (one := make(thing))]
    if not made:
        raise NoTarget
    return made


def of_room(sentence: Sentence, domain: str) -> list[Target]:
    """Return the devices of the room that the person named, or of this device's room."""
    if sentence.has("area", "floor", "kind", "thing", "all"):
        return sentence.targets((domain,), domain)
    is_here = bool(sentence.take("here"))
    sentence.take("it", "one")
    recent = [one for one in sentence.scene.recent if one.startswith(f"{domain}.")]
    if recent and not is_here:
        return [Target((one,), domain) for one in recent]
    here = Target(domain=domain, area_id=sentence.scene.here)
    if sentence.scene.here and members(here, sentence.scene.house):
        return [here]
    things = sentence.scene.house.of_domain(domain)
    return [Target(tuple(one.entity_id for one in things), domain)]


def begins_question(pieces: Sequence[Sequence[Piece]]) -> bool:
    """Return True for "is it too cold in here", which only asks."""
    first = next((some for some in pieces if all(one.tag != "filler" for one in some)), ())
    return any(one.tag == "asks" for one in first)


def is_vague(pieces: Sequence[Sequence[Piece]]) -> bool:
    """Return True if it is unclear what is meant: "two of the lights", "its light". The same goes
    for "the toaster", which is no typing error of "toastier"."""
    after = article = False
    for some in pieces:
        tags = {one.tag for one in some}
        if after and "kind" in tags:
            return True
        if article and some[0].sure < 1.0 and not tags & _NOUNS:
            return True
        its = any(one.text == "its" for one in some)
        small = bool(tags & {"filler", "article"})
        after = its or tags == {"number"} or (after and small)
        article = some[0].text in ARTICLES
    return False


ARTICLES = frozenset("the a an my our el la los las un una mi".split())
_NOUNS = TARGET_TAGS | frozenset(
    "volume brightness temperature speed position music song surface nowhere timer max min".split()
)
