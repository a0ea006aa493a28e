"""HTML as tags and texts, whatever is wrong with it."""

import pytest

from integrations.web.markup import End, Piece, Start, Text, pieces


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
