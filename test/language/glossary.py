"""Words that readers would have to learn here, and the usual terms."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import NamedTuple

WORDS = {
    "acting on the world": "perturbation, perturb the world",
    "companion": "child process",
    "companions": "child processes",
    "doors": "interface, privileged access",
    "eyes": "camera, image, render request",
    "follower": "component",
    "followers": "components",
    "how manieth": "number",
    "loser": "preempted source",
    "namesake": "duplicate node",
    "namesakes": "duplicate nodes",
    "outbox": "publisher",
    "seat": "robot binding",
    "servant": "worker process",
    "surroundings": "planning scene, environment",
    "who has a joint": "owner of a joint, command arbitration",
}
"""Banned words and phrases, in lower case, with the wanted terms."""


class Violation(NamedTuple):
    """A banned word or phrase in a text, as written there, and its line counted from 1."""

    line: int
    phrase: str
    wanted: str

    def __str__(self) -> str:
        return f"'{self.phrase}' is banned; write: {self.wanted}"


def violations(text: str, glossary: Mapping[str, str] = WORDS) -> Iterator[Violation]:
    """Yield the banned words and phrases of a text, in any case, across lines."""
    for found in _pattern(tuple(glossary)).finditer(text):
        phrase = " ".join(found.group().split())
        line = text.count("\n", 0, found.start()) + 1
        yield Violation(line, phrase, glossary[phrase.lower()])


@cache
def _pattern(words: tuple[str, ...]) -> re.Pattern[str]:
    longest_first = sorted(words, key=len, reverse=True)
    phrases = (r"\s+".join(map(re.escape, phrase.split())) for phrase in longest_first)
    return re.compile(rf"(?<![\w-])(?:{'|'.join(phrases)})(?![\w-])", re.IGNORECASE)
