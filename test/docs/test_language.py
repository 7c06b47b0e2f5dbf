"""The pages use the terms of the glossary."""

import re
from pathlib import Path

import pytest
from glossary import WORDS, violations

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("docs/**/*.md"))]
PENDING = {
    "docs/reference/parameters.md": "quotes descriptions of parameters that are being rewritten",
}
"""Pages with banned words, and the reason; a page without one fails here until it is removed."""
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


def parameters() -> list[object]:
    return [
        pytest.param(page, id=name, marks=pytest.mark.xfail(reason=PENDING[name]))
        if (name := str(page.relative_to(ROOT))) in PENDING
        else pytest.param(page, id=name)
        for page in PAGES
    ]


@pytest.mark.parametrize("page", parameters())
def test_a_page_has_no_banned_word(page: Path) -> None:
    found = list(violations(prose(page.read_text(encoding="utf-8"))))
    assert not found, "\n".join(found)


@pytest.mark.parametrize("word", WORDS)
def test_every_banned_word_is_found_in_a_sentence_with_its_wanted_term(word: str) -> None:
    sentence = f"A page with a first line.\nIn the second line: {word.capitalize()}, and more."
    (message,) = violations(prose(sentence))
    assert message == f"line 2: '{word.capitalize()}' is banned; write: {WORDS[word]}"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("The commands are on\nits way.", [1]),
        ("# Nobody\n\n```bash\necho told\n```\n\nWhoever reads [said](said.md).", [1, 7, 7]),
        ("| A table | of pictures |", [1]),
    ],
)
def test_a_banned_word_is_found_across_lines_in_headings_links_and_tables(
    text: str, lines: list[int]
) -> None:
    found = [int(message.split()[1].strip(":")) for message in violations(prose(text))]
    assert found == lines


@pytest.mark.parametrize(
    "text",
    [
        "```python\ncompanion = told\n```",
        "The row `companions` of `/diagnostics`.",
        "[images](../pictures/told.md)",
        '<img src="pictures.png" width="150">',
        "<!-- told -->",
        "A ball bearing, a retold story, and make-pictures.",
    ],
)
def test_code_targets_of_links_and_longer_words_are_no_banned_words(text: str) -> None:
    assert not list(violations(prose(text)))
