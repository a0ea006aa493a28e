"""Names of tools in `allow` and `deny` take wildcards."""

import pytest

from integrations.mcp.servers import ServerSpec


@pytest.mark.parametrize(
    ("patterns", "name", "meant"),
    [
        (("write_file",), "write_file", True),
        (("write_file",), "write_files", False),
        (("write_*",), "write_file", True),
        (("write_*",), "overwrite_file", False),
        (("*file",), "write_file", True),
        (("get_?",), "get_a", True),
        (("get_?",), "get_ab", False),
        (("*",), "anything", True),
        (("list", "read*"), "read_text", True),
        (("a[b]",), "a[b]", True),
        (("a[b]",), "ab", False),
        ((), "anything", False),
    ],
)
def test_which_tools_are_meant(patterns: tuple[str, ...], name: str, meant: bool) -> None:
    spec = ServerSpec("x", "stdio", allow=patterns, deny=patterns)
    assert (spec.allows(name), spec.denies(name)) == (meant, meant)


def test_capitals_hide_no_tool_and_free_none() -> None:
    spec = ServerSpec("x", "stdio", allow=("read_*",), deny=("delete_*",))
    assert spec.denies("Delete_All")
    assert not spec.allows("Read_all")
