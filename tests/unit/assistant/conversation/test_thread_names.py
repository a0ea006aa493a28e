"""Tests that the system shows the names of threads, and that the ear's thread answers."""

import threading
from pathlib import Path

from assistant.conversation.hearing import Hearing, name_thread

_OWN = Path("/proc/thread-self/comm")


def test_a_thread_has_the_name_that_it_gives_itself() -> None:
    names: list[str] = []

    def work() -> None:
        name_thread("a-name-far-too-long")
        names.append(_OWN.read_text().strip())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert names == ["a-name-far-too-"]


def test_the_ears_thread_answers_by_its_name_until_it_is_given_up() -> None:
    hearing, answered, names = Hearing(None), threading.Event(), list[str]()

    def pong() -> None:
        names.append(_OWN.read_text().strip())
        answered.set()

    hearing.ping(pong)
    assert answered.wait(10)
    hearing.close()
    hearing.ping(pong)  # the listening thread has ended
    assert names == ["ear"]
