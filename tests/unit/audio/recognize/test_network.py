"""A grammar becomes the smallest equivalent network with the same weights."""

from pathlib import Path

import pocketsphinx
import pytest

from assistant.brains.offline.grammar import jsgf
from assistant.brains.offline.names import house_names
from audio.recognize.network import Arc, Network, network_of, readings
from tests.corpus.house import corpus_house

HEAD = "#JSGF V1.0; grammar g;\n"


def sentences(network: Network, most: int = 8) -> dict[str, float]:
    """Return what may be said in at most `most` words, with the weight of each best path."""
    best: dict[str, float] = {}
    waiting: list[tuple[int, tuple[str, ...], float]] = [(network.start, (), 1.0)]
    while waiting:
        state, words, weight = waiting.pop()
        if state == network.final:
            said = " ".join(words)
            best[said] = max(best.get(said, 0.0), weight)
        for arc in network.arcs:
            if arc.source == state and len(words) + bool(arc.word) <= most:
                further = (*words, arc.word) if arc.word else words
                waiting.append((arc.target, further, weight * arc.weight))
    return best


def states(network: Network) -> int:
    return len({state for arc in network.arcs for state in (arc.source, arc.target)})


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ("public <s> = turn on;", {"turn on": 1.0}),
        ("public <s> = on | off;", {"on": 0.5, "off": 0.5}),
        ("public <s> = [the | my] lamp;", {"lamp": 1 / 3, "the lamp": 1 / 3, "my lamp": 1 / 3}),
        ("public <s> = (a | b | c) d;", {"a d": 1 / 3, "b d": 1 / 3, "c d": 1 / 3}),
        ("public <s> = [[a] b];", {"": 0.5, "b": 0.25, "a b": 0.25}),
        ("public <s> = <x> <x>;\n<x> = o'clock | to;", {
            "o'clock o'clock": 0.25, "o'clock to": 0.25, "to o'clock": 0.25, "to to": 0.25,
        }),
        ("public <s> = a | a | b;", {"a": 1 / 3, "b": 1 / 3}),  # the better of two paths counts
    ],
)  # fmt: skip
def test_says_what_the_grammar_says(rules: str, said: dict[str, float]) -> None:
    assert sentences(network_of(HEAD + rules)) == pytest.approx(said)


def test_what_is_repeated_goes_on_at_half_the_weight_each_time() -> None:
    network = network_of(HEAD + "public <s> = (a | b)+ c;")
    said = sentences(network, 4)
    assert said["a c"] == pytest.approx(0.25)
    assert said["a b a c"] == pytest.approx(1 / 64)
    assert "c" not in said


def test_the_same_ends_are_one_and_steps_without_a_word_are_no_chains() -> None:
    network = network_of(HEAD + "public <s> = (set | dim) [<the>] lamp | mend <the> lamp;\n"
                                "<the> = the | my;")  # fmt: skip
    assert states(network) == 5  # start, behind set and dim, before lamp, behind mend, final
    empty = {arc.target for arc in network.arcs if not arc.word}
    assert not any(not arc.word for arc in network.arcs if arc.source in empty)


@pytest.mark.parametrize(
    ("rules", "why"),
    [
        ("<s> = nobody asks;", "no rule is public"),
        ("public <s> = <gone>;", "there is no rule gone"),
        ("public <s> = again <s>;", "the rule s contains itself"),
        ("public <s> = (a;", "an opening bracket is not closed"),
        ("public <s> = a);", "a closing bracket has no opening bracket"),
        ("public <s> = a | ;", "an alternative is empty"),
        ("public <s> = [a]+;", "a repeated part can be empty"),
        ("public <s> = + a;", "a bracket or a [+] is in an invalid place"),
        ("public <s> = a*;", "the rule s contains an unknown character"),
        ("public <s> = /2/ a;", "the rule s contains an unknown character"),
        ("public <s> = a", "no rule begins at 'public <s> = a'"),
    ],
)
def test_what_it_cannot_read_it_says(rules: str, why: str) -> None:
    with pytest.raises(ValueError, match=f"^{why}$"):
        network_of(HEAD + rules)


