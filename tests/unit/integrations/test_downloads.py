"""Downloads from a server on loopback that hangs up, lies, redirects and recovers."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx
import pytest

from integrations.downloads import TRIES, Download, fetch_together, is_right, web_client
from integrations.errors import IntegrationError, Refused, Unavailable
from integrations.tls import next_address
from tests.unit.integrations.downloading import VOICE, Pauses, names, refused, voice
from tests.unit.integrations.file_server import FileServer, file_server

NOTES = b'{"audio": {"sample_rate": 22050}}'


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture
def server() -> Iterator[FileServer]:
    with file_server({"/voice": VOICE, "/notes": NOTES}) as served:
        yield served


@pytest.fixture
async def client(no_proxy: None) -> AsyncIterator[httpx.AsyncClient]:
    async with web_client() as made:
        yield made


def notes(server: FileServer, folder: Path) -> Download:
    digest = hashlib.md5(NOTES).hexdigest()
    return Download(server.url("/notes"), folder / "en.onnx.json", len(NOTES), digest, "md5")


async def test_two_files_come_together_and_a_second_time_nothing_is_asked(
    server: FileServer, client: httpx.AsyncClient, tmp_path: Path
) -> None:
    folder, seen = tmp_path / "new" / "models", list[tuple[str, int, int]]()
    both = [voice(server, folder), notes(server, folder)]
    came = await fetch_together(both, client, lambda *one: seen.append(one))
    assert came == [one.path for one in both]
    assert both[0].path.read_bytes() == VOICE
    assert both[1].path.read_bytes() == NOTES
    assert names(folder) == ["en.onnx", "en.onnx.json"]
    assert ("en.onnx", len(VOICE), len(VOICE)) in seen
    assert len(server.asked) == 2
    assert await fetch_together(both, client) == []
    assert len(server.asked) == 2


async def test_a_dropped_connection_goes_on_where_it_stopped(
    server: FileServer, client: httpx.AsyncClient, tmp_path: Path
) -> None:
    server.cuts = [100_000, 50_000]
    pauses = Pauses()
    await fetch_together([voice(server, tmp_path)], client, pause=pauses)
    assert (tmp_path / "en.onnx").read_bytes() == VOICE
    assert server.asked == [
        ("/voice", "", ""),
        ("/voice", "bytes=100000-", '"one"'),
        ("/voice", "bytes=150000-", '"one"'),
    ]
    assert pauses.seconds == [1.0, 1.0]  # it made progress each time


async def test_a_server_without_ranges_begins_again(
    server: FileServer, client: httpx.AsyncClient, tmp_path: Path
) -> None:
    server.ranges, server.cuts, server.etag = False, [100_000], ""
    await fetch_together([voice(server, tmp_path)], client, pause=Pauses())
    assert (tmp_path / "en.onnx").read_bytes() == VOICE
    assert names(tmp_path) == ["en.onnx"]
    assert server.asked[1] == ("/voice", "bytes=100000-", "")


async def test_another_range_than_the_one_asked_for_begins_again(
    server: FileServer, client: httpx.AsyncClient, tmp_path: Path
) -> None:
    server.odd_range, server.cuts = True, [100_000]
    await fetch_together([voice(server, tmp_path)], client, pause=Pauses())
    assert (tmp_path / "en.onnx").read_bytes() == VOICE
    assert [wanted for _, wanted, _ in server.asked] == ["", "bytes=100000-", ""]


async def test_no_progress_ends_with_one_sentence_and_keeps_what_came(
    server: FileServer, client: httpx.AsyncClient, tmp_path: Path
) -> None:
    server.cuts = [1000] + [0] * TRIES
    pauses = Pauses()
    with pytest.raises(
        Unavailable, match=r"connection was dropped.*1,000 of 300,000 bytes are kept"
    ):
        await fetch_together([voice(server, tmp_path)], client, pause=pauses)
    assert (tmp_path / "en.onnx.part").stat().st_size == 1000
    assert pauses.seconds == [1.0, 2.0, 4.0]
    server.cuts = []
    await fetch_together([voice(server, tmp_path)], client)
    assert (tmp_path / "en.onnx").read_bytes() == VOICE
    assert server.asked[-1] == ("/voice", "bytes=1000-", '"one"')
    assert names(tmp_path) == ["en.onnx"]


async def test_a_cancelled_download_is_resumed(
    server: FileServer, client: httpx.AsyncClient, tmp_path: Path
) -> None:
    async def stops(seconds: float) -> None:
        raise asyncio.CancelledError

    server.cuts = [200_000]
    with pytest.raises(asyncio.CancelledError):
        await fetch_together([voice(server, tmp_path)], client, pause=stops)
    assert not (tmp_path / "en.onnx").exists()
    await fetch_together([voice(server, tmp_path)], client)
    assert (tmp_path / "en.onnx").read_bytes() == VOICE
    assert server.asked[-1][1] == "bytes=200000-"


async def test_what_was_begun_of_another_version_is_thrown_away(
    server: FileServer, client: httpx.AsyncClient, tmp_path: Path
) -> None:
    (tmp_path / "en.onnx.part").write_bytes(b"x" * 1000)
    (tmp_path / "en.onnx.part.tag").write_text('"older"')
    await fetch_together([voice(server, tmp_path)], client)
    assert (tmp_path / "en.onnx").read_bytes() == VOICE
    assert server.asked == [("/voice", "bytes=1000-", '"older"')]  # answered with the whole file


async def test_nothing_of_an_older_version_stays_behind_a_newer_one(
    server: FileServer, client: httpx.AsyncClient, tmp_path: Path
) -> None:
    (tmp_path / "en.onnx.part").write_bytes(b"x" * 1000)
    (tmp_path / "en.onnx.part.tag").write_text('"older"')
    server.cuts = [400]  # of the newer file, which is sent whole
    await fetch_together([voice(server, tmp_path)], client, pause=Pauses())
    assert (tmp_path / "en.onnx").read_bytes() == VOICE
    assert server.asked == [("/voice", "bytes=1000-", '"older"'), ("/voice", "bytes=400-", '"one"')]


async def test_a_wrong_beginning_without_a_tag_is_found_by_the_hash(
    server: FileServer, client: httpx.AsyncClient, tmp_path: Path
) -> None:
    (tmp_path / "en.onnx.part").write_bytes(b"x" * 1000)
    await fetch_together([voice(server, tmp_path)], client)
    assert (tmp_path / "en.onnx").read_bytes() == VOICE
    assert [wanted for _, wanted, _ in server.asked] == ["bytes=1000-", ""]


@pytest.mark.parametrize("begun", [len(VOICE), len(VOICE) + 5])
async def test_a_part_of_full_length_is_not_believed(
    begun: int, server: FileServer, client: httpx.AsyncClient, tmp_path: Path
) -> None:
    (tmp_path / "en.onnx.part").write_bytes(b"x" * begun)
    await fetch_together([voice(server, tmp_path)], client)
    assert (tmp_path / "en.onnx").read_bytes() == VOICE
    assert [wanted for _, wanted, _ in server.asked] == [""]


async def test_a_whole_part_is_put_in_place_without_asking(
    server: FileServer, client: httpx.AsyncClient, tmp_path: Path
) -> None:
    (tmp_path / "en.onnx.part").write_bytes(VOICE)
    await fetch_together([voice(server, tmp_path)], client)
    assert (tmp_path / "en.onnx").read_bytes() == VOICE
    assert server.asked == []


async def test_a_wrong_hash_is_refused_and_nothing_stays(
    server: FileServer, client: httpx.AsyncClient, tmp_path: Path
) -> None:
    wanted = voice(server, tmp_path, body=VOICE[:-1] + bytes([VOICE[-1] ^ 1]))
    assert "its sha256 differs" in await refused(wanted, client, Refused)
    assert names(tmp_path) == []


@pytest.mark.parametrize("length", [True, False])
@pytest.mark.parametrize("more", [-1, 1])
async def test_another_size_is_refused(
    more: int, length: bool, server: FileServer, client: httpx.AsyncClient, tmp_path: Path
) -> None:
    server.length = length
    wanted = Download(server.url("/voice"), tmp_path / "en.onnx", len(VOICE) + more, "0" * 64)
    if more > 0 and not length:  # it looks like a connection that ended early
        await refused(wanted, client, Unavailable)
    else:
        assert "bytes at its source" in await refused(wanted, client, Refused)
        assert names(tmp_path) == []


async def test_a_voice_is_not_there_before_both_of_its_files_are_right(
    server: FileServer, client: httpx.AsyncClient, tmp_path: Path
) -> None:
    wrong = Download(server.url("/notes"), tmp_path / "en.onnx.json", len(NOTES), "0" * 64)
    with pytest.raises(Refused):
        await fetch_together([voice(server, tmp_path), wrong], client)
    assert names(tmp_path) == ["en.onnx.part", "en.onnx.part.tag"]  # complete, for the next time
    server.asked.clear()
    await fetch_together([voice(server, tmp_path), notes(server, tmp_path)], client)
    assert [path for path, _, _ in server.asked] == ["/notes"]
    assert names(tmp_path) == ["en.onnx", "en.onnx.json"]


async def test_a_tampered_file_is_fetched_anew(
    server: FileServer, client: httpx.AsyncClient, tmp_path: Path
) -> None:
    wanted = voice(server, tmp_path)
    wanted.path.write_bytes(b"x" * len(VOICE))
    assert not is_right(wanted, wanted.path)
    assert await fetch_together([wanted], client) == [wanted.path]
    assert is_right(wanted, wanted.path)


@pytest.mark.parametrize(
    ("status", "kind", "words"),
    [
        (404, Refused, "127.0.0.1 does not have en.onnx (status 404)"),
        (403, Refused, "127.0.0.1 does not have en.onnx (status 403)"),
        (500, Unavailable, "the server answered with status 500"),
        (503, Unavailable, "the server answered with status 503"),
        (429, Unavailable, "the server answered with status 429"),
    ],
)
async def test_a_refusing_server(
    status: int,
    kind: type[IntegrationError],
    words: str,
    server: FileServer,
    client: httpx.AsyncClient,
    tmp_path: Path,
) -> None:
    server.statuses = [status] * TRIES
    assert words in await refused(voice(server, tmp_path), client, kind)
    assert len(server.asked) == (TRIES if kind is Unavailable else 1)


async def test_a_server_that_recovers(
    server: FileServer, client: httpx.AsyncClient, tmp_path: Path
) -> None:
    server.statuses = [503, 500]
    await fetch_together([voice(server, tmp_path)], client, pause=Pauses())
    assert (tmp_path / "en.onnx").read_bytes() == VOICE


async def test_a_redirect_on_this_machine_is_followed(
    server: FileServer, client: httpx.AsyncClient, tmp_path: Path
) -> None:
    server.redirects = {"/old": "/older", "/older": "/voice"}
    await fetch_together([voice(server, tmp_path, "/old")], client)
    assert (tmp_path / "en.onnx").read_bytes() == VOICE


@pytest.mark.parametrize(
    ("location", "words"),
    [
        ("http://models.example/voice", "http://models.example, which is not encrypted"),
        ("ftp://127.0.0.1/voice", "not encrypted"),
        ("/old", "redirects in a loop"),
    ],
)
async def test_a_redirect_that_is_not_followed(
    location: str, words: str, server: FileServer, client: httpx.AsyncClient, tmp_path: Path
) -> None:
    server.redirects = {"/old": location}
    assert words in await refused(voice(server, tmp_path, "/old"), client, Refused)


def test_a_redirect_to_no_address() -> None:
    with pytest.raises(Refused, match="redirects to an invalid address"):
        next_address(
            httpx.URL("https://a.example/"), "http://b.example:door/", "https://a.example/"
        )


async def test_the_proxy_of_the_environment_is_used(
    server: FileServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", server.url(""))
    target = "http://127.0.0.1:1/voice"  # nothing answers there except through the proxy
    server.files = {target: VOICE}
    async with web_client() as client:
        digest = hashlib.sha256(VOICE).hexdigest()
        wanted = Download(target, tmp_path / "en.onnx", len(VOICE), digest)
        await fetch_together([wanted], client)
    assert wanted.path.read_bytes() == VOICE
    assert [path for path, _, _ in server.asked] == [target]


async def test_a_machine_without_network(client: httpx.AsyncClient, tmp_path: Path) -> None:
    wanted = Download("http://127.0.0.1:1/voice", tmp_path / "en.onnx", 5, "0" * 64)
    said = await refused(wanted, client, Unavailable)
    assert said == (
        "en.onnx could not be downloaded from 127.0.0.1 (it cannot be reached): check the network."
    )


async def test_a_cancel_in_the_middle_of_the_answer_keeps_what_came(
    server: FileServer, client: httpx.AsyncClient, tmp_path: Path
) -> None:
    wanted = voice(server, tmp_path)

    async def fetch() -> None:
        task = asyncio.current_task()
        assert task is not None

        def stopped(name: str, done: int, total: int) -> None:
            if done:
                task.cancel()

        await fetch_together([wanted], client, stopped)

    task = asyncio.create_task(fetch())
    with pytest.raises(asyncio.CancelledError):
        await task
    kept = wanted.part.stat().st_size
    assert 0 < kept < len(VOICE)
    assert not wanted.path.exists()
    assert await fetch_together([wanted], client) == [wanted.path]
    assert server.asked[-1] == ("/voice", f"bytes={kept}-", '"one"')
    assert wanted.path.read_bytes() == VOICE
