"""The example that asks a controller for transitions."""

import re
from pathlib import Path

import pytest
from example_runs import Commanded
from simulators import Starter

SCRIPT = "10_drive_controller.py"
LAMP = """
rate: 100
initial: DARK
states:
  DARK: {class: Hold}
  BRIGHT: {class: Wait, duration: 0.5}
transitions:
  DARK: {switch: {to: BRIGHT, trigger: request}}
  BRIGHT: {done: {to: DARK, trigger: strict}}
"""


@pytest.fixture(scope="module")
def lamp(starter: Starter, folder: Path) -> Commanded:
    """A robot whose controller does nothing but go from state to state when it is asked to."""
    table = folder / "lamp.yaml"
    table.write_text(LAMP)
    simulator = starter.simulator(scene="arm", controller=str(table))
    return Commanded(folder, simulator, starter.listener(simulator))


def test_it_asks_for_each_transition_as_soon_as_it_is_available(lamp: Commanded) -> None:
    done = lamp.run(SCRIPT, "switch", "done")
    assert done.code == 0, done.complains
    stands, *made = done.says.splitlines()
    assert stands == "lamp is in DARK; to be asked for: switch"
    assert [line.split(" s  ")[1] for line in made] == [
        "DARK -> BRIGHT: switch",
        "BRIGHT -> DARK: done",
    ]
    first, second = (float(re.match(r"\s*(\S+) s", line).group(1)) for line in made)
    assert second - first >= 0.5


def test_what_cannot_be_asked_for_is_told_with_what_can(lamp: Commanded) -> None:
    wrong = lamp.start(SCRIPT, "glow", "--patience", "0.2")
    other = lamp.start(SCRIPT, "--controller", "lump")
    refused, unknown = wrong.outcome(), other.outcome()
    assert refused.code == 1
    assert refused.complains == "'glow' cannot be asked for in DARK; there are: switch"
    assert (unknown.code, unknown.complains) == (1, "--controller is one of: lamp")
