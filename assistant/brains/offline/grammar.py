"""The sentences that the recogniser listens for, made from the house's own names."""

import logging
import shutil
import subprocess
from collections.abc import Mapping, Sequence

from assistant.brains.offline.memory_sentences import SPOKEN as MEMORY_SPOKEN
from assistant.brains.offline.names import Names
from assistant.brains.offline.numbers import number_words
from assistant.brains.offline.undoing import SPOKEN as UNDO_SPOKEN

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
    *UNDO_SPOKEN,
    *MEMORY_SPOKEN,
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


# Pronunciations for words outside the dictionary: espeak-ng's phonemes as ARPAbet.


_log = logging.getLogger(__name__)

_ACCENTS = ("en-us", "en-gb")  # two readings are better than one where nobody knows how it is said
_TIMEOUT_S = 20.0  # for all words together

# International Phonetic Alphabet as espeak-ng 1.51 writes English -> the 39 phones of CMUdict.
# Longest key wins; what is not here (stress, length, ties) is silent.
_ARPABET = {
    "aɪ": "AY", "aʊ": "AW", "eɪ": "EY", "oʊ": "OW", "əʊ": "OW", "ɔɪ": "OY",
    "aɪɚ": "AY ER", "aɪə": "AY AH", "iə": "IY AH", "eə": "EH R", "ʊə": "UH R", "ɪə": "IH R",
    "tʃ": "CH", "dʒ": "JH", "əl": "AH L", "ɜː": "ER", "ɔː": "AO", "ɑː": "AA", "oː": "AO",
    "uː": "UW", "iː": "IY", "eː": "EY", "aː": "AA",
    "a": "AE", "æ": "AE", "ɑ": "AA", "ɒ": "AA", "ɐ": "AH", "ʌ": "AH", "ə": "AH", "ɚ": "ER",
    "ɝ": "ER", "ɜ": "ER", "ɛ": "EH", "e": "EH", "ɪ": "IH", "ᵻ": "IH", "i": "IY", "ɔ": "AO",
    "o": "OW", "ʊ": "UH", "u": "UW", "y": "UW",
    "b": "B", "d": "D", "ð": "DH", "f": "F", "ɡ": "G", "g": "G", "h": "HH", "j": "Y", "k": "K",
    "l": "L", "m": "M", "n": "N", "ŋ": "NG", "p": "P", "ɹ": "R", "r": "R", "ɾ": "T", "s": "S",
    "ʃ": "SH", "t": "T", "θ": "TH", "v": "V", "w": "W", "x": "K", "z": "Z", "ʒ": "ZH", "ʔ": "T",
    "ɬ": "L", "ɲ": "N Y", "β": "V", "ɣ": "G", "ç": "HH",
}  # fmt: skip
# People read a made-up name with another vowel than espeak-ng, mostly in its first syllable.
_OTHER_VOWELS = {
    "IY": ("EH",), "EH": ("IY",), "AA": ("AE", "OW"), "AE": ("AA", "EY"), "AY": ("IH",),
    "IH": ("AY",), "OW": ("AA",), "AO": ("AA",), "UW": ("AH",), "AH": ("UW",), "EY": ("AE",),
}  # fmt: skip
_LATER_VOWELS = {"AY": ("IY", "IH")}  # "Zephyra"
_VOWELS = frozenset((*_OTHER_VOWELS, "AW", "ER", "OY", "UH"))
_LONGEST = max(len(symbol) for symbol in _ARPABET)


def arpabet(ipa: str) -> str:
    """One word's phones, separated by spaces, "" when nothing of it can be said."""
    phones: list[str] = []
    at = 0
    while at < len(ipa):
        for length in range(_LONGEST, 0, -1):
            phone = _ARPABET.get(ipa[at : at + length])
            if phone is not None:
                phones.append(phone)
                break
        at += length
    return " ".join(phones)


def pronounce(words: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """ARPAbet readings of each word, by one espeak-ng process per accent.

    A word that espeak-ng cannot say is absent. Without espeak-ng the result is empty.
    """
    program = shutil.which("espeak-ng")
    if program is None or not words:
        return {}
    readings: dict[str, dict[str, None]] = {word: {} for word in words}
    for accent in _ACCENTS:
        for word, ipa in zip(words, _phonemes(program, accent, words), strict=False):
            phones = arpabet(ipa)
            if phones:
                readings[word] |= dict.fromkeys((phones, *_other_readings(phones)))
    return {word: tuple(found) for word, found in readings.items() if found}


def _other_readings(phones: str) -> list[str]:
    """The same with other vowels: in the first syllable, and for a long i in a later one."""
    said = phones.split()
    first = next((at for at, phone in enumerate(said) if phone in _VOWELS), len(said))
    found = [said]
    for at, phone in enumerate(said):
        others = _OTHER_VOWELS.get(phone, ()) if at == first else _LATER_VOWELS.get(phone, ())
        found += [[*one[:at], other, *one[at + 1 :]] for one in found for other in others]
    return [" ".join(one) for one in found[1:]]


def _phonemes(program: str, accent: str, words: Sequence[str]) -> list[str]:
    """One line of phonemes a word; empty when the program does not answer line by line."""
    run = subprocess.run(
        [program, "-q", "--ipa", "-v", accent],
        input="".join(f"{word}.\n\n" for word in words),
        capture_output=True,
        text=True,
        timeout=_TIMEOUT_S,
        check=False,
    )
    lines = [line.strip() for line in run.stdout.splitlines() if line.strip()]
    if run.returncode != 0 or len(lines) != len(words):
        _log.warning("espeak-ng did not pronounce %d words", len(words))
        return []
    return lines
