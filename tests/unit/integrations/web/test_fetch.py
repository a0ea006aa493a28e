"""Pages are fetched only from the internet, whatever a name or a server says."""

import asyncio
import gzip
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager

import httpx
import pytest

from integrations.errors import IntegrationError, Refused, Unavailable
from integrations.web.fetch import (
    MAX_BYTES,
    MAX_REDIRECTS,
    Fetched,
    Fetcher,
    NotAllowed,
    NotReadable,
    checked,
    is_out,
)
from tests.simulators.certificate import Certificate, make_certificate

# Addresses on the internet, and others.


OUTSIDE = (
    "1.1.1.1",
    "93.184.215.14",
    "8.8.8.8",
    "223.255.255.254",
    "2606:4700::1111",
    "2a00:1450::1",
)
NEARER = (
    *("127.0.0.1", "127.8.8.8", "0.0.0.0", "10.0.0.5", "172.16.0.1", "172.31.255.255"),
    *("192.168.1.1", "169.254.169.254", "100.64.0.1", "100.127.255.255", "192.0.0.8"),
    *("192.88.99.1", "198.18.0.1", "198.19.255.255", "224.0.0.251", "239.255.255.250"),
    *("240.0.0.1", "255.255.255.255", "203.0.113.7", "198.51.100.7", "192.0.2.7"),
    *("::", "::1", "::ffff:10.0.0.1", "::ffff:8.8.8.8", "::8.8.8.8", "64:ff9b::808:808"),
    *("64:ff9b:1::1", "2002:7f00:1::", "2002:808:808::1", "2001::1", "2001:db8::1", "2001:20::1"),
    *("fc00::1", "fd12::1", "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::fb", "3fff::1", "100::1"),
    *("2606:4700::1%eth0", "5f00::1", "4000::1"),
    *("localhost", "", "2130706433", "0x7f.1", "127.1", "1.1.1.1:443", "[::1]", "01.1.1.1"),
)


@pytest.mark.parametrize("address", OUTSIDE)
def test_out(address: str) -> None:
    assert is_out(address)


@pytest.mark.parametrize("address", NEARER)
def test_nearer(address: str) -> None:
    assert not is_out(address)


OUT, OUT_6 = "93.184.215.14", "2606:4700::1111"
HTML = "content-type: text/html; charset=utf-8\r\n"


class Names:
    """A resolver. A name with several answers gives the next one each time."""

    def __init__(self, **names: Sequence[Sequence[str]]) -> None:
        self.names = {"site": [[OUT]], **names}
        self.asked: list[str] = []

    async def __call__(self, host: str) -> Sequence[str]:
        self.asked.append(host)
        answers = self.names.get(host.removesuffix(".example").replace("-", "_"))
        if not answers:
            raise socket.gaierror(socket.EAI_NONAME, "unknown")
        return answers[min(self.asked.count(host), len(answers)) - 1]


class Web(httpx.AsyncBaseTransport):
    """A fake internet: records requests and answers them."""

    def __init__(self, *answers: httpx.Response | Exception) -> None:
        self.answers = list(answers)
        self.asked: list[httpx.Request] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def page(body: bytes = b"<p>Hello", **headers: str) -> httpx.Response:
    named = {key.replace("_", "-"): value for key, value in headers.items()}
    given = {"content-type": "text/html"} | named
    return httpx.Response(200, headers=given, stream=httpx.ByteStream(body))


def moved(to: str, status: int = 302) -> httpx.Response:
    return httpx.Response(status, headers={"location": to})


async def fetch(
    web: Web, names: Names | None = None, url: str = "https://site.example/"
) -> Fetched:
    return await Fetcher(names or Names(), lambda tls: web).fetch(url)


async def test_the_address_that_was_judged_is_the_one_that_is_asked() -> None:
    names = Names(site=[[OUT], ["127.0.0.1"]])  # its address would change in between
    web = Web(page())
    got = await fetch(web, names, "https://site.example/a?b=c#d")
    assert got == Fetched("https://site.example/a?b=c", "text/html", "", b"<p>Hello", True)
    (request,) = web.asked
    assert (request.url.host, request.url.raw_path) == (OUT, b"/a?b=c")
    assert request.headers["host"] == "site.example"
    assert request.extensions["sni_hostname"] == "site.example"
    assert names.asked == ["site.example"]


async def test_nothing_goes_out_but_what_is_needed() -> None:
    first = moved("/next")
    first.headers["set-cookie"] = "id=1; Path=/"
    web = Web(first, page(set_cookie="a=b"))
    await fetch(web)
    for request in web.asked:
        assert request.method == "GET"
        assert set(request.headers) == {"host", "user-agent", "accept", "accept-encoding"}
        assert request.headers["accept-encoding"] == "identity"


