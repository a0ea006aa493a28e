"""No address carries outside what is known of this home."""

import pytest

from assistant.speech.catalogue import Catalogue
from assistant.tools.builtin.fetch import Seen, carries, fetch_page, was_said
from assistant.tools.builtin.protocol import BuiltInRequest, BuiltInResult
from integrations.web.fetch import Fetched, Fetcher

PAGE = "https://news.example/today"
BODY = (
    '<p>Today <a href="/one">one</a> <a href="two?x=1">two</a> <a href="https://else.example/">x</a>'
    '<a href="//news.example/three#part">three</a><a>none</a><a href="http://[">broken</a>'
)


@pytest.mark.parametrize(
    ("url", "said", "meant"),
    [
        ("https://example.org", "read example.org", True),
        ("https://www.example.org/", "read Example.org please", True),
        ("https://example.org/", "read www.example.org", True),
        ("https://example.org/", "read example . org.", True),
        ("https://example.org/news", "open https://example.org/news", True),
        ("https://example.org/news?x=1", "open example.org/news?x=1", True),
        ("https://example.org/news", "read example.org", False),
        ("https://example.org/?q=bello", "read example.org", False),
        ("https://bello.example.org/", "read example.org", False),
        ("https://example.org/", "read bello.example.org", False),
        ("https://example.org/", "read example.organic", False),
        ("https://example.org.thief.example/", "read example.org", False),
        ("https://user@example.org/", "read example.org", False),
        ("https://example.org:8443/", "read example.org", False),
        ("https://example.org/", "what is the weather", False),
        ("https://[", "https://[", False),
        ("nowhere", "nowhere", False),
    ],
)
def test_which_addresses_were_said(url: str, said: str, meant: bool) -> None:
    assert was_said(url, ["hello", said]) is meant


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("https://x.example/?q=the+key+is+under+the+mat", True),
        ("https://x.example/key-is-under", True),
        ("https://x.example/THEKEYISUNDER", True),
        ("https://key-is-under-the-mat.x.example/", True),
        ("https://x.example/?code=4711", True),
        ("https://x.example/%6bey%20is%20under", True),
        ("https://x.example/?q=Bj%C3%B6rnson", True),
        ("https://x.example/keys", False),
        ("https://x.example/under/the/bridge", False),
        ("https://x.example/12", False),
    ],
)
def test_what_carries_a_memory(url: str, told: bool) -> None:
    memories = ["The key is under the mat", "alarm code 4711", "Bjornson", "Bo"]
    assert carries(url, memories) is told


def fetched(url: str = PAGE, body: str = BODY, kind: str = "text/html") -> Fetched:
    return Fetched(url, kind, "", body.encode(), whole=True)


@pytest.mark.parametrize(
    ("url", "follows"),
    [
        ("https://news.example/one", True),
        ("https://news.example/three", True),
        ("https://news.example/one?x=secret", False),
        ("https://news.example/two?x=1", False),  # a query, even where it stands there
        ("https://news.example/two", False),
        ("https://news.example/four", False),
        ("https://else.example/", False),
        ("http://news.example/one", False),
        ("https://[", False),
    ],
)
def test_which_links_may_be_followed(url: str, follows: bool) -> None:
    seen = Seen()
    assert not seen.holds("https://news.example/one")
    seen.note(fetched())
    assert seen.holds(url) is follows


def test_a_plain_text_has_no_links() -> None:
    seen = Seen()
    seen.note(fetched(kind="text/plain"))
    assert not seen.holds("https://news.example/one")


class Net(Fetcher):
    def __init__(self) -> None:
        self.asked: list[str] = []

    async def fetch(self, url: str) -> Fetched:
        self.asked.append(url)
        return fetched(url)


async def known() -> list[str]:
    return ["The key is under the mat"]


@pytest.mark.parametrize(
    ("url", "said", "tainted", "key"),
    [
        ("https://news.example/", "", False, ""),
        ("https://news.example/", "", True, "fetch.not_said"),
        ("https://news.example/", "read news.example", True, ""),
        ("https://x.example/?q=key+is+under", "", False, "fetch.personal"),
        ("https://x.example/key-is-under", "read x.example/key-is-under", False, ""),
        ("https://x.example/?q=key+is+under", "read x.example", True, "fetch.not_said"),
    ],
)
async def test_what_is_fetched(url: str, said: str, tainted: bool, key: str) -> None:
    net = Net()
    tool = fetch_page(net, Catalogue(), known)
    request = BuiltInRequest("t-1", "t", said, "en", tainted=tainted, said=(said,))
    result = await tool.run({"url": url}, request)
    assert net.asked == ([] if key else [url])
    assert result.failed is bool(key)
    if key:
        assert result == BuiltInResult(Catalogue().say(key, "en"), failed=True)


async def test_a_link_of_a_page_that_was_fetched_is_followed() -> None:
    net = Net()
    tool = fetch_page(net, Catalogue(), known)

    async def ask(url: str, *, tainted: bool) -> bool:
        request = BuiltInRequest("t-1", "t", "", "en", tainted=tainted)
        return not (await tool.run({"url": url}, request)).failed

    assert await ask(PAGE, tainted=False)
    assert await ask("https://news.example/one", tainted=True)
    assert not await ask("https://news.example/one?x=secret", tainted=True)
    assert not await ask("https://thief.example/", tainted=True)
