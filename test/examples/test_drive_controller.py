"""The example that requests transitions of a controller."""

import re
from pathlib import Path

import pytest
from example_runs import CommandedSimulator
from simulators import SimulatorLauncher

SCRIPT = "10_drive_controller.py"
LAMP = """
rate: 100
initial: DARK
states:
  DARK: {class: Hold}
  BRIGHT: {class: Wait, duration: 0.5}
  FLASH: {class: Hold, timeout: 0.2}
transitions:
  DARK: {switch: {to: BRIGHT, trigger: request}, blink: {to: FLASH, trigger: request}}
  FLASH: {timeout: DARK}
  BRIGHT: {done: {to: DARK, trigger: strict}}
"""


@pytest.fixture(scope="module")
def lamp(starter: SimulatorLauncher, folder: Path) -> CommandedSimulator:
    """A robot whose controller only changes its state on request."""
    table = folder / "lamp.yaml"
    table.write_text(LAMP)
    simulator = starter.simulator(scene="arm", controller=str(table))
    return CommandedSimulator(folder, simulator, starter.listener(simulator))


def test_it_requests_each_transition_as_soon_as_it_is_available(lamp: CommandedSimulator) -> None:
    done = lamp.run(SCRIPT, "switch", "done")
    assert done.code == 0, done.errors
    state, *made = done.output.splitlines()
    assert state == "lamp is in DARK; available: switch, blink, deactivate"
    assert [line.split(" s  ")[1] for line in made] == [
        "DARK -> BRIGHT: switch",
        "BRIGHT -> DARK: done",
    ]
    first, second = (float(re.match(r"\s*(\S+) s", line).group(1)) for line in made)
    assert second - first >= 0.5


def test_the_reason_of_a_transition_is_below_it(lamp: CommandedSimulator) -> None:
    done = lamp.run(SCRIPT, "blink", "switch", "done")
    assert done.code == 0, done.errors
    lines = done.output.splitlines()[1:]
    assert [line.partition(" s  ")[2] or line.strip() for line in lines] == [
        "DARK -> FLASH: blink",
        "FLASH -> DARK: timeout",
        "because: timeout of 0.2 s",
        "DARK -> BRIGHT: switch",
        "BRIGHT -> DARK: done",
    ]


def test_a_transition_that_is_not_available_is_reported_with_the_others(
    lamp: CommandedSimulator,
) -> None:
    early = lamp.start(SCRIPT, "done", "--patience", "0.2")
    wrong = lamp.start(SCRIPT, "glow")
    other = lamp.start(SCRIPT, "--controller", "lump")
    refused, missing, unknown = early.outcome(), wrong.outcome(), other.outcome()
    assert refused.code == missing.code == 1
    assert refused.errors == "'done' is not available in DARK; available: switch, blink, deactivate"
    labels = "activate, blink, deactivate, done, switch, timeout"
    assert missing.errors == f"there is no transition 'glow'; there are: {labels}"
    assert (unknown.code, unknown.errors) == (1, "--controller is one of: lamp")
