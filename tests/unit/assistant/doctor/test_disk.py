"""How a disk is judged, and how its figures are read."""

from dataclasses import replace

import pytest

from assistant.doctor.box import Disk, judge_disk, judge_journal, worn, written_a_day

WELL = Disk(free_mb=20_000, whole_mb=30_000, read_only=False, files_left=1_000_000)


@pytest.mark.parametrize(
    ("disk", "status", "words"),
    [
        (WELL, "ok", "19.5 of 29.3 GB free"),
        (replace(WELL, card=True, gb_a_day=0.4), "ok", "on a card, 0.4 GB written a day"),
        (replace(WELL, card=True, gb_a_day=9.0), "warn", "9.0 GB written a day"),
        (replace(WELL, gb_a_day=90.0), "ok", "90.0 GB"),  # no card
        (replace(WELL, free_mb=499), "warn", "0.5 of"),
        (replace(WELL, free_mb=49), "fail", "0.0 of"),
        (replace(WELL, read_only=True), "fail", "cannot be written"),
        (replace(WELL, files_left=3), "warn", "3 more files"),
        (replace(WELL, files_left=None), "ok", "free"),
        (replace(WELL, card=True, life=9), "warn", "90 % of its life"),
        (replace(WELL, card=True, life=3), "ok", "on a card"),
    ],
)
def test_a_disk(disk: Disk, status: str, words: str) -> None:
    found = judge_disk(disk)
    assert found.status == status
    assert words in found.detail
    assert bool(found.mend) == (status != "ok")


def test_a_journal_that_grows_too_large() -> None:
    assert judge_journal("hearth.db", 5 * 2**20, 200).detail == "hearth.db, 5.0 of at most 200 MB"
    assert judge_journal("hearth.db", 230 * 2**20, 200).status == "ok"
    assert judge_journal("hearth.db", 260 * 2**20, 200).status == "warn"


def test_what_was_written() -> None:
    stat = "5 0 40 1 9 0 8000000 7 0 3 8"
    assert written_a_day(stat, 86_400) == pytest.approx(4.096)
    assert written_a_day(stat, 2 * 86_400) == pytest.approx(2.048)
    assert written_a_day(stat, 60) is None
    assert written_a_day("", 86_400) is None


def test_how_worn_it_is() -> None:
    assert worn("0x02 0x0b") == 11
    assert worn("0x00 0x00") is None
    assert worn("") is None
    assert worn("none") is None
