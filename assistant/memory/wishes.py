"""Whether a person's own words ask for what is done to the memory.

A model may think of a fact by itself, or a page may tell it to keep one. What the words do not ask
for is asked about first.
"""

import re

from assistant.memory.words import plain
from assistant.tools.builtin.protocol import CORRECT, FORGET, REMEMBER

# Without case, accents and apostrophes; where a word begins so. Short ones are whole words: nearly
# every sentence has one that begins with "no". By the catalogue's languages.
_KEEP = (
    r"remember|dont (?:you )?forget|never forget|memori[sz]e|keep in mind|bear in mind|note|"
    r"write (?:it |this |that )?down|save|store",
    r"recuerd|acuerda|acordar|recordes|apunt|anota|memoriza|ten en cuenta|no (?:te )?olvid|guarda",
    r"lembr|decora|nao (?:te |se )?esque|guarde",
    r"merk|notier|erinner|vergiss? (?:das )?nicht",
    r"souviens|souvenez|rappel|retien|retenez|oublie pas|n oublie|noublie",
    r"ghi nho|nho\b|dung quen|ghi lai",
)
_DROP = (
    r"forget|erase|delete|remove|drop|clear|no longer",
    r"olvid|borr|elimin|quita",
    r"esque|apag|remov",
    r"vergiss|vergess|losch|entfern",
    r"oubli|efface|supprim",
    r"quen|xoa",
)
_CHANGE = (
    r"correct|change|update|actually|wrong|instead|no\b|not\b|now\b|any ?more|mean|meant",
    r"corrig|corrij|cambi|actualiz|realidad|mal\b|ahora|sino|ya\b",
    r"mud[aeo]|atualiz|verdade|errad|nao\b|agora",
    r"korrig|ander|falsch|nein|nicht|jetzt|sondern|stimmt",
    r"chang|faux|non\b|pas\b|maintenant|plutot",
    r"sua\b|doi\b|sai\b|khong|bay gio",
)


def _beginning(*stems: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(stems)})")


_WORDS = {
    REMEMBER: _beginning(*_KEEP),
    FORGET: _beginning(*_DROP),
    CORRECT: _beginning(*_CHANGE, *_KEEP),
}


def asked_for(tool: str, heard: str | None) -> bool:
    """Whether what was heard asks for this tool. Without words nobody knows: False."""
    return heard is not None and _WORDS[tool].search(plain(heard)) is not None