def test_a_house_s_network_weighs_as_pocketsphinx_s_own_and_is_a_fraction_of_it(
    tmp_path: Path,
) -> None:
    grammar = jsgf(house_names(corpus_house()))
    network, theirs = network_of(grammar), _pocketsphinx_network(grammar, tmp_path)
    some = _sentences_through_each_arc(network)[::25]
    assert len(some) > 50
    for sentence in some:
        words = sentence.split()
        own = _weight(network, words)
        assert own > 0.0
        assert _weight(theirs, words) == pytest.approx(own, rel=0.01), sentence
    assert _weight(theirs, ["turn", "the", "the", "lamp"]) == 0.0
    assert states(network) < states(theirs) / 5


def _pocketsphinx_network(grammar: str, folder: Path) -> Network:
    """Return pocketsphinx's network of the grammar; its weights are rounded."""
    (folder / "house.jsgf").write_text(grammar)
    read = pocketsphinx.Jsgf(str(folder / "house.jsgf"))
    model = read.build_fsg(read.get_rule("house.said"), pocketsphinx.LogMath(), 1.0)
    model.writefile(str(folder / "house.fsg"))
    arcs, ends = [], dict[str, int]()
    for line in (folder / "house.fsg").read_text().splitlines():
        match line.split():
            case ["START_STATE" | "FINAL_STATE" as end, state]:
                ends[end] = int(state)
            case ["TRANSITION", source, target, weight, *word]:
                arcs.append(Arc(int(source), int(target), float(weight), "".join(word)))
    return Network(ends["START_STATE"], ends["FINAL_STATE"], tuple(arcs))


def _weight(network: Network, words: list[str]) -> float:
    """Return the weight of the best path for these words; 0 if there is none."""
    empty, worded = dict[int, list[Arc]](), dict[tuple[int, str], list[Arc]]()
    for arc in network.arcs:
        if arc.word:
            worded.setdefault((arc.source, arc.word), []).append(arc)
        else:
            empty.setdefault(arc.source, []).append(arc)

    def spread(here: dict[int, float]) -> dict[int, float]:
        reached = dict(here)
        for state, weight in here.items():
            for arc in empty.get(state, ()):
                reached[arc.target] = max(reached.get(arc.target, 0.0), weight * arc.weight)
        return reached

    here = spread({network.start: 1.0})
    for word in words:
        after = dict[int, float]()
        for state, weight in here.items():
            for arc in worded.get((state, word), ()):
                after[arc.target] = max(after.get(arc.target, 0.0), weight * arc.weight)
        here = spread(after)
    return here.get(network.final, 0.0)


def _sentences_through_each_arc(network: Network) -> list[str]:
    """Return a sentence through each arc, by a short path to it and from it to the end."""
    out: dict[int, list[tuple[int, str]]] = {}
    for arc in network.arcs:
        out.setdefault(arc.source, []).append((arc.target, arc.word))
    ahead: dict[int, str] = {network.final: ""}
    while len(ahead) < len(out) + 1:
        for source, steps in out.items():
            for target, word in steps:
                if target in ahead and source not in ahead:
                    ahead[source] = f"{word} {ahead[target]}".strip()
    behind: dict[int, str] = {network.start: ""}
    waiting = [network.start]
    while waiting:
        source = waiting.pop(0)
        for target, word in out.get(source, ()):
            if target not in behind:
                behind[target] = f"{behind[source]} {word}".strip()
                waiting.append(target)
    return [
        " ".join(f"{behind[arc.source]} {arc.word} {ahead[arc.target]}".split())
        for arc in network.arcs
    ]


# Pronunciations of a few words from the whole dictionary.


def test_every_reading_of_a_word_and_no_other_word() -> None:
    assert readings(["oh", "read", "zorblax", "oh"]) == {
        "oh": ("OW",),
        "read": ("R EH D", "R IY D"),
    }


def test_words_with_signs() -> None:
    assert readings(["o'clock", "what's"]) == {
        "o'clock": ("AH K L AA K",),
        "what's": ("W AH T S", "HH W AH T S"),
    }


def test_of_no_words_nothing() -> None:
    assert readings([]) == {}
