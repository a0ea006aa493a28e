"""Whether the person's own words ask for it."""

import pytest

from assistant.memory.words import asked_for
from assistant.tools.builtin.protocol import CORRECT, FORGET, REMEMBER


@pytest.mark.parametrize(
    ("tool", "heard"),
    [
        (REMEMBER, "Please remember that the bin goes out on Tuesday"),
        (REMEMBER, "don't forget that Ana is allergic"),
        (REMEMBER, "make a note: the cat is called Max"),
        (REMEMBER, "Recuerda que la basura sale el martes"),
        (REMEMBER, "acuérdate de que soy alérgica"),
        (REMEMBER, "que no se te olvide: no te olvides de Ana"),
        (REMEMBER, "Merk dir, dass die Tonne dienstags geht"),
        (REMEMBER, "Souviens-toi que le chat s'appelle Max"),
        (REMEMBER, "Lembre que o lixo sai na terça"),
        (REMEMBER, "hãy nhớ rằng thùng rác ra ngoài thứ ba"),
        (FORGET, "forget that"),
        (FORGET, "olvida lo de la basura"),
        (FORGET, "Vergiss das mit der Tonne"),
        (CORRECT, "no, it goes out on Friday"),
        (CORRECT, "en realidad sale el viernes"),
        (CORRECT, "that has changed: it goes out on Friday"),
    ],
)
def test_they_do(tool: str, heard: str) -> None:
    assert asked_for(tool, heard)


@pytest.mark.parametrize(
    ("tool", "heard"),
    [
        (REMEMBER, "The bin goes out on Tuesday"),
        (REMEMBER, "read me that page"),
        (REMEMBER, "Ana"),
        (REMEMBER, ""),
        (REMEMBER, None),
        (FORGET, "when does the bin go out"),
        (FORGET, None),
        (CORRECT, "when does the bin go out"),
        (CORRECT, "what is on in November"),
        (CORRECT, "is there nothing on the pasta, she said, in the yard"),
        (CORRECT, None),
    ],
)
def test_they_do_not(tool: str, heard: str | None) -> None:
    assert not asked_for(tool, heard)
