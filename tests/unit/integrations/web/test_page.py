"""The main text of a page: visible text is returned, hidden text is not."""

import pytest

from integrations.web.fetch import MAX_BYTES, Fetched
from integrations.web.markup import End, Piece, Start, Text, pieces
from integrations.web.page import MAX_TEXT, Page, read_page

LONG = "A sentence of the article that is told. " * 8


def read(body: str | bytes, kind: str = "text/html", charset: str = "") -> Page:
    raw = body if isinstance(body, bytes) else body.encode()
    return read_page(Fetched("https://x.example/", kind, charset, raw, whole=True))


def test_an_article_without_what_stands_around_it() -> None:
    page = read(
        f"""<!doctype html><html><head><title>The&nbsp;title
        </title><style>.x {{color: red}}</style></head><body>
        <header>Banner</header><nav><a href=/>Home</a></nav><aside>Ads</aside>
        <main><h1>Head</h1><p>{LONG}<p>Second <b>bold</b>, <i>italic</i><br>and next
        <ul><li>one<li>two</ul><table><tr><td>a<td>b</table><script>alert(1)</script></main>
        <p>Outside.</p><footer>Imprint</footer></body></html>"""
    )
    rows = ["Head", LONG.strip(), "Second bold, italic", "and next", "one", "two", "a", "b"]
    assert page == Page("The title", "\n".join(rows), whole=True)


def test_without_a_main_part_all_but_the_frame_counts() -> None:
    page = read("<nav>Menu</nav><div>One</div><article>Short</article><form>Search</form>Two")
    assert page.text == "One\nShort\nTwo"


HIDDEN = (
    "<!-- X -->",
    "<p hidden>X</p>",
    "<p HIDDEN=''>X</p>",
    "<div aria-hidden=true><p>X</p></div>",
    "<p style='display: none'>X</p>",
    "<p style='DISPLAY:/**/none !important'>X</p>",
    "<p style='d\\69splay:none'>X</p>",
    "<p style='color:red;visibility:hidden'>X</p>",
    "<p style='opacity:0'>X</p>",
    "<p style='opacity:0.0;color:red'>X</p>",
    "<p style='font-size:0px'>X</p>",
    "<p style='position:absolute;left:-9999px'>X</p>",
    "<p style='text-indent:-999em'>X</p>",
    "<p style='height:0;overflow:hidden'>X</p>",
    "<p style='clip:rect(0,0,0,0)'>X</p>",
    "<p style='color:transparent'>X</p>",
    "<span class='a sr-only'>X</span>",
    "<style>a, p.secret {display : none}</style><p class='secret'>X</p>",
    "<style>@media screen{#who{visibility:hidden}}</style><p id=who>X</p>",
    "<script>X</script>",
    "<noscript>X</noscript>",
    "<template><p>X</p></template>",
    "<textarea>X</textarea>",
    "<svg><text>X</text></svg>",
    "<select><option>X</option></select>",
    "<dialog>X</dialog>",
    "<iframe>X</iframe>",
    "<img alt=X title=X><input value=X>",
    "<meta name=description content=X>",
    "<div hidden><p>X<p>X</div>",
    "<b><div hidden></b>X</div>",  # a foreign end tag does not end the hidden part
    "<div hidden></span></b></i>X</div>",
    "<p hidden>X<span></p>",
    "<p title='X'>",
    "<p title='>X</p>",
    "<!-- X",
)


@pytest.mark.parametrize("hidden", HIDDEN)
def test_what_nobody_sees_is_not_told(hidden: str) -> None:
    page = read(f"<body><p>Before</p>{hidden}")
    assert page.text == "Before"
    assert "X" not in page.title


@pytest.mark.parametrize(
    "shown",
    [
        "<p style='opacity:0.5;font-size:0.9em;left:-9px'>X</p>",
        "<p hidden>Y</p><p>X</p>",
        "<p hidden>Y<p>X",
        "<ul><li hidden>Y<li>X</ul>",
        "<div hidden><b>Y</div>X",
        "<p aria-hidden=false class=hidden-gem>X</p>",
        "<details><summary>X</summary></details>",
        "<h1>X</h1>",
    ],
)
def test_what_is_seen_is_told(shown: str) -> None:
    assert read(f"<p>Before</p>{shown}").text == "Before\nX"


