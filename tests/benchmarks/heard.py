"""Error in words of the estimate of what was heard, for a voice that reports no word's end.

Every clause of the golden corpus as espeak-ng says it, looked at every 50 ms of its sound, against
the words' ends that its library tells. "Made so far": the clause is not known to be whole yet.
"""

from pathlib import Path

import numpy as np

from assistant.speech.sink import PlaybackProgress
from tests.benchmarks.figures import print_table, write_figures
from tests.espeak_words import RATE, WordTimes, espeak_words

GOLDEN = Path(__file__).resolve().parents[1] / "unit" / "assistant" / "speech" / "golden"
VOICES = {"en": "en-us", "es": "es", "de": "de", "fr": "fr", "pt": "pt-br", "vi": "vi"}
STEP = RATE // 20  # samples


def clauses(language: str) -> list[str]:
    """Return the corpus's clauses in a language that have three or more words."""
    table = f"{language}.tsv" if language in ("en", "es") else "others.tsv"
    rows = [line.split("\t") for line in (GOLDEN / table).read_text("utf-8").splitlines()]
    said = [row[3] for row in rows if len(row) > 3 and row[1] == language]
    return [text for text in said if len(text.split()) >= 3]


def errors(truth: WordTimes, *, whole: bool) -> list[int]:
    """Return the words too many (negative: too few) at each step."""
    made = PlaybackProgress(truth.text)
    made.add(truth.pcm, RATE)
    made.whole = whole
    return [
        made.words_heard(at / RATE * 1000) - sum(end <= at for end in truth.ends)
        for at in range(0, len(truth.pcm) // 2, STEP)
    ]


def main() -> None:
    """Measure each language."""
    rows: list[tuple[object, ...]] = []
    for language, voice in VOICES.items():
        truths = [espeak_words(text, voice) for text in clauses(language)]
        known = [truth for truth in truths if truth is not None]
        if not known:
            print("libespeak-ng.so.1 is not here: nothing is measured")
            return
        for whole in (True, False):
            off = np.array([one for truth in known for one in errors(truth, whole=whole)])
            size = np.abs(off)
            p95, most = int(np.percentile(size, 95)), int(size.max())
            share = f"{np.mean(size <= 1) * 100:.1f} %"
            made = "whole" if whole else "made so far"
            figures = (f"{size.mean():.2f}", f"{off.mean():+.2f}", p95, most, share)
            rows.append((language, made, len(known), *figures))
    head = ("language", "clause", "clauses", "mean", "bias", "p95", "most", "at most 1")
    print_table(head, rows)
    write_figures("heard", [dict(zip(head, row, strict=True)) for row in rows])


if __name__ == "__main__":
    main()
