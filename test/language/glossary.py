"""The words that this project does not use, and the terms that it uses instead."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import NamedTuple

WORDS = {
    "acting on the world": "perturbation, perturb the world",
    "anew": "again, re-created, restarted",
    "anybody": "any client, any user: name the actor",
    "asked for": "requested",
    "at leisure": "without a deadline",
    "bear": "tolerate, handle",
    "bears": "tolerates, handles",
    "comes into being": "is created, is declared",
    "companion": "child process",
    "companions": "child processes",
    "doors": "interface, privileged access",
    "everybody": "all clients, all users: name the actor",
    "eyes": "camera, image, render request",
    "follower": "component",
    "followers": "components",
    "forgive": "tolerate",
    "forgives": "tolerates",
    "given up": "cancelled, dropped, failed",
    "gives up": "cancels, drops, fails",
    "go on": "continue",
    "goes by": "depends on",
    "goes on": "continues",
    "hear": "subscribe, receive",
    "heard": "subscribed, received",
    "hears": "subscribes to, receives",
    "how manieth": "number",
    "in the end": "finally, after the timeout",
    "knows": "has, contains, stores",
    "let go": "released",
    "look at": "view, check, measure",
    "looked at": "viewed, checked, measured",
    "looks": "camera, appearance, checks",
    "loser": "preempted source",
    "motion planning": "planning",
    "namesake": "duplicate node",
    "namesakes": "duplicate nodes",
    "nobody": "no subscriber, no client: name the actor",
    "nowhere": "not in any place: name the place",
    "of one's own": "own, separate",
    "on its way": "in flight, pending",
    "on the way": "along the path, during the motion",
    "outbox": "publisher",
    "picture": "image, figure",
    "pictures": "images, figures",
    "posture": "configuration",
    "postures": "configurations",
    "programme": "program",
    "remembers": "stores",
    "said": "commanded, reported, published",
    "say": "report, contain, specify",
    "says": "reports, contains, specifies",
    "seat": "robot binding",
    "sees": "measures, observes, reads",
    "seldom": "rarely",
    "servant": "worker process",
    "so many": "a number of",
    "somebody": "a client, an operator: name the actor",
    "stand still": "stop, hold",
    "standing still": "at rest, holding",
    "stands still": "stops, holds",
    "surroundings": "planning scene, environment",
    "tell": "report, contain, command",
    "telling": "reporting, commanding",
    "tells": "reports, contains, commands",
    "to be had": "available",
    "to one another": "to each other",
    "told": "commanded, reported, logged, warned",
    "wedged": "blocked",
    "went on": "continued",
    "who has a joint": "owner of a joint, command arbitration",
    "whoever": "the caller, a client: name the actor",
    "whom": "name the actor",
    "wish": "request",
    "wishes": "requests",
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
