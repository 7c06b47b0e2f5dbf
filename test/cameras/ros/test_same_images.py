"""A topic and a hosted controller get the same bytes of a camera with noise."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from camera_client import pixels
from sensor_msgs.msg import Image, JointState
from simulation_interfaces.msg import Result
from simulator_client import SimulatorClient
from simulators import WAIT_LIMIT_S, SimulatorLauncher, stamps_of
from std_msgs.msg import Empty

from mujoco_ros.cameras.camera_images import COLOUR, DEPTH, camera_images
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.model.sensors.cameras import compute_poses
from mujoco_ros.rendering.gl import RenderingError, open_context
from mujoco_ros.rendering.renderer import Renderer
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.wire.names import CAMERA_TRIGGER as TRIGGER

try:
    open_context().close()
except RenderingError as error:
    pytest.skip(f"no EGL or OSMesa here: {error}", allow_module_level=True)

SEED = 7
MODEL = """
<mujoco model="pendulum">
  <size nuser_jnt="1"/>
  <worldbody>
    <camera name="above" pos="5 0 2" resolution="40 30" fovy="60"/>
    <body><joint name="a" axis="0 1 0" user="2"/><geom size=".1" pos="0 0 -.3"/></body>
    <geom type="plane" size="9 9 1" pos="0 0 -2" rgba=".5 .5 .5 1"/>
    <body pos="5 0 0"><freejoint/><geom name="ball" size=".3" rgba=".8 .3 .2 1"/></body>
  </worldbody>
  <actuator><motor name="a" joint="a"/></actuator>
</mujoco>
"""
SCENE = """
robots:
  - name: pendulum
    model: pendulum.xml
    gains: gains.yaml
    cameras:
      - {name: above, rate: 100, noise: {colour: 4.0, depth: 0.01}}
"""
STATES = """
import os
from pathlib import Path
import numpy as np
from mujoco_ros.controllers.fsm.state import State
from mujoco_ros.controllers.interface.host import IMAGE_GET

class SaveImage(State):
    outcomes = ("done",)

    def start(self, context):
        context.references.values[:] = np.nan
        self.image = context.store.get(IMAGE_GET)("above")

    def run(self, context):
        if not self.image.done():
            return None
        image, file = self.image.result(), Path(__file__).with_name("image.npz")
        with file.with_suffix(".part").open("wb") as output:
            np.savez(output, time=image.time, colour=image.colour, depth=image.depth)
        os.replace(output.name, file)
        return "done"
"""
TABLE = """
rate: 100
initial: WAIT
states:
  WAIT: {class: Wait, duration: 0.1}
  IMAGE: {class: SaveImage}
  END: {class: Hold, outcome: over}
transitions:
  WAIT: {done: IMAGE}
  IMAGE: {done: END}
"""


class Pendulum:
    """A simulator in lockstep, which hosts a controller that saves an image."""

    def __init__(
        self, start: SimulatorLauncher, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self._file = folder / "image.npz"
        files = {
            "pendulum.xml": MODEL,
            "gains.yaml": "a: {kp: 50, kd: 2}\n",
            "scene.yaml": SCENE,
            "table.yaml": TABLE,
            "saving_states.py": STATES,
            "saving-1.dist-info/METADATA": "Metadata-Version: 2.1\nName: saving\nVersion: 1\n",
            "saving-1.dist-info/entry_points.txt": (
                "[mujoco_ros.states]\nSaveImage = saving_states:SaveImage\n"
            ),
        }
        for name, text in files.items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(text)
        monkeypatch.setenv("PYTHONPATH", str(folder))
        self.scene = folder / "scene.yaml"
        self.remote = SimulatorClient(
            start,
            scene=self.scene,
            controller=folder / "table.yaml",
            cameras="true",
            seed=SEED,
            fresh_interpreter=True,
            mode="lockstep",
            lockstep_sources="joint_commands@100",
            real_time_factor=0.0,
        )
        self._listener = self.remote.listener
        self._commands = self._listener.node.create_publisher(JointState, "joint_commands", 10)
        self._images = {
            topic: self._listener.record(Image, f"/camera/above/{topic}")
            for topic in ("image_raw", "depth/image_rect_raw")
        }
        self._trigger = self._listener.node.create_publisher(Empty, f"/camera/above/{TRIGGER}", 1)
        assert self.until(self._commands.get_subscription_count)

    def until(self, condition: Callable[[], Any]) -> bool:
        return self._listener.spin_until(lambda: bool(condition()))

    def images(self) -> tuple[list[np.ndarray], Any]:
        """Command tick by tick until the controller has its image.

        Returns:
            Colour and depth on the topics, and in the controller's file, of the same stamp.
        """
        while not self._file.exists():
            self._answer_tick()
        hosted = np.load(self._file)
        self._file.unlink()
        nanoseconds = round(float(hosted["time"]) * 1e9)
        stamp = divmod(nanoseconds, 1_000_000_000)
        published = [pixels(found[stamp]) for found in self._stamped()]
        return published, hosted

    def reset(self) -> None:
        for recording in self._images.values():
            recording.raw.clear()
        self.remote.joint_states.raw.clear()
        assert self.remote.call("ResetSimulation").result.result == Result.RESULT_OK

    def _answer_tick(self) -> None:
        """Command the next tick, when its images have arrived."""
        states = self.remote.joint_states
        assert self.until(lambda: states.raw)
        (stamp,) = stamps_of([states.latest])
        self._wait_for_images(stamp)
        command = JointState(name=["a"], position=[0.1])
        command.header.stamp = states.latest.header.stamp
        states.raw.clear()
        self._commands.publish(command)

    def _wait_for_images(self, stamp: tuple[int, int]) -> None:
        """Trigger the camera until its images of a tick arrive; messages may be lost."""
        triggered = 0
        while not self._listener.spin_until(
            lambda: all(stamp in found for found in self._stamped()), timeout_s=1.0
        ):
            assert triggered < WAIT_LIMIT_S, f"no image of {stamp}"
            self._trigger.publish(Empty())
            triggered += 1

    def _stamped(self) -> list[dict[Any, Image]]:
        found = []
        for recording in self._images.values():
            messages = recording.messages
            found.append(dict(zip(stamps_of(messages), messages, strict=True)))
        return found


def rendered(scene: Path, time: float) -> list[np.ndarray]:
    """Return colour and depth, rendered in this process."""
    simulation = Simulation(load_scene(str(scene)))
    while simulation.time < time - 1e-9:
        assert simulation.step()
    model, (camera,) = simulation.model, simulation.layout.every_camera
    data = mujoco.MjData(model)
    data.qpos[:] = simulation.sample.qpos
    compute_poses(model, data)
    with closing(Renderer(model)) as renderer:
        images = camera_images(renderer, data, camera, (COLOUR, DEPTH), seed=SEED, time=time)
        return [images[COLOUR].copy(), images[DEPTH].copy()]


def test_a_topic_and_a_hosted_controller_get_the_same_bytes_also_after_a_reset(
    start: SimulatorLauncher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pendulum = Pendulum(start, tmp_path, monkeypatch)
    for _ in range(2):
        published, hosted = pendulum.images()
        expected = rendered(pendulum.scene, float(hosted["time"]))
        assert len(np.unique(published[0])) > 20, "noise"
        for topic, image, again in zip(
            published, (hosted["colour"], hosted["depth"]), expected, strict=True
        ):
            assert topic.tobytes() == image.tobytes()
            assert topic.tobytes() == again.tobytes()
        pendulum.reset()
