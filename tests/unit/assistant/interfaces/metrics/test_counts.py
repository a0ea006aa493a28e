"""Counters and histograms as plain numbers."""

from math import inf

from assistant.interfaces.prometheus import MOST_ROWS, OTHERS, Histogram, Tally


def test_a_tally_counts_each_combination_of_labels() -> None:
    tally = Tally()
    tally.add("a", "x")
    tally.add("a", "x", by=2.5)
    tally.add("a", "y")
    assert dict(tally.rows()) == {("a", "x"): 3.5, ("a", "y"): 1.0}


def test_a_tally_never_has_more_rows_than_it_may() -> None:
    tally = Tally()
    for number in range(MOST_ROWS + 50):
        tally.add(f"word {number}", "x")
    rows = dict(tally.rows())
    assert len(rows) == MOST_ROWS + 1
    assert rows[OTHERS, OTHERS] == 50.0


def test_a_value_counts_in_the_first_bound_that_it_does_not_pass() -> None:
    histogram = Histogram((1.0, 2.0))
    for value in (0.5, 1.0, 1.5, 2.0, 99.0):
        histogram.observe("a", value)
    [(label, buckets, total)] = histogram.rows()
    assert label == "a"
    assert list(buckets) == [(1.0, 2), (2.0, 4), (inf, 5)]
    assert total == 104.0


def test_a_histogram_never_has_more_rows_than_it_may() -> None:
    histogram = Histogram((1.0,))
    for number in range(MOST_ROWS + 50):
        histogram.observe(f"word {number}", 0.0)
    counts = {label: buckets[-1][1] for label, buckets, _ in histogram.rows()}
    assert len(counts) == MOST_ROWS + 1
    assert counts[OTHERS] == 50
