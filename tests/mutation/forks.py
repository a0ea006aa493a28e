"""Run mutants, each in a fork of one pytest that has collected the tests and run none of them.

mutmut's own runner starts pytest again for every mutant, which costs more than the tests. Here a
mutant costs only the tests that reach it, and nothing that a test has cached hides it. Code that
runs while a module is imported has run before the fork: such mutants survive here whatever the
tests say (`again.py`).
"""

import gc
import os
import resource
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import pytest

ACTIVE = "MUTANT_UNDER_TEST"  # the environment variable by which mutmut's files choose
NO_TESTS = 33  # mutmut's exit code where no test comes by
_CPU_S = 20  # beyond what its tests take whole, tenfold

Done = Callable[[str, int], None]


class Broken(Exception):
    """The tests fail although nothing is broken."""


@dataclass(slots=True)
class Forks:
    """A pytest plugin that replaces its loop: it runs mutants, not tests."""

    names: Sequence[str]
    reached_by: Mapping[str, Sequence[str]]  # tests (node ids) by function, mangled as mutmut does
    seconds: Mapping[str, float]  # by test
    done: Done  # is told of each mutant's exit code
    children: int = 2
    _items: dict[str, pytest.Item] = field(init=False, default_factory=dict)
    _running: dict[int, str] = field(init=False, default_factory=dict)  # mutants by process

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run all mutants. Raises Broken if the tests fail without any mutant."""
        self._items = {item.nodeid: item for item in session.items}
        gc.freeze()  # what a child collects it would have to copy first
        self._fork("", sorted({test for name in self.names for test in self._tests(name)}))
        _, status = os.wait()
        self._running.clear()
        if os.waitstatus_to_exitcode(status):
            raise Broken("a test fails although nothing is broken: run the tests first")
        for name in self.names:
            tests = self._tests(name)
            if not tests:
                self.done(name, NO_TESTS)
                continue
            while len(self._running) >= self.children:
                self._reap()
            self._fork(name, tests)
        while self._running:
            self._reap()
        return True

    def _tests(self, name: str) -> list[str]:
        """Return the tests that reach the mutant's function, the quickest first."""
        found = self.reached_by.get(name.partition("__mutmut_")[0], ())
        tests = [test for test in found if test in self._items]
        return sorted(tests, key=lambda test: (self.seconds.get(test, 0.0), test))

    def _reap(self) -> None:
        pid, status = os.wait()
        self.done(self._running.pop(pid), os.waitstatus_to_exitcode(status))

    def _fork(self, name: str, tests: Sequence[str]) -> None:
        pid = os.fork()
        if pid:
            self._running[pid] = name
            return
        code = 3
        try:
            code = self._run(name, tests)
        finally:
            os._exit(code)

    def _run(self, name: str, tests: Sequence[str]) -> int:
        """Run in the child: return 1 at the first test that fails, 0 if none does."""
        silent = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(silent, number)
        os.environ[ACTIVE] = name
        limit = int(_CPU_S + 10 * sum(self.seconds.get(test, 0.0) for test in tests))
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1))
        items = [self._items[test] for test in tests]
        for item, following in zip(items, [*items[1:], None], strict=True):
            # As pytest runs it, whose plugins keep the time limit and make errors of warnings.
            item.ihook.pytest_runtest_protocol(item=item, nextitem=following)
            if item.session.testsfailed:
                return 1
        return 0
