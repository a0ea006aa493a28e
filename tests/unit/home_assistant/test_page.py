"""Tests of reading a page's fences with their titles."""

from pathlib import Path

from tests.home_assistant.page import blocks

PAGE = """# A page

```yaml
key: before any title
```

### Say a word

With MQTT:

```yaml
triggers: []
actions:
  - action: one
```

With MQTT it was so. Where there is no broker,
that is Without MQTT, it is
otherwise:

```yaml
triggers: []
mode: single
```

Another sentence.

```yaml
rest_command:
  ask: {headers: {authorization: !secret token}}
```

```toml
[mqtt]
```

### Be silent

```yaml
triggers: "no"
```
"""


def test_blocks_have_their_title_and_way(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    found = list(blocks(page))
    assert [(one.title, one.ways, one.is_automation) for one in found] == [
        ("# A page", ("mqtt", "plain"), False),
        ("Say a word", ("mqtt",), True),
        ("Say a word", ("plain",), True),
        ("Say a word", ("mqtt", "plain"), False),
        ("Be silent", ("mqtt", "plain"), True),
    ]
    assert found[0].content == {"key": "before any title"}
    assert found[1].text == "triggers: []\nactions:\n  - action: one\n"
    assert found[3].content["rest_command"]["ask"]["headers"] == {"authorization": "token"}
