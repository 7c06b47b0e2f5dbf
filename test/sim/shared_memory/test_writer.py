"""A writer with readers in other processes."""

import gc
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.assembly import rebuild
from mujoco_ros.sim.shared_memory import memory_block as block
from mujoco_ros.sim.shared_memory.memory_block import MemoryBlock
from mujoco_ros.sim.shared_memory.reader import Update

WATCH = Path(__file__).parents[1] / "data" / "watch_shared_state.py"
WHEELS = f"""
<mujoco>
  <worldbody>
    <geom type="plane" size="0 0 1"/>
    {"".join(f"<body name='b{n}'><joint name='j{n}'/><geom size='.1'/></body>" for n in range(50))}
  </worldbody>
</mujoco>"""


class Watching:
    """A process that reads as fast as possible, and checks that every state is consistent."""

    def __init__(self, name: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, WATCH, name], stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "ready\n"

    def seen(self) -> dict[str, int]:
        """Stop the process, and return its statistics."""
        self.process.terminate()
        output, _ = self.process.communicate(timeout=250)
        return {name: int(count) for name, count in (word.split("=") for word in output.split())}


def test_no_reader_gets_an_incomplete_state_or_two_models(share, simulate):
    shared = share(simulate(WHEELS))
    simulation, writer = shared.simulation, shared.writer
    watching = Watching(writer.name)
    number, began = 0, time.monotonic()
    changes = [began + 0.3 * (n + 1) for n in range(3)]
    while watching.process.poll() is None and time.monotonic() < began + 60.0:
        number += 1
        # A consistent state has the same number everywhere.
        simulation.sample.state[:] = number
        simulation.references.values[:] = number
        simulation.data.qfrc_actuator[:] = number
        writer.write()
        if changes and time.monotonic() > changes[0]:
            del changes[0]
            plant = simulation.build_plant(rebuild(simulation.assembly))
            prepared = writer.prepare(plant)
            simulation.switch_model(plant)
            for array in (plant.sample.state, plant.references.values, plant.data.qfrc_actuator):
                array[:] = number
            writer.switch(prepared)
            writer.finish()
    seen = watching.seen()
    assert seen["torn"] == 0
    assert seen["backwards"] == 0
    assert seen["models"] >= 1
    assert seen["states"] >= 100
    assert number > seen["states"]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_a_reader_that_dies_or_hangs_does_not_affect_the_writer(arm, number):
    watching = Watching(arm.writer.name)
    watching.process.send_signal(number)
    arm.step(100)
    assert arm.reader.update() is Update.STATE
    assert arm.reader.time == arm.simulation.time
    watching.process.kill()
    watching.process.wait()


def test_a_delayed_reader_continues_with_the_latest_state(arm):
    watching = Watching(arm.writer.name)
    watching.process.send_signal(signal.SIGSTOP)
    arm.step(100)
    watching.process.send_signal(signal.SIGCONT)
    assert watching.seen()["step"] == arm.reader.peek()[1]


def test_missing_memory_is_reported(monkeypatch):
    def refuse(*_arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(block.os, "posix_fallocate", refuse)
    with pytest.raises(UserInputError, match=r"no 4\.1 MB of memory to share: No space left"):
        MemoryBlock.create(4_100_000)


def test_the_memory_of_a_replaced_model_is_freed(share, simulate):
    shared = share(simulate(WHEELS))
    shared.reader = None
    gc.collect()  # memory of earlier tests
    before = _shared_memory()
    plant = shared.simulation.build_plant(rebuild(shared.simulation.assembly))
    prepared = shared.writer.prepare(plant)
    assert _shared_memory() > before
    shared.simulation.switch_model(plant)
    shared.writer.switch(prepared)
    del prepared
    shared.writer.finish()
    assert _shared_memory() == before


def _shared_memory() -> int:
    """Return how many pieces of shared memory this process has."""
    return Path("/proc/self/maps").read_text().count("memfd:mujoco_ros")
