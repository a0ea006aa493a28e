"""How English words sound: CMUdict as it lies in pocketsphinx's wheel, read for few words only.

A decoder that loads all of its 134,000 words holds 22 MB for them and takes 0.15 s. One that
follows a grammar needs some hundred.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

import pocketsphinx

_FILE = "en-us/cmudict-en-us.dict"  # a line for each reading: "a AH", "a(2) EY"


def readings(words: Iterable[str]) -> Mapping[str, tuple[str, ...]]:
    """The readings of those words that it has, each as phones with spaces between, in its order.

    One pass through the file, 50 ms.
    """
    wanted = {word.encode() for word in words}
    found = dict[bytes, list[bytes]]()
    if wanted:
        with Path(pocketsphinx.get_model_path(_FILE)).open("rb") as file:
            for line in file:
                spelled, _, phones = line.partition(b" ")
                word = spelled.partition(b"(")[0] or spelled
                if word in wanted:
                    found.setdefault(word, []).append(phones.strip())
    return {
        word.decode(): tuple(phones.decode() for phones in several)
        for word, several in found.items()
    }
