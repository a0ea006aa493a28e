"""Tests of the report: its document, its pictures, and the handling of a part."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from rich.console import Console

from tests.benchmarks.peers.environment import PeerMissing
from tests.benchmarks.report import __main__ as report_main
from tests.benchmarks.report import apart
from tests.benchmarks.report.document import document, figure, picture_of
from tests.benchmarks.report.line import Line, Measured, Other, Part, Table, Verdict, beside
from tests.benchmarks.report.picture import bars, overview, picture
from tests.benchmarks.report.whole import Entry, Place, Report, entry_from, kept, to_json
from tests.benchmarks.report.wire import on_the_wire

PLACE = Place("a processor", 2, 4_096, "Linux 6", "3.11.7", {"numpy": "2.1"})


def ms(*values: float) -> Measured:
    return Measured(values, "ms")


SOONER = Line("sooner", ms(1, 2, 3), "peer 1.0", ms(4, 4, 8), most_ratio=0.7)
LATER = Line("later", ms(30), "peer 1.0", ms(20), remark="It does more.")
SLOW = Line("slow", ms(300, 420), most=200)
ALLOWED = Line("a call", ms(14), "plain POST", ms(10), most_ratio=1.5)
PART = Part(
    "Answers",
    (SOONER, LATER, SLOW, ALLOWED),
    (Table("Counts", ("a|b", "of"), [("one\ntwo", 3)]),),
    "As a peer's page says.",
    {"peer": "1.0"},
)
ENTRY = Entry("answers", PART, "", "2026-11-23 14:05", 61.0, (0.5, 1.25), "short")
MISSING = Entry(
    "waking", None, "peer-2: no such package", "2026-11-23 14:06", 2.0, (1.0, 1.0), "short"
)
REPORT = Report(PLACE, (ENTRY, MISSING))


@pytest.mark.parametrize(
    ("line", "worse", "verdict"),
    [
        pytest.param(SOONER, False, Verdict.KEPT, id="a ratio below its bound"),
        pytest.param(LATER, True, Verdict.NONE, id="a peer that is sooner, without a bound"),
        pytest.param(SLOW, True, Verdict.MISSED, id="a bound in its unit that is missed"),
        pytest.param(ALLOWED, False, Verdict.KEPT, id="more than the peer, as the bound allows"),
        pytest.param(
            replace(ALLOWED, most_ratio=1.2), True, Verdict.MISSED, id="more than allowed"
        ),
        pytest.param(replace(LATER, ours=ms(20.01)), False, Verdict.NONE, id="as much as the peer"),
        pytest.param(replace(LATER, theirs=ms(0)), True, Verdict.NONE, id="a peer that needs none"),
        pytest.param(
            Line("none", ms(0), "peer", ms(0), most_ratio=1.0), False, Verdict.KEPT, id="nor ours"
        ),
    ],
)
def test_where_we_are_behind(line: Line, worse: bool, verdict: Verdict) -> None:
    assert line.behind is worse
    assert line.verdict is verdict


def test_the_reason_stands_only_where_we_are_behind() -> None:
    assert replace(LATER, remark="").because("It does more.") == LATER
    assert SOONER.because("It does more.") == SOONER


def test_a_line_for_each_peer_or_ours_alone() -> None:
    (alone,) = beside("a call", ms(30), [], most=40)
    assert alone == Line("a call", ms(30), most=40)
    others = [
        Other("peer 1.0", ms(20), reason="It does more."),
        Other("peer 2.0", ms(20), ours=ms(10), most_ratio=0.7, reason="It does more."),
    ]
    behind, ahead = beside("a call", ms(30), others)
    assert behind == Line("a call", ms(30), "peer 1.0", ms(20), remark="It does more.")
    assert ahead == Line("a call", ms(10), "peer 2.0", ms(20), most_ratio=0.7)


@pytest.mark.parametrize("values", [(), (1.0, float("inf")), (float("nan"),)])
def test_what_is_no_figure_is_refused(values: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="there is no figure in ms"):
        ms(*values)


@pytest.mark.parametrize(
    ("value", "told"),
    [(0.0, "0"), (0.0034567, "0.0035"), (0.25, "0.25"), (1.5, "1.50"), (23.456, "23.5"),
     (1234.5, "1,234"), (-3.0, "-3.00")],
)  # fmt: skip
def test_figures_have_three_digits(value: float, told: str) -> None:
    assert figure(value) == told


def test_the_document_says_where_we_are_behind_first() -> None:
    written = document(REPORT)
    before, _, rest = written.partition("## Test machine")
    flat = " ".join(before.split())
    assert "2 of 3 rows with a target meet it. Hearth is ahead in 1 of 3 rows with a peer." in flat
    assert "**later** (Answers): 30.0 ms, peer 1.0: 20.0 (1.50 times as much). It does" in flat
    assert "**slow** (Answers): 360 ms; target: ≤ 200 ms. The reason isn't known yet." in flat
    assert "**waking** was not measured: peer-2: no such package" in flat
    assert "sooner" not in before
    assert "a processor, 2 cores, 4,096 MB, Linux 6, Python 3.11.7. numpy 2.1." in rest
    assert "| Answers | 2026-11-23 14:05 | 61 s | 0.5 / 1.2 | short |" in rest


def test_the_document_has_every_line_and_table() -> None:
    written = document(REPORT)
    row = "| sooner | ms | 2.00 / 2.90 | 3 | peer 1.0 | 4.00 / 7.60 | 3 | **0.50** | ratio ≤ 0.7 |"
    assert f"{row} met |" in written
    assert "| slow | ms | 360 / 414 | 2 |  |  |  |  | ≤ 200 ms | missed |" in written
    assert "| a\\|b | of |\n|---|---|\n| one two | 3 |" in written
    assert "![Answers](pictures/figures-answers.svg)" in written
    assert "Compared with peer 1.0." in written
    assert all(len(line) <= 100 for line in written.splitlines() if line[:1] not in "|!#")


def test_a_report_that_is_behind_nowhere_says_so() -> None:
    good = replace(ENTRY, part=replace(PART, lines=(SOONER,)))
    assert "Hearth isn't behind" in document(Report(PLACE, (good,)))


def test_what_is_ours_set_up_otherwise_counts_as_no_peer() -> None:
    lines = (replace(SOONER, own=True), replace(SOONER, subject="a second"), LATER)
    written = document(Report(PLACE, (replace(ENTRY, part=replace(PART, lines=lines)),)))
    told = "2 of 2 rows with a target meet it. Hearth is ahead in 1 of 2 rows with a peer."
    assert told in " ".join(written.split())
    assert "| sooner | ms | 2.00 / 2.90 | 3 | peer 1.0 |" in written


def test_a_remark_stands_once_behind_its_lines() -> None:
    lines = (LATER, replace(LATER, subject="the other"), replace(SLOW, remark="It waits."))
    written = document(Report(PLACE, (replace(ENTRY, part=replace(PART, lines=lines)),)))
    assert "\n- later; the other: It does more.\n- slow: It waits.\n\n" in written


def test_the_pictures_are_well_formed_and_show_the_ratios() -> None:
    drawn = picture("Ours < & theirs", bars(PART.lines))
    root = ElementTree.fromstring(drawn)
    kinds = [one.get("class") for one in root.iter("{http://www.w3.org/2000/svg}rect")]
    assert kinds == ["ground", "less", "more", "more", "less"]
    words = [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"0.5", "1.50", "1.80 ✗", "1.40"} <= set(words)
    assert "prefers-color-scheme: dark" in drawn
    assert [bar.name for bar in overview(REPORT)] == ["sooner", "slow", "a call"]


def test_bars_grow_with_the_ratio_and_end_with_the_axis() -> None:
    def widths(*ratios: float) -> list[float]:
        lines = [Line(str(one), ms(one), "peer", ms(1)) for one in ratios]
        root = ElementTree.fromstring(picture("x", bars(lines)))
        found = list(root.iter("{http://www.w3.org/2000/svg}rect"))[1:]
        return [float(one.attrib["width"]) for one in found]

    small, smaller, zero = widths(0.5, 0.05, 0.0)
    assert 0 < small < smaller < zero <= 400
    assert widths(1.0) == [1.0]


def test_a_report_comes_back_from_its_file(tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    file.write_text(to_json(REPORT))
    again = kept(file)
    assert again is not None
    assert again.place == PLACE
    assert document(again) == document(REPORT)
    assert to_json(entry_from(to_json(ENTRY))) == to_json(ENTRY)
    file.write_text("{}")
    assert kept(file) is None
    assert kept(tmp_path / "none") is None


def test_what_is_measured_again_takes_the_place_of_what_was() -> None:
    fresh = replace(MISSING, part=PART, failure="")
    again = REPORT.with_fresh([fresh], ["waking", "answers", "others"])
    assert [entry.name for entry in again.entries] == ["waking", "answers"]
    assert again.entries[0] is fresh


def _missing() -> Part:
    raise PeerMissing("peer-2: no such package")


def _broken() -> Part:
    raise ValueError("two\nlines")


@pytest.mark.parametrize(
    ("part", "failure"),
    [(lambda: PART, ""), (_missing, "peer-2: no such package"), (_broken, "ValueError: two lines")],
)  # fmt: skip
def test_what_a_part_raises_is_told(part: Callable[[], Part], failure: str) -> None:
    entry = apart.measure("answers", part)
    assert entry.failure == failure
    assert (entry.part is None) is bool(failure)


def _lasting(command: Sequence[str], most_s: float, monkeypatch: pytest.MonkeyPatch) -> Entry:
    listen = apart._listen
    monkeypatch.setattr(apart, "_listen", lambda _, say, s: listen(list(command), say, s))
    return apart.run("answers", lambda line: None, most_s)


def test_a_part_that_dies_or_hangs_is_an_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    died = _lasting([sys.executable, "-c", "raise SystemExit(9)"], 60.0, monkeypatch)
    assert died.part is None
    assert died.failure == "Its process ended with code 9."
    monkeypatch.undo()
    hung = _lasting(["sleep", "60"], 0.2, monkeypatch)
    assert hung.failure == "Its process took more than 0 s."


def test_every_part_has_its_place_in_the_document() -> None:
    assert set(report_main.parts()) <= set(report_main.ORDER)


class Parts:
    """A replacement for the measuring: it answers for each name, and records who was asked."""

    def __init__(self, *failing: str) -> None:
        self.asked: list[str] = []
        self._failing = failing

    def __call__(self, name: str, say: apart.Say) -> Entry:
        self.asked.append(name)
        say("going on")
        failed = name in self._failing
        return replace(ENTRY, name=name, part=None if failed else PART, failure="No." * failed)


@pytest.fixture
def two_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report_main, "parts", lambda: ["turns", "waking"])
    monkeypatch.setattr(report_main, "Console", lambda **_: Console(file=sys.stderr))


@pytest.mark.usefixtures("two_parts")
def test_one_part_that_fails_does_not_stop_the_others(tmp_path: Path) -> None:
    parts = Parts("turns")
    assert report_main.main([], tmp_path, parts) == 1
    assert parts.asked == ["turns", "waking"]
    assert "**turns** was not measured: No." in (tmp_path / "figures.md").read_text()
    drawn = {file.name for file in (tmp_path / "pictures").iterdir()}
    assert drawn == {picture_of("overview"), picture_of("waking")}


@pytest.mark.usefixtures("two_parts")
def test_parts_that_are_not_named_stay_as_they_were(tmp_path: Path) -> None:
    assert report_main.main([], tmp_path, Parts("turns")) == 1
    parts = Parts()
    assert report_main.main(["turns"], tmp_path, parts) == 0
    assert parts.asked == ["turns"]
    report = kept(tmp_path / "figures.json")
    assert report is not None
    assert [entry.name for entry in report.entries] == ["turns", "waking"]


@pytest.mark.usefixtures("two_parts")
def test_figures_of_another_machine_are_dropped(tmp_path: Path) -> None:
    report_main.write(Report(PLACE, (ENTRY,)), tmp_path)
    assert report_main.main(["turns"], tmp_path, Parts()) == 0
    report = kept(tmp_path / "figures.json")
    assert report is not None
    assert [entry.name for entry in report.entries] == ["turns"]


@pytest.mark.usefixtures("two_parts")
def test_an_unknown_part_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert report_main.main(["speed"], tmp_path, Parts()) == 2
    assert "There is no part speed" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_frames_are_timed_to_the_piece_that_holds_their_end() -> None:
    handed = [(320, 1.00), (640, 1.02), (960, 1.04), (1280, 1.06), (1600, 1.08)]
    # From sample 160 on: 480 samples, then 320, then 320; nothing holds the last frame.
    pieces = [(1.03, 960), (1.045, 640), (1.062, 640)]
    assert on_the_wire(handed, 160, pieces) == pytest.approx([5.0, 2.0])
