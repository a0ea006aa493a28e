"""The forms of Spanish verbs: those that ask for something, and those that tell of something.

The verbs come from `phrases/es.toml`, each written as its imperative and its infinitive, and as the
formal imperative too if that is irregular: "enciende encender", "pon poner ponga".
"""

import re
from collections.abc import Collection, Iterator, Sequence

_SPELLED = {"g": "gu", "c": "qu", "z": "c"}  # before the "e" of "apague", "toque", "comience"
_NEGATIONS = frozenset({"no", "nunca", "jamas", "ni", "tampoco"})
_PRONOUNS = frozenset("me te se nos os le les lo la los las mas".split())
_WITH_PRONOUNS = re.compile(r"(?P<verb>\w{3,}?)(?:me|nos|te|se|les?)?(?P<it>l[oa]s?)?")
# Endings, without accents, of forms that tell of something: "apago", "apagaron", "encendían".
_TELLS = re.compile(
    r"o|as|es|an|en|[aei]mos|i|io|[ai]ste|aron|ieron|aba\w*|ia(?:s|n|mos|is)?|ando|iendo"
    r"|[aei]ra\w*|[aei]re\w*|[aei]ria\w*"
)


def asking_forms(verb: str) -> Iterator[str]:
    """Yield the forms of a verb that ask somebody for something: "enciende", "encienda",
    "encended", "encendé", "encender", "me enciendes", "que enciendas"."""
    familiar, infinitive, formal = _forms(verb)
    plain = infinitive[:-1]
    yield from (familiar, infinitive, formal, f"{formal}s", f"{formal}n", plain, f"{plain}d")
    for person in ("me", "nos"):
        second = familiar if familiar[-1] in "ae" else plain
        yield from (f"{person} {second}s", f"{person} {plain}s")


def forbidding_forms(verb: str) -> Iterator[str]:
    """Yield the forms that forbid something after "no": "no apagues", "no apague"."""
    *_, formal = _forms(verb)
    yield from (formal, f"{formal}s", f"{formal}n", f"{formal[:-1]}éis", f"{formal[:-1]}áis")


def past_forms(verb: str) -> Iterator[str]:
    """Yield the forms that only their accents distinguish from those that ask: "apagué"."""
    _, infinitive, formal = _forms(verb)
    if infinitive.endswith("ar"):
        yield f"{formal[:-1]}é"


def stems(verb: str) -> set[str]:
    """Return the beginnings that all forms of a verb have: "enciend" and "encend"."""
    familiar, infinitive, formal = _forms(verb)
    return {familiar.rstrip("ae"), infinitive[:-2], formal[:-1]}


def tells(word: str, beginnings: Collection[str]) -> bool:
    """Return True if a word without accents is a form that tells of something, such as "apagaba",
    of a verb with one of these stems. It is no typing error then."""
    return any(
        word[:size] in beginnings and _TELLS.fullmatch(word[size:]) for size in range(2, len(word))
    )


def forbids(words: Sequence[str], forms: Collection[str]) -> bool:
    """Return True if a negation stands before a verb: "no me la apagues"."""
    for at, word in enumerate(words):
        if word not in _NEGATIONS:
            continue
        after = (one for one in words[at + 1 :] if one not in _PRONOUNS)
        if next(after, "") in forms:
            return True
    return False


def without_pronouns(word: str, verbs: Collection[str]) -> list[str]:
    """Return the verb of a word such as "apágala", and "enclitico" if a pronoun stands for a
    thing. Other words are returned as they are."""
    found = _WITH_PRONOUNS.fullmatch(word)
    if found is None or word in verbs or found["verb"] not in verbs:
        return [word]
    return [found["verb"], "enclitico"] if found["it"] else [found["verb"]]


def _forms(verb: str) -> tuple[str, str, str]:
    familiar, infinitive, *rest = verb.split()
    return familiar, infinitive, rest[0] if rest else _formal(familiar, infinitive)


def _formal(familiar: str, infinitive: str) -> str:
    stem = familiar[:-1]
    if not infinitive.endswith("ar"):
        return f"{stem}a"
    return f"{stem[:-1]}{_SPELLED.get(stem[-1], stem[-1])}e"
