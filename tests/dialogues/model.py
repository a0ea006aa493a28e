"""A model that understands exactly what reaches it, and acts as the dialogue says.

It does not measure Gemini: it never misunderstands words that came whole. It shows whether they
come whole, and what becomes of its calls. It says "Done." whatever the result, as models do.
"""

import json
import re
from collections.abc import Callable, Collection, Sequence
from typing import Any

from assistant.tools.builtin.protocol import FIND_TOOLS
from tests.dialogues.script import Deed, Dialogue, Line
from tests.dialogues.sound import Recording
from tests.simulators.records import HeardTurn, OnceRequest
from tests.simulators.script import Call, CallTogether, Done, Hear, Say, Step

SORRY = {"en": "Sorry, what did you say?", "es": "Perdona, ¿qué has dicho?"}
_DONE = {"en": "Done.", "es": "Hecho."}
_FINE = {"en": "All right.", "es": "De acuerdo."}
_CODES = {"en": "en-GB", "es": "es-ES"}
_FIRST_BYTES = 2 * 3_200  # by which the place of a sound in the recording is found


class Model:
    """Knows the dialogue and the recording that is being played."""

    def __init__(
        self,
        tool: Callable[[str], str],
        sent: Callable[[HeardTurn], Collection[str]] | None = None,
    ) -> None:
        """`tool` returns the full name of a tool, by the part after "__". `sent` returns the names
        of the functions that a Live session has."""
        self._tool = tool
        self._sent = sent
        self._dialogue: Dialogue | None = None
        self._recording: Recording | None = None
        self._declared: Collection[str] = ()
        self.misses: list[str] = []  # results that did not hold what the model then told
        self.heard: list[str] = []  # what reached it, an entry a time

    def listen_to(self, dialogue: Dialogue, recording: Recording | None) -> None:
        """Play this from now on; without a recording it is typed."""
        if dialogue is not self._dialogue:
            self.misses, self.heard = [], []
        self._dialogue, self._recording = dialogue, recording

    # --- the services

    def live(self, heard: HeardTurn) -> Sequence[Step]:
        """Answer one turn of Gemini Live."""
        self._declared = self._sent(heard) if self._sent is not None else ()
        if heard.kind == "text":
            return [*self._say(self._typed(heard.text)), Done()]
        words, line = self._spoken(heard.pcm)
        steps: list[Step] = [Hear(words, language=_CODES[self._language])] if words else []
        return [*steps, *self._say(line), Done()]

    def once(self, request: OnceRequest) -> Sequence[Step]:
        """Answer one turn of generateContent."""
        self._declared = request.functions
        if request.audio:
            return [*self._say(self._spoken(request.audio)[1]), Done()]
        return [*self._say(self._typed(" ".join(request.texts))), Done()]

    def transcript(self, pcm: bytes) -> str:
        """Return a recogniser's text: every whole word in the sound."""
        return self._spoken(pcm)[0]

    # --- understanding

    @property
    def _language(self) -> str:
        assert self._dialogue is not None
        return self._dialogue.language

    def _lines(self) -> list[Line]:
        assert self._dialogue is not None
        return [line for turn in self._dialogue.turns for line in (turn.line, *turn.replies)]

    def _spoken(self, pcm: bytes) -> tuple[str, Line | None]:
        """Return the words in a sound, and the last wanted line that is whole in it."""
        assert self._recording is not None, "sound came in a typed turn"
        at = self._recording.pcm.find(pcm[:_FIRST_BYTES])
        if not pcm or at < 0:
            self.heard.append("(sound that is not in the recording)")
            return "", None
        start, end = at // 2, (at + len(pcm)) // 2
        words = " ".join(self._recording.words_in(start, end, wanted_only=False))
        self.heard.append(words)
        whole = self._recording.words_in(start, end)
        known = {line.words: line for line in self._lines()}
        found = [known[one] for one in whole if one in known]
        return words, found[-1] if found else None

    def _typed(self, text: str) -> Line | None:
        self.heard.append(text)
        found = [line for line in self._lines() if line.words in text]
        return found[-1] if found else None

    # --- acting

    def _say(self, line: Line | None) -> list[Step]:
        if line is None:
            return [Say(SORRY[self._language])]
        calls = [self._call(deed) for deed in line.deeds]
        told = line.told or (_DONE if calls else _FINE)[self._language]
        if not calls:
            return [Say(told)]
        searches = [self._search(call.name) for call in calls if self._must_search(call.name)]
        return [*searches, calls[0] if len(calls) == 1 else CallTogether(*calls), Say(told)]

    def _must_search(self, tool: str) -> bool:
        return tool not in self._declared and FIND_TOOLS in self._declared

    def _search(self, tool: str) -> Call:
        """Search for a tool by the words of its name, as the list of other tools shows it."""

        def note(response: dict[str, Any]) -> bool:
            if f'"name": "{tool}"' not in response.get("data", ""):
                self.misses.append(f"{tool} was not found: {response}"[:300])
            return True

        words = " ".join(re.findall(r"[A-Z]?[a-z]+", tool.rpartition("__")[2]))
        return Call(FIND_TOOLS, {"query": words}, answer=note)

    def _call(self, deed: Deed) -> Call:
        def note(response: dict[str, Any]) -> bool:
            said = json.dumps(response, ensure_ascii=False)
            if deed.finds and deed.finds not in said:
                self.misses.append(f"{deed.tool} did not tell {deed.finds!r}: {said[:300]}")
            return True

        return Call(self._tool(deed.tool), dict(deed.arguments), answer=note)
