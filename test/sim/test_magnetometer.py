"""Measurements of a magnetometer compared with geometry."""

import numpy as np

FIELD_T = np.array([2.1e-5, 0.4e-5, -4.3e-5])
"""Of the world, in the order of that of the Earth."""


def test_a_magnetometer_measures_the_field_of_the_world_in_the_axes_of_its_site(simulate):
    simulation = simulate(
        f"""
        <mujoco>
          <option gravity="0 0 0" magnetic="{" ".join(map(str, FIELD_T))}"/>
          <worldbody>
            <body name="table" pos="1 2 3">
              <joint name="turn" axis="0 0 1"/>
              <geom size="0.1" mass="2"/>
              <site name="compass" pos="0.1 0 0" euler="90 0 0"/>
            </body>
          </worldbody>
          <sensor><magnetometer name="north" site="compass"/></sensor>
        </mujoco>"""
    )
    (sensor,) = simulation.layout.robots[0].sensors["magnetometer"]
    assert (sensor.name, sensor.frame.name) == ("north", "compass")
    simulation.data.qvel[0] = 3.0
    first = sensor.addresses["magnetic_field"]
    for _ in range(200):
        assert simulation.step()
        turn = simulation.sample.qpos[0]
        # The site's z axis is the table's -y axis, and its y axis the table's z axis.
        x = np.array([np.cos(turn), np.sin(turn), 0.0])
        y = np.array([0.0, 0.0, 1.0])
        expected = [x @ FIELD_T, y @ FIELD_T, np.cross(x, y) @ FIELD_T]
        np.testing.assert_allclose(
            simulation.sample.sensordata[first : first + 3], expected, atol=1e-15
        )
    assert simulation.sample.qpos[0] > 0.1