def test_letters_that_nobody_sees_are_left_out() -> None:
    page = read("<p>a\u200bb\u202ec\U000e0041d\x00</p><p>\x1b[31me</p>")
    assert page.text == "abcd\n[31me"


@pytest.mark.parametrize(
    ("body", "kind", "charset", "text"),
    [
        ("café".encode("latin-1"), "text/html", "iso-8859-1", "café"),
        (b"<meta charset='windows-1252'>caf\xe9", "text/html", "", "café"),
        ("<p>日本語".encode("shift_jis"), "text/html", "Shift_JIS", "日本語"),
        ("café".encode(), "text/html", "nonsense", "café"),
        ("café".encode(), "text/html", "rot13", "café"),
        ("café".encode(), "text/html", "zlib", "café"),
        (b"caf\xff", "text/html", "", "caf\ufffd"),
        (b"<b>a</b>\r\n  b \n\n", "text/plain", "", "<b>a</b>\nb"),
        (b"", "text/html", "", ""),
    ],
)
def test_how_it_is_written(body: bytes, kind: str, charset: str, text: str) -> None:
    assert read(body, kind, charset).text == text


def test_a_long_page_is_cut_between_words() -> None:
    page = read("<p>" + "word " * 5_000)
    assert not page.whole
    assert MAX_TEXT - 5 <= len(page.text) <= MAX_TEXT
    assert page.text.endswith("word")


FLOODS = {
    "open tags": "<div>",
    "open inline tags": "<b>",
    "mixed": "<b><p>",
    "end tags": "</p>",
    "attributes": "<p " + "a=1 " * 400_000,
    "open quotes": "<p a=' b=\" ",
    "comments": "<!--",
    "entities": "&",
    "signs": "<",
    "scripts": "<script></script",
    "styles": "<style>" + "a{" * 900_000,
    "long styles": f"<p style='{'/*' * 900}'>",
    "hidden text": "<p hidden>" + "x" * 500,
    "crossed": "<b><p>" + "<i>" * 400 + "</b>" * 400_000,
}


@pytest.mark.timeout(20)
@pytest.mark.parametrize("kind", FLOODS)
def test_a_page_that_means_harm_costs_little(kind: str) -> None:
    unit = FLOODS[kind]
    flood = (unit * (MAX_BYTES // len(unit) + 1))[:MAX_BYTES]
    assert len(read(flood).text) <= MAX_TEXT


# Broken HTML as tags and texts.


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("a<B>b</b >c", [Text("a"), Start("b"), Text("b"), End("b"), Text("c")]),
        (
            """<p a=1 B='x > y' c = "&amp;" a=2 d/>t""",
            [Start("p", {"a": "1", "b": "x > y", "c": "&", "d": ""}), Text("t")],
        ),
        ("1 < 2 &lt; 3", [Text("1 "), Text("<"), Text(" 2 < 3")]),
        ("<!doctype html><?x?>a<!-- <b> -->c<!-->d", [Text("a"), Text("c"), Text("d")]),
        ("a<!-- never closed <p>b", [Text("a")]),
        ("a<p title='never closed>b</p>", [Text("a")]),
        ("a<p ", [Text("a")]),
        ("a</", [Text("a")]),
        ("a</ p>b", [Text("a"), Text("b")]),
        ("a</p", [Text("a"), End("p")]),
        (
            "<script>if (a<b) '</p>'</SCRIPT >c",
            [Start("script"), Text("if (a<b) '</p>'"), End("script"), Text("c")],
        ),
        ("<script>a</scriptx>b", [Start("script"), Text("a</scriptx>b"), End("script")]),
        ("<title>a &amp; <b></title>", [Start("title"), Text("a & <b>"), End("title")]),
        ("<x-y:z =a>", [Start("x-y:z", {"=a": ""})]),
        ("", []),
    ],
)
def test_pieces(source: str, wanted: list[Piece]) -> None:
    assert list(pieces(source)) == wanted
