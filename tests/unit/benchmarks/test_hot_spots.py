"""Tests of the parsing of py-spy's samples."""

from tests.benchmarks.hot_spots import read


def test_a_sample_counts_for_the_innermost_function() -> None:
    told = """\
main (assistant/cli/main.py:3);send (json/encoder.py:200) 3
main (assistant/cli/main.py:3);send (json/encoder.py:215) 2
_feed (assistant/conversation/grammar_endpointer.py:218) 7
"""
    assert read(told) == {
        "send (json/encoder.py)": 5,
        "_feed (assistant/conversation/grammar_endpointer.py)": 7,
    }
