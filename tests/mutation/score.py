"""Share of mutants that the tests notice, by part of the product. Pure except for `read`.

mutmut leaves a `.meta` in JSON beside each mutated file below `mutants/`: the exit code that the
tests gave for every mutant.
"""

import json
import random
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Part:
    """A part that is counted separately."""

    called: str
    modules: tuple[str, ...]  # what their names begin with
    tests: str  # the folder


PARTS = {
    "turn": Part(
        "the turn machine", ("assistant.conversation.rules.",), "tests/unit/assistant/conversation"
    ),
    "policy": Part(
        "the policy",
        ("assistant.tools.", "assistant.domain.tool_call."),
        "tests/unit/assistant/tools",
    ),
    "converter": Part("the converter", ("integrations.gemini.",), "tests/unit/integrations/gemini"),
    "speech": Part("what is spoken", ("assistant.speech.",), "tests/unit/assistant/speech"),
}
_KILLED = frozenset({1, 3})  # a test failed; pytest itself did
_TIMED_OUT = frozenset({-24, 24, 36, 152, 255})
_SURVIVED = frozenset({0, 5, 33})  # all tests passed; no test came by

Codes = Mapping[str, int | None]  # exit codes by the name of the mutant; None: not tried


@dataclass(frozen=True, slots=True)
class Score:
    """The results of the mutants of one part."""

    made: int
    killed: int
    timed_out: int
    survived: int
    odd: int = 0  # pytest died of it, or was stopped

    @property
    def tried(self) -> int:
        """Return the number of mutants against which tests were run."""
        return self.killed + self.timed_out + self.survived + self.odd

    @property
    def noticed(self) -> float:
        """Return the percentage of the tried ones that a test noticed; 0 if none was tried."""
        return 100 * (self.killed + self.timed_out) / self.tried if self.tried else 0.0


def score(codes: Iterable[int | None]) -> Score:
    """Count the exit codes of one part's mutants."""
    counts = Counter(codes)
    made, untried = counts.total(), counts.pop(None, 0)
    killed, timed_out, survived = (
        sum(counts[code] for code in kind) for kind in (_KILLED, _TIMED_OUT, _SURVIVED)
    )
    return Score(made, killed, timed_out, survived, made - untried - killed - timed_out - survived)


def table(codes: Codes) -> str:
    """Return a row for each part, as Markdown."""
    lines = [
        "| part | mutants | tried | killed | timed out | survived | noticed |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, part in PARTS.items():
        one = score(of_part(codes, name).values())
        share = f"{one.noticed:.1f} %" if one.tried else "-"
        lines.append(
            f"| {part.called} | {one.made} | {one.tried} | {one.killed} | {one.timed_out} "
            f"| {one.survived + one.odd} | {share} |"
        )
    return "\n".join(lines)


def of_part(codes: Codes, part: str) -> dict[str, int | None]:
    """Return the mutants of one part's modules."""
    return {name: code for name, code in codes.items() if name.startswith(PARTS[part].modules)}


def survivors(codes: Codes) -> list[str]:
    """Return the names of those that no test noticed, in order."""
    return sorted(name for name, code in codes.items() if code in _SURVIVED)


def sample(codes: Codes, count: int, seed: int) -> list[str]:
    """Return `count` mutants, or all if there are fewer: the same ones for the same seed."""
    names = sorted(codes)
    return sorted(random.Random(seed).sample(names, min(count, len(names))))


def read(folder: Path) -> dict[str, int | None]:
    """Return all exit codes below the folder."""
    codes: dict[str, int | None] = {}
    for meta in sorted(folder.rglob("*.py.meta")):
        codes |= json.loads(meta.read_text(encoding="utf-8"))["exit_code_by_key"]
    return codes


def note(folder: Path, found: Codes) -> None:
    """Write exit codes to where they were read from."""
    for meta in folder.rglob("*.py.meta"):
        told = json.loads(meta.read_text(encoding="utf-8"))
        known = {name: code for name, code in found.items() if name in told["exit_code_by_key"]}
        if known:
            told["exit_code_by_key"] |= known
            meta.write_text(json.dumps(told, indent=4), encoding="utf-8")
