"""The package uses the terms of the glossary, and its public classes have different names."""

import gc
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

import pytest
from glossary import WORDS, violations
from python_source import passages, public_classes, words

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = (
    ".ci",
    "benchmark",
    "bootstrap",
    "docs",
    "examples",
    "launch",
    "mujoco_ros",
    "test",
    "training",
    "urdf_mjcf",
)
SOURCES = {
    str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
    for folder in FOLDERS
    for path in sorted(ROOT.glob(f"{folder}/**/*.py"))
    if path.parent != ROOT / "test" / "language"  # it quotes the words
}
CONFIGURATIONS = [
    path for folder in ("config", "urdf_mjcf") for path in sorted(ROOT.glob(f"{folder}/**/*.y*ml"))
]


class Permission(NamedTuple):
    """Files that may use a word of the glossary in another sense."""

    files: str
    word: str
    reason: str


PERMISSIONS = (
    Permission("mujoco_ros/control/trajectory/*", "follower", "it follows a joint trajectory"),
    Permission("mujoco_ros/control/trajectory/*", "followers", "they follow a joint trajectory"),
    Permission("test/control/trajectory/*", "follower", "the name of the tested module"),
)


class Finding(NamedTuple):
    """A banned word of a file."""

    path: str
    word: str
    message: str

    @property
    def permitted(self) -> bool:
        """Whether the file may use the word."""
        return any(self.is_permitted_by(permission) for permission in PERMISSIONS)

    def is_permitted_by(self, permission: Permission) -> bool:
        """Return whether the file may use the word for the reason of a permission."""
        return self.word == permission.word and fnmatch(self.path, permission.files)


def findings(path: str, source: str) -> Iterator[Finding]:
    """Yield the banned words of a Python file, in its path, its names and its prose."""
    for part in Path(path).with_suffix("").parts:
        for found in violations(words(part)):
            yield Finding(path, found.phrase.lower(), f"{path}: {found}")
    for begin, text in passages(source):
        for found in violations(text):
            line = begin + found.line - 1
            yield Finding(path, found.phrase.lower(), f"{path}:{line}: {found}")


def duplicates(sources: Mapping[str, str]) -> list[str]:
    """Return a message for each name that several public classes of Python files share."""
    places: dict[str, list[str]] = defaultdict(list)
    for path, source in sources.items():
        for line, name in public_classes(source):
            places[name].append(f"{path}:{line}")
    return [f"{name}: {', '.join(at)}" for name, at in places.items() if len(at) > 1]


@pytest.fixture(autouse=True, scope="module")
def no_garbage_collector() -> Iterator[None]:
    """Let no collector walk the many nodes of each syntax tree, of which none is garbage."""
    gc.disable()
    yield
    gc.enable()


def has_all_words_of_a_phrase(text: str) -> bool:
    """Return whether a text may violate the glossary; parsing all files takes far longer."""
    found = {*re.findall("[a-z]+", text.lower()), *re.findall("[a-z]+", words(text).lower())}
    return any(found.issuperset(phrase.split()) for phrase in WORDS)


@pytest.fixture(scope="module")
def all_findings() -> list[Finding]:
    return [
        finding
        for path, source in SOURCES.items()
        if has_all_words_of_a_phrase(f"{path} {source}")
        for finding in findings(path, source)
    ]


def messages(found: Iterable[Finding]) -> list[str]:
    return [finding.message for finding in found if not finding.permitted]


def test_no_python_file_has_a_banned_word(all_findings: list[Finding]) -> None:
    assert len(SOURCES) > 1000
    found = messages(all_findings)
    assert not found, "\n".join(found)


def test_no_configuration_file_has_a_banned_word() -> None:
    assert len(CONFIGURATIONS) > 10
    found = [
        f"{path.relative_to(ROOT)}:{it.line}: {it}"
        for path in CONFIGURATIONS
        for it in violations(path.read_text(encoding="utf-8"))
    ]
    assert not found, "\n".join(found)


def test_each_permission_is_needed(all_findings: list[Finding]) -> None:
    unneeded = [
        permission
        for permission in PERMISSIONS
        if not any(finding.is_permitted_by(permission) for finding in all_findings)
    ]
    assert not unneeded


def test_the_public_classes_of_the_package_have_different_names() -> None:
    package = {path: text for path, text in SOURCES.items() if path.startswith("mujoco_ros/")}
    assert len(package) > 100
    assert not duplicates(package)


SAMPLE = '''
"""A module that is a servant."""

import module as outbox

EYES = 1


class LoserRuns:
    """Fine."""

    doors: int = 0

    def __init__(self, companion):
        self._namesakes = companion


def go(how_manieth, *, seat):
    # A comment on who
    # has a joint.
    log("no followers " "of the robot")
    raise ValueError(f"joint {how_manieth} is acting on the" " world")
'''


def test_banned_words_are_found_in_names_docstrings_comments_and_messages() -> None:
    assert all(map(has_all_words_of_a_phrase, [SAMPLE, *WORDS]))
    found = list(findings("package/companions/the_surroundings.py", SAMPLE))
    lines = sorted(tuple(it.message.split(": ")[:2]) for it in found)
    path = "package/companions/the_surroundings.py"
    assert [(place.removeprefix(f"{path}:"), text) for place, text in lines] == [
        (path, "'companions' is banned; write"),
        (path, "'surroundings' is banned; write"),
        ("12", "'doors' is banned; write"),
        ("14", "'companion' is banned; write"),
        ("15", "'namesakes' is banned; write"),
        ("18", "'how manieth' is banned; write"),
        ("18", "'seat' is banned; write"),
        ("19", "'who has a joint' is banned; write"),
        ("2", "'servant' is banned; write"),
        ("21", "'followers' is banned; write"),
        ("22", "'acting on the world' is banned; write"),
        ("4", "'outbox' is banned; write"),
        ("6", "'EYES' is banned; write"),
        ("9", "'Loser' is banned; write"),
    ]


def test_names_of_other_libraries_and_longer_words_are_no_banned_words() -> None:
    for source in (
        "import module\nmodule.tell(module.companion)",
        "camera.eyesight = bearing",
        "class Unseated: ...",
        "pose = 'cam_eyes_at'",
        "# Run ``make doors``; `seat` is a name of another library.",
    ):
        assert not list(findings("package/module.py", source)), source


def test_a_permission_holds_for_its_word_in_its_files_only() -> None:
    source = "follower = 1\nseat = 2"
    (other,) = messages(findings("mujoco_ros/control/trajectory/module.py", source))
    assert "seat" in other
    assert len(messages(findings("mujoco_ros/control/module.py", source))) == 2


def test_public_classes_with_the_same_name_are_found() -> None:
    sources = {
        "a.py": "class Same: ...\nclass _Private: ...\nclass A:\n    class Config: ...",
        "b.py": "class _Private: ...\nclass Same: ...\nclass B:\n    class Config: ...",
    }
    assert duplicates(sources) == ["Same: a.py:1, b.py:2"]
