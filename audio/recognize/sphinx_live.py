"""English speech followed by grammar while it is spoken, with a way out for everything else."""

import re
from collections.abc import Sequence

import pocketsphinx

from audio.recognize.pronouncing import readings
from audio.recognize.protocol import Grammar
from audio.recognize.sphinx_network import add_network

_PIECE_BYTES = 3200  # 100 ms: decoding holds the interpreter's lock
_FRAME = 160  # samples: the decoder's step
_FILLERS = ("<", "[", "++", "(NULL)")
_GRAMMAR, _LEVEL = "grammar", "level"
_OTHER = "other_"  # + phone: a word of one phone, of which all other speech is made
_PHONES = (
    "AA AE AH AO AW AY B CH D DH EH ER EY F G HH IH IY JH K L M N NG OW OY P R S SH T TH UH UW V W"
    " Y Z ZH"
).split()
# Half the cost of pocketsphinx's own values, and as many commands heard.
_FAST = {"topn": 2, "beam": 1e-40, "pbeam": 1e-40, "wbeam": 1e-25}
# People pause: with its own (0.005, 0.65) a pause becomes a short word, "to" before it "to eight".
# What each word costs holds down the loop, of which every phone is one: less, and noise alone turns
# commands into other speech; more, and other speech becomes commands.
_WEIGHTS = {"silprob": 0.5, "wip": 0.01}
_PUBLIC = re.compile(r"^public <(\w+)> =", re.MULTILINE)


class SphinxLive:
    """pocketsphinx 5 that hears piece by piece. One thread at a time.

    Beside the grammar a loop of all phones competes for the sound: what is said outside the grammar
    comes out of that, and counts as nothing.
    """

    def __init__(self) -> None:
        """Loads the sounds of English, and no words."""
        self._decoder = pocketsphinx.Decoder(
            lm=None, dict=None, fwdflat=False, loglevel="FATAL", **_FAST, **_WEIGHTS
        )
        self._usual = self._decoder.get_cmn()
        self._decoder.add_word("oh", "OW", False)
        self._decoder.add_jsgf_string(_LEVEL, "#JSGF V1.0; grammar level; public <level> = oh;")
        self._decoder.activate_search(_LEVEL)
        self._ready = self._open = False

    def unknown(self, words: Sequence[str]) -> list[str]:
        """Those that are not in the dictionary, each once, in order."""
        known = readings(words)
        return [word for word in dict.fromkeys(words) if word not in known]

    def prepare(self, grammar: Grammar) -> None:
        """Use this grammar from now on. Raises InputUnusable when it cannot be built."""
        self.stop()
        self._decoder.activate_search(_LEVEL)
        if self._ready:
            self._decoder.remove_search(_GRAMMAR)
            self._ready = False
        others = {f"{_OTHER}{phone.lower()}": (phone,) for phone in _PHONES}
        loop = " | ".join(others)
        jsgf = _PUBLIC.sub(
            rf"public <heard> = <\1> | <other>+;\n<other> = {loop};\n<\1> =",
            grammar.jsgf,
        )
        add_network(self._decoder, _GRAMMAR, jsgf, {**grammar.pronunciations, **others})
        self._ready = True

    def start(self, pcm: bytes) -> None:
        """A sentence begins with this sound, a second or so, from which its level is known."""
        self.stop()
        self._decoder.activate_search(_LEVEL)
        self._decoder.set_cmn(self._usual)
        self._decoder.start_utt()
        self._push(pcm)
        self._decoder.end_utt()
        level = self._decoder.get_cmn(True)
        if not self._ready:
            return
        self._decoder.activate_search(_GRAMMAR)
        self._decoder.set_cmn(level)
        self._decoder.start_utt()
        self._open = True
        self._push(pcm)

    def hear(self, pcm: bytes) -> None:
        """The sentence goes on; 16 kHz mono int16 of any length."""
        if self._open:
            self._push(pcm)

    def words(self, before: int) -> tuple[str, ...]:
        """The words that began before sample `before` of the sentence's sound.

        () where what was said is none of the grammar's, or nothing.
        """
        if not self._open or self._decoder.hyp() is None:
            return ()
        # Where a word ends is not known: the last one stretches over the silence behind it.
        segments = (one for one in self._decoder.seg() if one.start_frame * _FRAME < before)
        said = [one.word.partition("(")[0] for one in segments]
        if any(word.startswith(_OTHER) for word in said):
            return ()
        return tuple(word for word in said if word and not word.startswith(_FILLERS))

    def stop(self) -> None:
        """The sentence is over."""
        if self._open:
            self._decoder.end_utt()
            self._open = False

    def _push(self, pcm: bytes) -> None:
        for at in range(0, len(pcm), _PIECE_BYTES):
            self._decoder.process_raw(pcm[at : at + _PIECE_BYTES], False, False)