@pytest.mark.parametrize(
    "url",
    [
        *("http://site.example/", "ftp://site.example/", "file:///etc/passwd", "site.example", ""),
        *("https://", "https:///x", "https://user@site.example/", "https://u:p@site.example/"),
        *("https://site.example:8443/", "https://site.example:80/", "https://[::1", "https://a b/"),
        *("https://site.example/\n", "https://site.example:x/", "javascript:alert(1)"),
        "https://site.example/" + "a" * 3_000,
    ],
)
async def test_what_is_no_address_of_a_page(url: str) -> None:
    web = Web()
    with pytest.raises(NotAllowed):
        await fetch(web, url=url)
    assert web.asked == []


@pytest.mark.parametrize(
    "addresses",
    [
        *(["127.0.0.1"], ["10.0.0.1"], ["169.254.169.254"], ["100.64.0.1"], ["::1"], ["fe80::1%2"]),
        *(["::ffff:10.0.0.1"], ["64:ff9b::7f00:1"], ["2002:7f00:1::"], ["224.0.0.251"]),
        [OUT, "192.168.1.1"],  # a single one is enough
        [OUT_6, "::1"],
    ],
)
async def test_names_that_lead_home(addresses: list[str]) -> None:
    web = Web()
    with pytest.raises(NotAllowed):
        await fetch(web, Names(site=[addresses]))
    assert web.asked == []


@pytest.mark.parametrize(
    "target",
    [
        *("https://127.0.0.1/", "https://169.254.169.254/latest/meta-data/", "https://[::1]/"),
        *("https://[::ffff:10.0.0.1]/", "https://2130706433/", "https://0x7f000001/"),
        *("https://0177.0.0.1/", "https://127.1/", "https://localhost/", "https://home.example/"),
        *("http://site.example/", "//user@site.example/", "https://site.example:8123/"),
        *("https://[64:ff9b::10.0.0.1]/", "https://router.example/", "file:///etc/passwd"),
    ],
)
@pytest.mark.parametrize("hops", [0, 2])
async def test_redirects_that_lead_home(target: str, hops: int) -> None:
    async def resolve(host: str) -> Sequence[str]:
        known = {"site.example": OUT, "home.example": "192.168.1.2", "router.example": "fd00::1"}
        if host in known:
            return [known[host]]
        # As the system's resolver reads numbers (inet_aton).
        found = await asyncio.get_running_loop().getaddrinfo(host, 443, type=socket.SOCK_STREAM)
        return [str(row[4][0]) for row in found]

    web = Web(*(moved(f"/{hop}") for hop in range(hops)), moved(target))
    with pytest.raises(NotAllowed):
        await Fetcher(resolve, lambda tls: web).fetch("https://site.example/")
    assert len(web.asked) == hops + 1
    assert {request.url.host for request in web.asked} == {OUT}


async def test_redirects_are_followed_three_times() -> None:
    web = Web(*(moved(f"/{hop}", status) for hop, status in enumerate((301, 307, 308))), page())
    assert (await fetch(web)).url == "https://site.example/2"
    web = Web(*(moved("/again") for _ in range(MAX_REDIRECTS + 1)))
    with pytest.raises(Refused, match="redirects too often"):
        await fetch(web)


async def test_a_name_is_judged_again_after_each_redirect() -> None:
    names = Names(site=[[OUT], ["127.0.0.1"]])
    web = Web(moved("https://site.example/next"))
    with pytest.raises(NotAllowed):
        await fetch(web, names)
    assert len(web.asked) == 1


async def test_the_next_address_is_tried_where_one_does_not_answer() -> None:
    web = Web(httpx.ConnectError("no route"), httpx.ConnectTimeout("slow"), page())
    await fetch(web, Names(site=[[OUT_6, OUT, "1.1.1.1", "8.8.8.8"]]))
    assert [request.url.host for request in web.asked] == [OUT_6, OUT, "1.1.1.1"]


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (httpx.Response(404), Refused),
        (httpx.Response(500, content=b"x"), Refused),
        (httpx.Response(204), Refused),
        (httpx.Response(302), Refused),  # a redirect without a target
        (page(content_type="application/pdf"), NotReadable),
        (page(content_type="image/svg+xml"), NotReadable),
        (page(content_type="application/json"), NotReadable),
        (page(content_type=""), NotReadable),
        (page(content_type="text/html-x"), NotReadable),
        (httpx.ReadError("reset"), Unavailable),
        (httpx.RemoteProtocolError("garbage"), Unavailable),
        (httpx.ReadTimeout("slow"), Unavailable),
        (httpx.ConnectError("refused"), Unavailable),
    ],
)
async def test_what_is_no_page(
    answer: httpx.Response | Exception, error: type[IntegrationError]
) -> None:
    with pytest.raises(error) as caught:
        await fetch(Web(answer))
    assert type(caught.value) is error
    assert "site" not in str(caught.value)


@pytest.mark.parametrize("names", [Names(site=[[]]), Names(site=[])])
async def test_a_name_that_there_is_not(names: Names) -> None:
    with pytest.raises(Unavailable, match="No server has that name"):
        await fetch(Web(), names)


