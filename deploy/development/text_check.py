"""Check the text that people read: phrases that must not come back, and how docstrings begin.

    text_check.py [PATH ...]        the whole repository, or these files and folders
    text_check.py --subject FILE    the first line of a commit message

`phrases.toml`, beside this file, lists the phrases with what to write instead. Exit code 0: nothing
was found; 1: something was, a line each.
"""

import ast
import io
import re
import sys
import tokenize
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Phrases are looked for in these; tests quote what is wrong and are left out.
READ = ("assistant", "audio", "integrations", "deploy", "docs", "models")
KINDS = (".py", ".md", ".toml", ".yaml", ".sh", ".html", ".js", ".css", ".service")
LOCALES_LEFT_OUT = re.compile(r"(^|[/-])(es|pt|de|fr|vi)\.(toml|yaml)$")
OPENERS = re.compile(r"(What|Who|Whom|Whose|How|Which|Whether|Where|That|Those|One that)\b")
SUBJECT_LENGTH = 72
# Python 3.12 cuts an f-string into pieces; 3.11 reads it as one string.
TEXTS = {tokenize.COMMENT, tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}
# "adds", "added" and "adding" where "add" is meant; "process: ..." and "release" are fine.
NOT_IMPERATIVE = re.compile(
    r"(add|mend|fix|make|remov|chang|mov|renam|updat|us|keep|tak|say|tell|writ|test|delet|split|join)"
    r"(s|es|ed|ing)$",
    re.IGNORECASE,
)


def phrases() -> list[tuple[re.Pattern[str], str]]:
    """Return each phrase that must not come back, with what to write instead."""
    table = tomllib.loads(Path(__file__).with_name("phrases.toml").read_text("utf-8"))
    return [(re.compile(row["find"], re.IGNORECASE), row["better"]) for row in table["phrase"]]


def prose(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the numbered lines that people read: of a Python file only comments and strings."""
    text = path.read_text("utf-8")
    if path.suffix != ".py":
        yield from enumerate(text.splitlines(), 1)
        return
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in TEXTS:
            yield from enumerate(token.string.splitlines(), token.start[0])


def openers(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the docstrings that begin with a question word, by line."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node)
            if text and OPENERS.match(text):
                yield node.body[0].lineno, text.splitlines()[0]


def files(wanted: list[str]) -> list[Path]:
    """Return the files to read, or those of `wanted` that belong to them."""
    everything = [path for folder in READ for path in sorted((ROOT / folder).rglob("*"))]
    everything += sorted(ROOT.glob("*.md"))
    only = [Path(one).resolve() for one in wanted]
    return [
        path
        for path in everything
        if path.suffix in KINDS
        and path.is_file()
        and not LOCALES_LEFT_OUT.search(path.name)
        and path.name != "phrases.toml"
        and (not only or any(path == one or one in path.parents for one in only))
    ]


def check_texts(wanted: list[str]) -> list[str]:
    """Return a line for each fault in the files."""
    found, refused = [], phrases()
    for path in files(wanted):
        place = path.relative_to(ROOT)
        for number, line in prose(path):
            for pattern, better in refused:
                if match := pattern.search(line):
                    found.append(f'{place}:{number}: "{match[0]}": write {better}')
        if path.suffix == ".py":
            for number, line in openers(path):
                found.append(f'{place}:{number}: begin with a verb or a noun: "{line}"')
    return found


def check_subject(message: str) -> list[str]:
    """Return what is wrong with the subject of a commit message."""
    lines = [line for line in message.splitlines() if not line.startswith("#")]
    subject = lines[0] if lines else ""
    if re.match(r"(Merge|Revert|fixup!|squash!) ", subject):
        return []
    found = []
    first = re.sub(r"^[\w./*{},-]+: ", "", subject).split(" ")[0]
    if not subject.strip():
        found.append("The first line of the message is empty: say in it what the commit does.")
    if len(subject) > SUBJECT_LENGTH:
        found.append(f"The subject has {len(subject)} characters; at most {SUBJECT_LENGTH} fit.")
    if subject.endswith("."):
        found.append("The subject ends with a full stop: leave it out.")
    if NOT_IMPERATIVE.match(first):
        found.append(f'The subject begins with "{first}": use the imperative ("add", "fix").')
    if len(lines) > 1 and lines[1].strip():
        found.append("Leave the second line empty, between the subject and the body.")
    return found


def main(arguments: list[str]) -> int:
    """Print what was found."""
    if arguments[:1] == ["--subject"]:
        found = check_subject(Path(arguments[1]).read_text("utf-8"))
    else:
        found = check_texts(arguments)
    for line in found:
        sys.stderr.write(line + "\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
