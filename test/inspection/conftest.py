"""A pendulum as a URDF, with everything that a report shows."""

from pathlib import Path

import pytest

MASS, LENGTH, ARMATURE = 2.0, 0.5, 0.03
PENDULUM = f"""
<robot name="pendulum">
  <link name="stand"><inertial><mass value="5"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial></link>
  <link name="rod"><inertial><origin xyz="{LENGTH} 0 0"/><mass value="{MASS}"/>
    <inertia ixx="1e-3" iyy="1e-3" izz="1e-3"/></inertial></link>
  <link name="tip"><collision><geometry><sphere radius="0.05"/></geometry></collision></link>
  <joint name="swing" type="revolute"><parent link="stand"/><child link="rod"/>
    <axis xyz="0 1 0"/><limit lower="-2" upper="2" effort="40" velocity="2"/>
    <dynamics damping="0.4" armature="{ARMATURE}"/><safety_controller k_velocity="1"/></joint>
  <joint name="twist" type="continuous"><parent link="rod"/><child link="tip"/>
    <origin xyz="{LENGTH} 0 0"/><axis xyz="1 0 0"/></joint>
  <gazebo reference="rod"/><gazebo/><unheard_of/>
</robot>
"""


@pytest.fixture
def pendulum(tmp_path: Path) -> Path:
    path = tmp_path / "pendulum.urdf"
    path.write_text(PENDULUM)
    return path