async def test_plain_text_and_charset() -> None:
    got = await fetch(Web(page(b"x", content_type='Text/Plain; charset="ISO-8859-1"')))
    assert (got.kind, got.charset) == ("text/plain", "ISO-8859-1")


def test_names_of_other_scripts() -> None:
    assert checked("https://münchen.example/ä").raw_host == b"xn--mnchen-3ya.example"


# --- over a real connection with TLS

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return make_certificate(tmp_path_factory.mktemp("certificate"))


@asynccontextmanager
async def internet(
    certificate: Certificate,
    serve: Serve,
    monkeypatch: pytest.MonkeyPatch,
    total_s: float = 5.0,
) -> AsyncIterator[tuple[Fetcher, list[str]]]:
    """Run a server on this machine that is reached as OUT, with a certificate for `localhost`."""
    monkeypatch.setattr("integrations.web.fetch.tls_context", certificate.client_context)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.readuntil(b"\r\n\r\n")
            await serve(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the client has closed
        finally:
            writer.close()

    writers: list[asyncio.StreamWriter] = []
    answers: list[asyncio.Task[None]] = []

    def begin(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        answers.append(asyncio.ensure_future(answer(reader, writer)))

    server = await asyncio.start_server(
        begin, "127.0.0.1", 0, ssl=certificate.server_context(), ssl_handshake_timeout=5
    )
    port = server.sockets[0].getsockname()[1]
    asked: list[str] = []

    class Rerouted(httpx.AsyncHTTPTransport):
        """Send everything for an outside address to this server."""

        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            asked.append(f"{request.url.host}:{request.url.port or 443}")
            request.url = request.url.copy_with(host="127.0.0.1", port=port)
            return await super().handle_async_request(request)

    async def resolve(host: str) -> Sequence[str]:
        return [OUT]

    def transport(tls: ssl.SSLContext) -> httpx.AsyncBaseTransport:
        return Rerouted(verify=tls, trust_env=False)

    async with server:
        yield Fetcher(resolve, transport, total_s), asked
        # none is left to the garbage collector, which would warn in a later test
        for one in answers:
            one.cancel()
        for writer in writers:
            writer.transport.abort()
        await asyncio.sleep(0.01)


def whole(body: bytes, headers: str = HTML) -> Serve:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        length = f"content-length: {len(body)}\r\n"
        writer.write(f"HTTP/1.1 200 OK\r\n{headers}{length}\r\n".encode() + body)
        await writer.drain()

    return serve


async def endless(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(f"HTTP/1.1 200 OK\r\n{HTML}\r\n".encode())
    while True:
        writer.write(b"<p>more</p>" * 10_000)
        await writer.drain()


async def trickle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Send a byte now and then, each within the time limit."""
    writer.write(f"HTTP/1.1 200 OK\r\n{HTML}\r\n".encode())
    while True:
        writer.write(b"x")
        await writer.drain()
        await asyncio.sleep(0.02)


async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read()


async def test_a_page_over_tls(certificate: Certificate, monkeypatch: pytest.MonkeyPatch) -> None:
    async with internet(certificate, whole(b"<p>Hello"), monkeypatch) as (fetcher, asked):
        got = await fetcher.fetch("https://localhost/")
    assert (got.body, got.charset, asked) == (b"<p>Hello", "utf-8", [f"{OUT}:443"])


async def test_a_certificate_for_another_name(
    certificate: Certificate, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with internet(certificate, whole(b"x"), monkeypatch) as (fetcher, _):
        with pytest.raises(Refused, match="no valid certificate"):
            await fetcher.fetch("https://site.example/")


async def test_an_endless_page_is_read_to_the_limit(
    certificate: Certificate, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with internet(certificate, endless, monkeypatch) as (fetcher, _):
        got = await fetcher.fetch("https://localhost/")
    assert (len(got.body), got.whole) == (MAX_BYTES, False)


@pytest.mark.parametrize("serve", [trickle, silent])
async def test_a_slow_page_is_given_up(
    certificate: Certificate, monkeypatch: pytest.MonkeyPatch, serve: Serve
) -> None:
    async with internet(certificate, serve, monkeypatch, total_s=0.3) as (fetcher, _):
        with pytest.raises(Unavailable, match="in time"):
            await fetcher.fetch("https://localhost/")


@pytest.mark.parametrize("packing", ["gzip", "deflate", "br", "zstd", "gzip, identity"])
async def test_a_packed_page_is_not_unpacked(
    certificate: Certificate, monkeypatch: pytest.MonkeyPatch, packing: str
) -> None:
    bomb = gzip.compress(bytes(50_000_000))
    headers = f"{HTML}content-encoding: {packing}\r\n"
    async with internet(certificate, whole(bomb, headers), monkeypatch) as (fetcher, _):
        with pytest.raises(NotReadable):
            await fetcher.fetch("https://localhost/")
