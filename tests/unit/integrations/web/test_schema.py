"""The OpenAPI document is true: schemathesis sends valid and invalid requests and finds nothing.

LONG=1 sends many more of them.
"""

import os
from collections.abc import Mapping
from typing import Any

import pytest
import schemathesis
from schemathesis.config import SchemathesisConfig
from schemathesis.engine import Status, events, from_schema
from starlette.routing import Route

from integrations.web.api import api_paths, api_routes, web_app
from integrations.web.box import Caller
from integrations.web.paths import document
from tests.unit.integrations.web.doubles import WITH_TOKEN, FakeBox, patient_guard

LONG = os.environ.get("LONG") == "1"
# For each operation, besides those for the schema's limits.
EXAMPLES = 300 if LONG else 3
SEED = 20_261_122


def told_faults(
    box: FakeBox, examples: int = EXAMPLES, paths: str = "^(?!/v1/events$)"
) -> tuple[set[str], set[str]]:
    """Return the faults that schemathesis finds, and the operations that it tried.

    `paths`: by default without the stream, which has no end; test_api.py reads it.
    """
    # Any host: schemathesis uses "testserver".
    app = web_app(api_routes(box, patient_guard(), "1"), "0.0.0.0")
    config = SchemathesisConfig.from_dict(
        {
            "seed": SEED,
            "headers": WITH_TOKEN,
            "generation": {"max-examples": examples, "database": "none"},
            "cache": {"enabled": False},
            "phases": {"stateful": {"enabled": False}},  # no path leads to another
        }
    )
    schema = schemathesis.openapi.from_asgi(
        "/v1/openapi.json", app, headers=WITH_TOKEN, config=config
    )
    tried, found = set(), set()
    for event in from_schema(schema.include(path_regex=paths)).execute():
        assert not isinstance(event, events.NonFatalError | events.FatalError), event
        if isinstance(event, events.ScenarioFinished):
            tried.add(str(event.label))
            found |= set(_failures(event))
    return found, tried


def _failures(event: events.ScenarioFinished) -> list[str]:
    return [
        f"{event.label}: {check.name}: {check.failure_info.failure.message}\n"
        f"{check.failure_info.code_sample}"
        for checks in event.recorder.checks.values()
        for check in checks
        if check.status is Status.FAILURE and check.failure_info is not None
    ]


@pytest.mark.timeout(1800 if LONG else 120)
def test_schemathesis_finds_nothing() -> None:
    found, tried = told_faults(FakeBox())
    assert found == set(), "\n\n".join(sorted(found))
    rows = api_paths(FakeBox(), patient_guard(), "1")
    assert tried == {f"{row.method} {row.path}" for row in rows} - {"GET /v1/events"}


class CarelessBox(FakeBox):
    """A box that returns more than the document says."""

    def state(self) -> Mapping[str, Any]:
        return {**super().state(), "muted": "no"}

    def stop(self, caller: Caller) -> None:
        raise RuntimeError("nobody thought of that")


def test_it_would_have_found_what_is_wrong() -> None:
    found, _ = told_faults(CarelessBox(), 1, "^/v1/(state|stop)$")
    checks = {tuple(one.split(": ")[:2]) for one in found}
    assert ("GET /v1/state", "response_schema_conformance") in checks
    assert ("POST /v1/stop", "not_a_server_error") in checks


def test_routes_and_document_are_the_same_table() -> None:
    guard = patient_guard()
    rows = api_paths(FakeBox(), guard, "1")
    told = {
        (path, method.upper())
        for path, methods in document(rows, "1")["paths"].items()
        for method in methods
    }
    routes = api_routes(FakeBox(), guard, "1")
    assert told == {(route.path, method) for route in routes for method in _methods(route)}
    assert len(told) == len(rows)


def _methods(route: Route) -> set[str]:
    return route.methods or set()


def test_the_document_says_who_may_and_how_it_fails() -> None:
    rows = api_paths(FakeBox(), patient_guard(), "1.2.3")
    told = document(rows, "1.2.3")
    assert told["openapi"] == "3.1.0"
    assert told["info"]["version"] == "1.2.3"
    mute = told["paths"]["/v1/mute"]["post"]
    assert mute["description"] == "Needs the scope `speak`."
    statuses = {"200", "401", "403", "411", "413", "415", "421", "422", "429", "500", "507"}
    assert set(mute["responses"]) == statuses
    assert told["paths"]["/v1/timers/{id}"]["delete"]["responses"]["204"].keys() == {"description"}
    assert told["paths"]["/v1/timers/{id}"]["delete"]["responses"]["403"]
    assert told["paths"]["/v1/openapi.json"]["get"]["responses"].keys() == {
        *("200", "401", "411", "413", "421", "429", "500")
    }
    assert told["paths"]["/v1/session"]["post"]["security"] == []
    assert told["paths"]["/v1/session"]["post"]["description"] == "Needs no token."
    assert told["security"] == [{"token": []}, {"session": []}]
