"""Search for odd texts from which anything but speech comes out, in every language.

    python -m tests.benchmarks odd_texts            5,000 texts
    LONG=1 python -m tests.benchmarks odd_texts     100,000 texts

It says nothing about what sounds right: that is the golden corpus's part.
"""

import time

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.benchmarks.figures import how_many, print_table, write_figures
from tests.corpus.odd_texts import LANGUAGES, TEXTS, check_speech


def main() -> None:
    count = how_many(5_000, 100_000)
    tried = 0

    @given(TEXTS, st.sampled_from(LANGUAGES))
    @settings(
        max_examples=count,
        deadline=None,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    def speak(written: str, language: str) -> None:
        nonlocal tried
        tried += 1
        check_speech(written, language)

    began = time.perf_counter()
    speak()  # raises with the smallest text that breaks a rule
    seconds = time.perf_counter() - began
    print_table(("texts", "broken rules", "seconds"), [(tried, 0, f"{seconds:.0f}")])
    write_figures("odd_texts", {"texts": tried, "broken": 0, "seconds": round(seconds, 1)})
