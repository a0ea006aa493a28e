"""Tests of the check of the local language model, with a stand-in for its server."""

from pathlib import Path
from typing import Any, get_args

import pytest

from assistant.doctor.finding import Finding
from assistant.doctor.local import examine_local
from assistant.doctor.whole import examine_groups
from tests.ports import closed_port, free_port
from tests.simulators.chat_server import MODEL, ChatServerSimulator, Kind, Reply
from tests.simulators.script import Call, HttpError, Say
from tests.unit.assistant.doctor.scenes import scene, settings

CALLS: Reply = [Call("ready")]
KINDS = get_args(Kind)
ORDER = {"order": ["local", "offline"]}


async def found(folder: Path, url: str, **changes: Any) -> Finding:
    local = {"url": url, "model": MODEL, **changes}
    (finding,) = await examine_local(scene(settings(folder, brain=ORDER, local=local)))
    return finding


@pytest.mark.parametrize("kind", KINDS)
async def test_a_model_that_can_be_used(kind: Kind, tmp_path: Path) -> None:
    async with ChatServerSimulator(CALLS, kind=kind) as server:
        finding = await found(tmp_path, server.url)
    assert (finding.check, finding.status) == ("local model", "ok")
    assert finding.detail.startswith(f"{MODEL} answers within ")
    assert finding.detail.endswith(" s and calls tools")


@pytest.mark.parametrize("kind", KINDS)
async def test_a_context_that_is_too_short(kind: Kind, tmp_path: Path) -> None:
    async with ChatServerSimulator(CALLS, kind=kind, context=4_096) as server:
        finding = await found(tmp_path, server.url)
    assert finding.status == "warn"
    assert "4096 tokens" in finding.detail
    assert "OLLAMA_CONTEXT_LENGTH=8192" in finding.mend


async def test_a_model_that_only_talks(tmp_path: Path) -> None:
    async with ChatServerSimulator([Say("I am ready.")]) as server:
        finding = await found(tmp_path, server.url)
    assert finding.status == "warn"
    assert "didn't call the tool" in finding.detail


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"models": ("llama3.1:8b", "other")}, "it has llama3.1:8b, other"),
        ({"tools": False}, "can't call tools on this server"),
        ({"key": "theirs"}, "rejected local.api_key"),
        ({"kind": "llama.cpp", "loading": True}, "Loading model"),
    ],
    ids=str,
)
async def test_a_server_that_refuses(given: dict[str, Any], says: str, tmp_path: Path) -> None:
    async with ChatServerSimulator(**given) as server:
        finding = await found(tmp_path, server.url)
    assert finding.status == "fail"
    assert says in finding.mend


async def test_a_server_that_is_away_or_fails(tmp_path: Path) -> None:
    with closed_port() as port:
        finding = await found(tmp_path, f"http://127.0.0.1:{port}/v1")
    assert "check that it is running" in finding.mend
    async with ChatServerSimulator([HttpError(500, "out of memory")]) as server:
        assert "out of memory" in (await found(tmp_path, server.url)).mend


@pytest.mark.parametrize(
    ("url", "says"), [("", "local.model"), ("https://example.com/v1", "privacy.accept_cloud")]
)
async def test_nothing_is_sent_without_an_address_or_consent(
    url: str, says: str, tmp_path: Path
) -> None:
    finding = await found(tmp_path, url)
    assert (finding.status, finding.detail) == ("fail", "not used")
    assert says in finding.mend


async def test_it_is_a_group_of_its_own_where_it_is_used(tmp_path: Path) -> None:
    assert await examine_local(scene(settings(tmp_path))) == []
    async with ChatServerSimulator(CALLS) as server:
        given = settings(
            tmp_path,
            home_assistant={"url": "demo"},
            http={"port": free_port()},
            brain=ORDER,
            local={"url": server.url, "model": MODEL},
        )
        groups = await examine_groups(given)
    titles = [group.title for group in groups]
    assert titles[titles.index("Gemini") + 1] == "Local model"
