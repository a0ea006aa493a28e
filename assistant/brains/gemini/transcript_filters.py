"""Filters for the transcript of the model's speech, which arrives in chunks."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

# Some models transcribe other sounds as marks: "[Silence]", "<noise>", "[laughs]". Control tokens
# can leak, too: "<ctrl46>", "<|im_end|>".
_MARK = re.compile(r"\[[^\[\]\n]{0,30}\]|<[/|a-z][^<>\n]{0,30}>", re.IGNORECASE)
_OPEN_MARK = re.compile(r"(?:\[[^\[\]\n]{0,30}|<(?:[/|a-z][^<>\n]{0,30})?)$", re.IGNORECASE)


class MarkFilter:
    """Removes marks such as `[Silence]`, even if they are split between chunks."""

    def __init__(self) -> None:
        self._held = ""  # possible beginning of a mark

    def push(self, piece: str) -> str:
        """Add a chunk and return the text that can't be part of a mark."""
        text = _MARK.sub("", self._held + piece)
        begun = _OPEN_MARK.search(text)
        start = begun.start() if begun else len(text)
        self._held = text[start:]
        return text[:start]

    def flush(self) -> str:
        held, self._held = self._held, ""
        return held


# Beginnings of tool calls and results that models speak as text (AidenAI-IO/aiden-firmware #708,
# livekit/agents #2174). The last ones are written by models on a local server that doesn't know
# their format (vLLM's page "Tool Calling" lists the formats).
_LEAKS = (
    *("call:", "call :", "tool_call", "tool call", "tool_code", "tool code", "tool_output"),
    *("tool output", "tool_response", "tool response", "default_api", "print(", '{"', "```"),
    *("<tool_call", "<function", "<|", "[tool_calls]", '[{"'),
)
# Calls that begin with the tool's name: 'HassTurnOn(area="Office")', 'HassTurnOn {"area": …'.
_LEAKED_CALL = re.compile(r"\w+(?:\(\s*(?:\)|\w+\s*=|[\"'{])|\s?[:=]?\s?\{)")
_BEGUN_CALL = re.compile(r"\w*(?:\s?[:=]?\s?|\(\s*\w*\s*)")
_LEAKED = re.compile(r"\s*(?:(?:tool )?\w+\s?[:=]?\s*)?\{[^{}]*\}")
_SENTENCE_END = re.compile(r"[.!?…\n][\"'»)]*(?:\s+|$)")


class LeakFilter:
    """Removes tool calls and results that the model writes into its transcript, so that they aren't
    spoken.

    They appear where a sentence could begin, so the filter holds back the first word of each
    sentence until it is clear that no call or result begins there.
    """

    def __init__(self) -> None:
        self.leaked = False  # the rest of the text is a tool call or result
        self._begins = True  # the text that is held back begins a sentence
        self._held = ""

    def begin(self) -> None:
        """Check the next text again, because a new call has arrived."""
        self.leaked = False
        self._begins = True
        self._held = ""

    def push(self, piece: str) -> str:
        """Add a chunk and return the text that can be spoken."""
        self._held += piece
        said = ""
        while self._held and not self.leaked:
            if self._begins:
                begins = self._held.lstrip().casefold()
                self.leaked = begins.startswith(_LEAKS) or bool(_LEAKED_CALL.match(begins))
                may_leak = any(leak.startswith(begins) for leak in _LEAKS)
                if self.leaked or may_leak or _BEGUN_CALL.fullmatch(begins):
                    break
            end = _SENTENCE_END.search(self._held)
            length = end.end() if end else len(self._held)
            said, self._held = said + self._held[:length], self._held[length:]
            self._begins = end is not None
        return said

    def flush(self) -> str:
        """Return the remaining text, without a leaked tool result at its start."""
        rest, self._held = self._held, ""
        if not self.leaked:
            return rest
        found = _LEAKED.match(rest)
        return rest[found.end() :] if found else ""


_SENTENCE = re.compile(r".+?(?:[.!?…。！？]+[\"'»)]*\s*|$)", re.DOTALL)
_LEAST_WORDS = 3  # shorter sentences may be repeated on purpose: "No. No."


class RepeatFilter:
    """Drops a sentence that repeats the previous one word for word, unless it is very short.

    A model can repeat a sentence before it makes a call (google-gemini/gemini-live-api-examples
    #46), and the service can send a transcript twice (google-gemini/cookbook #1346).
    """

    def __init__(self) -> None:
        self._last = ""  # the previous sentence
        self._begun = ""  # the part of the current sentence that was let through
        self._held = ""  # the part that so far repeats the previous sentence

    def begin(self) -> None:
        """Forget the previous sentence, because the next one can report a call's result."""
        self._last = ""

    def push(self, piece: str) -> str:
        """Add a chunk and return the text that can be spoken."""
        return "".join(self._take(part) for part in _SENTENCE.findall(piece))

    def flush(self) -> str:
        held, self._held = self._held, ""
        return held

    def _take(self, part: str) -> str:
        self._held += part
        words = _plain(self._begun + self._held)
        may_repeat = not self._begun and len(self._last.split()) >= _LEAST_WORDS
        if not ends_sentence(part):
            if may_repeat and self._last.startswith(words):
                return ""
            self._begun += self._held
            return self.flush()
        text = self.flush()
        self._begun = ""
        if may_repeat and words == self._last:
            return ""
        self._last = words
        return text


def ends_sentence(text: str) -> bool:
    """Return True if the text can be the end of a sentence: "…are on.", "…at 50 %"."""
    last = text.rstrip()[-1:]
    return bool(last) and not last.isalnum() and last not in ",;:-–—"


class EchoFilter:
    """Drops the phantom transcript that some models send after a function call.

    According to reports, gemini-3.1-flash-live follows a call with a transcript that contains only
    one of the call's string arguments, in a frame without audio. After the call's result, a real
    sentence may begin with the same words, so the text is held back until it is clear whether it
    was spoken.
    """

    def __init__(self) -> None:
        self._echoes: frozenset[str] = frozenset()
        self._held = ""
        self._sounded = False  # audio has arrived since the text was held back

    def called(self, arguments: Iterable[Mapping[str, Any]]) -> None:
        texts = (_plain(text) for each in arguments for text in _strings(each))
        self._echoes = frozenset(text for text in texts if text)
        self._held = ""

    def sound(self) -> None:
        if self._held:
            self._sounded = True

    def push(self, piece: str, with_sound: bool, answered: bool) -> str:
        """Add a chunk and return the text that can be spoken.

        `with_sound` is True if the frame contains audio, and `answered` is True if no call is open.
        """
        if not piece:
            return ""
        if not with_sound and not self._held and _plain(piece) in self._echoes:
            if answered:
                self._held, self._sounded = piece, False
            return ""
        held, self._held = self._held, ""
        if piece.strip():
            self._echoes = frozenset()
        return held + piece if _continues(piece) else piece

    def flush(self) -> str:
        """Return the text that is still held back at the end, if the model spoke it."""
        held, self._held = self._held, ""
        return held if self._sounded else ""


def _continues(piece: str) -> bool:
    return not (piece[0].isupper() or piece[0] in "¿¡")


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _strings(inner)
    elif isinstance(value, Sequence):
        for inner in value:
            yield from _strings(inner)
