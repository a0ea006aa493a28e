"""A grammar for one of pocketsphinx's decoders, with the words that the decoder does not have."""

from collections.abc import Mapping, Sequence
from typing import Any

from audio.errors import InputUnusable
from audio.recognize.network import Network, network_of
from audio.recognize.pronouncing import readings


def add_network(
    decoder: Any, search: str, jsgf: str, pronunciations: Mapping[str, Sequence[str]]
) -> None:
    """Add the grammar to the decoder as the search of that name; it is not made the active one.

    `pronunciations`: of words that no dictionary has. Raises InputUnusable where the grammar cannot
    be read, or has a word that nobody can pronounce.
    """
    try:
        network = network_of(jsgf)
    except ValueError as error:
        raise InputUnusable(f"The speech grammar cannot be built: {error}.") from error
    _add_words(decoder, network, pronunciations)
    decoder.add_fsg(search, decoder.create_fsg(search, *_steps(network)))


def _add_words(decoder: Any, network: Network, pronunciations: Mapping[str, Sequence[str]]) -> None:
    missing = [word for word in network.words() if decoder.lookup_word(word) is None]
    known = {**pronunciations, **readings(missing)}
    for word in missing:
        if word not in known:
            raise InputUnusable(
                f"The speech grammar cannot be built: nobody knows how {word!r} sounds."
            )
        for number, phones in enumerate(known[word], start=1):
            decoder.add_word(word if number == 1 else f"{word}({number})", phones, False)


def _steps(network: Network) -> tuple[int, int, list[tuple[int, int, float] | tuple[object, ...]]]:
    """As `create_fsg` takes it; a step without a word has three parts."""
    return (
        network.start,
        network.final,
        [
            (arc.source, arc.target, arc.weight, *([arc.word] if arc.word else ()))
            for arc in network.arcs
        ],
    )
