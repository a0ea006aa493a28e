"""The judge of pauses that comes while somebody is speaking."""

from assistant.conversation.endpointing import MOST, Endings, LateEndings, PlainEndings

Call = tuple[object, ...]


class Noting(Endings):
    """Endings that remember what they were told."""

    def __init__(self) -> None:
        self.told: list[Call] = []

    def begin(self, after: int) -> None:
        self.told.append(("begin", after))

    def hear(self, pcm: bytes, end: int) -> None:
        self.told.append(("hear", pcm, end))

    def hang_over_ms(self, now: int, last_voiced: int | None) -> int:
        self.told.append(("pause", now, last_voiced))
        return 300

    def end(self) -> None:
        self.told.append(("end",))


def test_it_is_made_at_the_first_sentence_and_told_what_it_missed() -> None:
    made = list[bool]()
    late, known = LateEndings(lambda: made.append(True)), Noting()
    assert not made
    late.begin(100)
    assert made == [True]
    late.hear(b"a", 320)
    assert late.hang_over_ms(640, 500) == PlainEndings().hang_over_ms(640, 500)
    late.become(known)
    late.hear(b"b", 960)
    assert late.hang_over_ms(960, 500) == 300
    assert known.told == [
        ("begin", 100),
        ("hear", b"a", 320),
        ("pause", 640, 500),
        ("hear", b"b", 960),
        ("pause", 960, 500),
    ]
    late.end()
    late.begin(2000)
    assert made == [True]
    assert known.told[-2:] == [("end",), ("begin", 2000)]


def test_between_two_sentences_nothing_was_missed() -> None:
    late, known = LateEndings(lambda: None), Noting()
    late.begin(100)
    late.hear(b"a", 320)
    late.end()
    late.become(known)
    late.begin(900)
    assert known.told == [("begin", 900)]


def test_a_sentence_of_which_it_cannot_know_all_goes_without() -> None:
    late, known = LateEndings(lambda: None), Noting()
    late.begin(0)
    for end in range(MOST + 1):
        late.hear(b"a", end)
    late.become(known)
    late.hear(b"b", MOST)
    assert known.told == [("hear", b"b", MOST)]
