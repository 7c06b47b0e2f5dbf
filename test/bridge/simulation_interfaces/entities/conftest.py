"""A shared simulator for spawning; each test starts with the loaded world."""

from collections.abc import Iterator

import pytest
from simulation_interfaces.msg import Result
from simulator_client import PLAYING, SimulatorClient
from simulators import SimulatorLauncher

OK = Result.RESULT_OK
WORLD = """
<mujoco model="yard">
  <option timestep="0.001" integrator="implicitfast"/>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1"/>
    <body name="pointer" mocap="true" pos="0 -2 1"><site name="tip" pos="0 0 0.1"/></body>
    <body name="gate" pos="4 0 0">
      <joint axis="0 0 1"/><geom type="box" size=".5 .05 .5" pos=".5 0 .6"/>
    </body>
    <site name="parking" pos="-3 0 0" type="box" size="1 .5 .1"/>
  </worldbody>
</mujoco>
"""
SCENE = """
# A yard with an arm.
world: {world}
robots:
  - name: arm
    model: package://mujoco_ros/urdf_mjcf/arm/arm.xml
    keyframe: home
    gains: package://mujoco_ros/urdf_mjcf/arm/gains.yaml
objects:
  - name: box
    model: package://mujoco_ros/urdf_mjcf/objects/box.xml
    pose: {{xyz: [2.0, 0.0, 0.0]}}
  - name: table
    model: package://mujoco_ros/urdf_mjcf/objects/table.xml
    pose: {{xyz: [0.0, 2.0, 0.0]}}
"""


@pytest.fixture(scope="module")
def shared_yard(
    start_shared: SimulatorLauncher, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SimulatorClient]:
    """A simulator of SCENE; use `yard`."""
    folder = tmp_path_factory.mktemp("yard")
    (folder / "yard.xml").write_text(WORLD)
    (folder / "yard.yaml").write_text(SCENE.format(world=folder / "yard.xml"))
    remote = SimulatorClient(start_shared, scene=folder / "yard.yaml")
    yield remote
    remote.close()


@pytest.fixture
def yard(shared_yard: SimulatorClient) -> SimulatorClient:
    """An arm, a box and a table in a yard with a gate, as they are at the start, playing."""
    shared_yard.ensure_state(PLAYING)
    assert shared_yard.call("ResetSimulation").result.result == OK
    return shared_yard
