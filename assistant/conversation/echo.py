"""Whether words are our own voice, come back through the microphone. Judged by text alone.

Only for speech that began while we spoke: what a person says later is theirs, whatever it repeats.
"""

from collections.abc import Iterable, Sequence
from functools import cache

from assistant.confirmation.wording import wording, words_of

LEAST_WORDS = 4  # fewer may always be a person's
OURS_SHARE = 0.8  # of the words, from which on they are ours
LAST_WORDS = 50  # of what we said: about 20 s of speech


def is_echo(heard: str, ours: Iterable[str], languages: Sequence[str]) -> bool:
    """Whether `heard` repeats what we said last. A yes or no in it is a person's.

    `ours`: the clauses that sounded, in order. `languages`: whose words for yes and no count.
    """
    words = words_of(heard)
    if words is None or len(words) < LEAST_WORDS:
        return False
    said = [word for clause in ours for word in words_of(clause) or ()][-LAST_WORDS:]
    known = set(said)
    if not _answers(tuple(languages)).isdisjoint(words):
        return False
    return sum(word in known for word in words) >= OURS_SHARE * len(words)


@cache
def _answers(languages: tuple[str, ...]) -> frozenset[str]:
    """The single words that mean yes or no in these languages."""
    codes = {code.replace("_", "-").split("-")[0].lower() for code in languages}
    forms = [found for code in codes if (found := wording(code)) is not None]
    single = [one[0] for form in forms for one in form.yes | form.no if len(one) == 1]
    return frozenset(word for one in single for word in words_of(one) or ())  # without accents
