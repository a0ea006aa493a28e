"""Spanish grammar: forms of verbs that ask for or tell of something, and nouns that are left out.

The verbs come from `phrases/es.toml`, each written as its imperative and its infinitive, and as the
formal imperative too if that is irregular: "enciende encender", "pon poner ponga".
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from assistant.tools.vocabulary import fold

_SPELLED = {"g": "gu", "c": "qu", "z": "c"}  # before the "e" of "apague", "toque", "comience"
_NEGATIONS = frozenset({"no", "nunca", "jamas", "ni", "tampoco"})
_PRONOUNS = frozenset("me te se nos os le les lo la los las mas".split())
_WITH_PRONOUNS = re.compile(r"(?P<verb>\w{3,}?)(?:me|nos|te|se|les?)?(?P<it>l[oa]s?)?")
# Endings, without accents, of forms that tell of something: "apago", "apagaron", "encendían".
_TELLS = re.compile(
    r"o|as|es|an|en|[aei]mos|i|io|[ai]ste|aron|ieron|aba\w*|ia(?:s|n|mos|is)?|ando|iendo"
    r"|[aei]ra\w*|[aei]re\w*|[aei]ria\w*"
)
_WHETHER = re.compile(r"^(?:[¿\s]*oye,?\s+)?[¿\s]*a ver si\s+", re.IGNORECASE)
_ENDING = re.compile(r"\W*$")
_JOINTS = frozenset({"y", "e", "luego", "pero"})
_LEADS = _JOINTS | {"oye", "hola", "porfa", "che", "mira", "ahora", "pues"}
_STATE_ASKED = re.compile(
    r"¿?(?P<what>(?:el|la|los|las|mi|mis) .+?) (?P<verb>est[áa]n?) (?P<state>\w+(?: con llave)?)\?",
    re.IGNORECASE,
)
_LEFT_OUT = re.compile(
    r"(?:(?:y|ahora|también|pues|mejor)\s+)*(?P<article>el|la|los|las)\s+(?P<whose>del?\b.+?)"
    r"(?:\s+(?:también|igual|tampoco))?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Verbs:
    """Forms of verbs, without accents unless noted."""

    imperatives: Mapping[str, str] = field(default_factory=dict)  # of each form that asks
    seconds: Mapping[str, str] = field(default_factory=dict)  # of forms such as "enciendes"
    forbidding: frozenset[str] = frozenset()  # forms after "no"
    past: frozenset[str] = frozenset()  # told from forms that ask by an accent alone, with it
    stems: frozenset[str] = frozenset()


def verbs_of(written: Iterable[str], questions: Collection[str] = ()) -> Verbs:
    """Return the forms of the verbs. `questions` are words of questions, in which a past form is no
    mistake: "¿dejé la luz encendida?"."""
    imperatives: dict[str, str] = {}
    seconds: dict[str, str] = {}
    forbidding, past, stems = set(), set(), set()
    for verb in written:
        familiar, infinitive, formal = _forms(verb)
        plain = infinitive[:-1]
        imperatives |= {fold(form): familiar for form in asking_forms(verb)}
        seconds |= {fold(f"{form}s"): familiar for form in (familiar, plain)}
        forbidding |= {fold(f"{formal}{end}") for end in ("", "s", "n")}
        forbidding |= {fold(f"{formal[:-1]}{end}") for end in ("éis", "áis")}
        past |= {f"{formal[:-1]}é"} if infinitive.endswith("ar") else set()
        stems |= {fold(one) for one in (familiar.rstrip("ae"), infinitive[:-2], formal[:-1])}
    known = frozenset(past - set(questions))
    return Verbs(imperatives, seconds, frozenset(forbidding), known, frozenset(stems))


def asking_forms(verb: str) -> Iterator[str]:
    """Yield the forms of a verb that ask somebody for something: "enciende", "encienda",
    "encended", "encendé", "encender", "que enciendas", "me gustaría que encendieras"."""
    familiar, infinitive, formal = _forms(verb)
    plain = infinitive[:-1]
    yield from (familiar, infinitive, formal, f"{formal}s", f"{formal}n", plain, f"{plain}d")
    yield f"{plain if infinitive.endswith('ar') else infinitive[:-2] + 'ie'}ras"


def tells(word: str, verbs: Verbs) -> bool:
    """Return True if a word without accents is a form that tells of something, such as "apagaba".
    It is no typing error then."""
    return any(
        word[:size] in verbs.stems and _TELLS.fullmatch(word[size:]) for size in range(2, len(word))
    )


def forbids(words: Sequence[str], verbs: Verbs) -> bool:
    """Return True if a negation stands before a verb: "no me la apagues"."""
    for at, word in enumerate(words):
        if word not in _NEGATIONS:
            continue
        after = (one for one in words[at + 1 :] if one not in _PRONOUNS)
        if next(after, "") in verbs.forbidding:
            return True
    return False


def without_pronouns(word: str, verbs: Verbs) -> list[str]:
    """Return the verb of a word such as "apágalo", and "enclitico", "enclitica" or a plural
    of these if a pronoun stands for a thing. Other words are returned as they are."""
    found = _WITH_PRONOUNS.fullmatch(word)
    if found is None or word in verbs.imperatives or found["verb"] not in verbs.imperatives:
        return [word]
    it = found["it"]
    if not it:
        return [found["verb"]]
    pronoun = "enclitica" if "a" in it else "enclitico"
    return [found["verb"], f"{pronoun}s" if it.endswith("s") else pronoun]


def in_imperative(text: str, verbs: Verbs) -> str:
    """Return the sentence with familiar imperatives in place of other forms: "enciende la luz" for
    "¿me enciendes la luz?" and "enciéndame la luz".

    Verbs that another one is followed by stay as they are: "recuérdame apagar la luz".
    """
    said = _WHETHER.sub("", text)
    asked = said != text or "?" in text
    made: list[str] = []
    begins = True
    for word in said.split():
        plain = fold(word)
        for_me = bool(made) and fold(made[-1]) in ("me", "nos")
        verb, *it = without_pronouns(plain, verbs)
        found = None if it or not begins else verbs.imperatives.get(verb)
        lead = made[:-1] if for_me else made
        first = not lead or lead[-1].endswith(",") or fold(lead[-1]) in _LEADS
        if begins and not found and first and (for_me or asked):
            found = verbs.seconds.get(plain)
            if found and for_me:
                made.pop()
        ending = _ENDING.search(word)
        made.append(f"{found}{ending[0] if ending else ''}" if found else word)
        begins = (begins and not found) or word[-1] in ",.;" or plain in _JOINTS
    return " ".join(made)


def verb_first(text: str) -> str:
    """Return "¿está cerrada la puerta?" for "¿la puerta está cerrada?"."""
    found = _STATE_ASKED.fullmatch(text.strip())
    return f"{found['verb']} {found['state']} {found['what']}" if found else text


def lacks_a_noun(part: str) -> bool:
    """Return True for "la del garaje", which needs the noun of the part before."""
    return _LEFT_OUT.fullmatch(part.strip(" .!?¿¡")) is not None


def noun_said(part: str, before: str) -> tuple[str, str] | None:
    """Return "enciende" and "la luz del garaje" for "la del garaje" after "enciende la luz de la
    cocina", or None if no noun is left out."""
    left_out = _LEFT_OUT.fullmatch(part.strip(" .!?¿¡"))
    if left_out is None:
        return None
    article = left_out["article"]
    noun = re.match(rf"(.*?)\b({article}\s+\w+)\s+del?\b", before, re.IGNORECASE)
    return (noun[1].strip(), f"{noun[2]} {left_out['whose']}") if noun else None


def _forms(verb: str) -> tuple[str, str, str]:
    familiar, infinitive, *rest = verb.split()
    return familiar, infinitive, rest[0] if rest else _formal(familiar, infinitive)


def _formal(familiar: str, infinitive: str) -> str:
    stem = familiar[:-1]
    if not infinitive.endswith("ar"):
        return f"{stem}a"
    return f"{stem[:-1]}{_SPELLED.get(stem[-1], stem[-1])}e"
