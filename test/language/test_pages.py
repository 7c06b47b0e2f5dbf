"""The pages use the terms of the glossary."""

import re
from pathlib import Path

from glossary import WORDS, violations

ROOT = Path(__file__).resolve().parents[2]
NAMES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.rst")
PAGES = [*(ROOT / name for name in NAMES), *sorted(ROOT.glob("docs/**/*.md"))]
CODE = (
    r"^```.*?^```",  # blocks
    r"`[^`\n]+`",
    r"<!--.*?-->",
    r"(?<=\]\()[^)\s]+(?=\))",  # targets of links
    r"<[^>\n]+>",
)


def prose(markdown: str) -> str:
    """Return the sentences of a page on their lines, without code and links' targets."""
    for pattern in CODE:
        markdown = re.sub(
            pattern, lambda code: "\n" * code.group().count("\n"), markdown, flags=re.M | re.S
        )
    return markdown


def test_no_page_has_a_banned_word() -> None:
    found = [
        f"{page.relative_to(ROOT)}:{it.line}: {it}"
        for page in PAGES
        for it in violations(prose(page.read_text(encoding="utf-8")))
    ]
    assert not found, "\n".join(found)


def test_every_banned_word_is_found_in_a_sentence_with_its_wanted_term() -> None:
    for word, wanted in WORDS.items():
        sentence = f"A page with a first line.\nIn the second line: {word.capitalize()}, and more."
        (found,) = violations(prose(sentence))
        assert found.line == 2
        assert str(found) == f"'{word.capitalize()}' is banned; write: {wanted}"


def test_a_banned_word_is_found_across_lines_in_headings_links_and_tables() -> None:
    for text, lines in (
        ("Wrenches are acting on\nthe world.", [1]),
        ("# Doors\n\n```bash\necho seat\n```\n\nA servant reads [seat](seat.md).", [1, 7, 7]),
        ("| A table | of companions |", [1]),
    ):
        assert [found.line for found in violations(prose(text))] == lines, text


def test_code_targets_of_links_and_longer_words_are_no_banned_words() -> None:
    for text in (
        "```python\ncompanion = seat\n```",
        "The row `companions` of `/diagnostics`.",
        "[images](../doors/seat.md)",
        '<img src="doors.png" width="150">',
        "<!-- seat -->",
        "Eyesight, an unseated rider, and make-doors.",
    ):
        assert not list(violations(prose(text))), text
