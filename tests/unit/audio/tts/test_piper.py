"""A model is changed to return its durations, and nothing else changes."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from audio.tts import spelled
from audio.tts.piper import durations_output, word_ends, word_positions
from tests.tiny_voice import make_tiny_voice


def test_the_one_ceil_becomes_an_output(tmp_path: Path) -> None:
    path = make_tiny_voice(tmp_path, durations=True)
    told = durations_output(path.read_bytes())
    patched = path.read_bytes() + told
    assert told
    before, after = onnx.load(path), onnx.load_model_from_string(patched)
    assert [output.name for output in after.graph.output] == ["output", "whole"]
    del after.graph.output[1]
    assert after == before
    assert durations_output(patched) == b"", "it tells them already"


def _model(ceils: int) -> bytes:
    info = helper.make_tensor_value_info
    nodes = [helper.make_node("Ceil", ["x"], [f"y{number}"]) for number in range(ceils)]
    nodes.append(helper.make_node("Floor", ["x"], ["z"]))
    x, z = (info(name, TensorProto.FLOAT, [1]) for name in "xz")
    return bytes(helper.make_model(helper.make_graph(nodes, "g", [x], [z])).SerializeToString())


@pytest.mark.parametrize(("ceils", "told"), [(0, False), (1, True), (2, False)])
def test_only_a_single_ceil_is_believed(ceils: int, told: bool) -> None:
    assert bool(durations_output(_model(ceils))) is told


def test_long_names_and_big_models_are_read(tmp_path: Path) -> None:
    name = "/duration" * 40 + "/Ceil_output_0"
    info = helper.make_tensor_value_info
    big = helper.make_tensor("big", TensorProto.FLOAT, [70_000], np.ones(70_000, np.float32))
    graph = helper.make_graph(
        [helper.make_node("Ceil", ["x"], [name]), helper.make_node("Floor", ["x"], ["z"])],
        "g",
        [info("x", TensorProto.FLOAT, [1])],
        [info("z", TensorProto.FLOAT, [1])],
        [big],
    )
    whole = helper.make_model(graph).SerializeToString()
    patched = whole + durations_output(whole)
    assert onnx.load_model_from_string(patched).graph.output[1].name == name


@pytest.mark.parametrize("junk", [b"", b"no model", b"\xff" * 40, b"\x3a\xff\xff", b"\x3b\x00"])
def test_junk_tells_nothing(junk: bytes) -> None:
    assert durations_output(junk) == b""


def test_a_truncated_model_tells_nothing(tmp_path: Path) -> None:
    whole = make_tiny_voice(tmp_path, durations=True).read_bytes()
    graph = onnx.load_model_from_string(whole).graph.ByteSize()
    for size in range(len(whole) - graph):
        assert durations_output(whole[:size]) == b""
    for size in range(len(whole) - graph, len(whole)):
        told = durations_output(whole[:size])
        assert told in (b"", durations_output(whole))


# Assignment of phonemes to words.


ALONE = {"of": "ʌv", "the": "ðə", "house": "haʊs", "12": "twɛlv", "21": "twɛnti wʌn", "-": ""}


def spoken(word: str) -> list[str]:
    return [ALONE[word.strip(".,")]] if word else []


@pytest.mark.parametrize(
    ("text", "sentences", "ends"),
    [
        ("the house", ["ðə haʊs"], [2, 7]),
        ("the, house.", ["ðə, haʊs."], [2, 8]),  # marks belong to no word
        ("the. house.", ["ðə.", "haʊs."], [2, 7]),
        ("of the house", ["ʌvðə haʊs"], [2, 4, 9]),  # two words read as one
        ("21 house", ["twɛnti wʌn haʊs"], [10, 15]),  # one word read as two
        ("the - house", ["ðə haʊs"], [2, 2, 7]),  # a word without sound
        ("the", [], []),
        ("-", ["."], []),
    ],
)
def test_where_words_end(text: str, sentences: list[str], ends: list[int]) -> None:
    assert word_positions(text.split(), sentences, spoken) == ends


def test_ends_are_counted_from_the_chunk_in_which_they_are() -> None:
    positions = [2, 3, 5, 8]
    # A begin mark of 10 samples, phonemes of 100, an end mark of 7.
    assert word_ends(positions, 0, [10, 100, 100, 100, 7]) == (210, 310)
    assert word_ends(positions, 3, [10, 100, 100, 7]) == (210,)
    assert word_ends(positions, 5, [10, 100, 100, 100, 7]) == (310,)


# Text as the engines get it.


@pytest.mark.parametrize(
    ("text", "language", "given"),
    [
        ("The H V A C is on", "en-us", "The H V eigh C is on"),
        ("A Q I is 42", "en", "eigh Q I is 42"),
        ("A lamp and plan A", "en", "A lamp and plan A"),
        ("A four, C F", "en", "A four, C F"),
        ("El H V A C", "es", "El H V A C"),
    ],
)
def test_a_letter_is_no_article(text: str, language: str, given: str) -> None:
    assert spelled(text, language) == given
    assert len(given.split()) == len(text.split())  # words are counted as they are heard
