"""Statistics of a simulation."""

import numpy as np
import pytest

from mujoco_ros.control.events import CommandSource
from mujoco_ros.control.joint_command import joint_command
from mujoco_ros.model.scene.engine_plugins import ENGINE
from mujoco_ros.sim.stepping.status import control_status, engine_status

_BOX = """
<mujoco>
  <option iterations="7">{flag}</option>
  <worldbody>
    <geom type="plane" size="0 0 1"/>
    <body name="box" pos="0 0 {height}">
      <freejoint/><geom type="box" size=".1 .1 .1" mass="2"/>
    </body>
    <body pos="1 0 1"><joint name="j" axis="0 1 0"/><geom size=".1" mass="1"/></body>
  </worldbody>
  <actuator><motor joint="j" ctrlrange="-1 1"/></actuator>
</mujoco>"""


def test_it_has_contacts_constraints_and_iterations_of_the_solver(simulate):
    simulation = simulate(_BOX.format(flag="", height=0.0999))
    simulation.step()
    status = engine_status(simulation)
    assert status.contacts == 4
    assert status.constraints == simulation.data.nefc > 0
    assert 0 < status.iterations <= status.iteration_limit == 7
    assert status.numbers.keys() == {"solver improvement", "solver gradient"}
    (niter,) = simulation.data.solver_niter[: simulation.data.nisland]
    last = simulation.data.solver[niter - 1]
    assert status.numbers["solver gradient"] == last.gradient
    assert status.numbers["solver improvement"] == last.improvement
    assert status.warnings == {}
    step, position = (status.timers[name] for name in ("step", "position"))
    assert 0.0 < position[0] < step[0] < 1.0
    assert position[1] == step[1] == 1


def test_it_has_the_energy_if_the_model_computes_it(simulate):
    flag = '<flag energy="enable" contact="disable"/>'
    simulation = simulate(_BOX.format(flag=flag, height=1.0))
    simulation.step()
    start = _energies(simulation)
    assert start == pytest.approx((9.81 * (2 * 1.0 + 1 * 1.0), 0.0))
    for _ in range(200):
        simulation.step()
    potential, kinetic = _energies(simulation)
    assert kinetic > 1.0
    assert potential + kinetic == pytest.approx(sum(start), rel=1e-2)


def _energies(simulation):
    numbers = engine_status(simulation).numbers
    return tuple(numbers[f"{kind} energy [J]"] for kind in ("potential", "kinetic"))


def test_it_has_the_difference_to_inverse_dynamics_if_the_model_computes_it(simulate):
    simulation = simulate(_BOX.format(flag='<flag fwdinv="enable"/>', height=0.0999))
    simulation.step()
    numbers = engine_status(simulation).numbers
    differences = [
        numbers[f"forward-inverse difference of {it}"] for it in ("joints", "constraints")
    ]
    assert differences == simulation.data.solver_fwdinv.tolist()


def test_it_has_the_last_warning_with_its_step_also_of_native_code(simulate):
    simulation = simulate(_BOX.format(flag="", height=1.0))
    for _ in range(4):
        simulation.step()
    assert engine_status(simulation).last_warning == ""
    ENGINE.mju_warning(b"the motor is hot")
    status = engine_status(simulation)
    assert status.last_warning == "the motor is hot (step 4)"
    assert status.messages == 1
    assert list(simulation.engine_messages) == ["the motor is hot"]


def test_it_has_warnings_by_name_and_divergences(simulate):
    simulation = simulate(_BOX.format(flag="", height=1.0), on_divergence="pause")
    simulation.data.qvel[0] = np.nan
    simulation.step()
    status = engine_status(simulation)
    assert status.divergences == 1


def test_it_has_command_sources_and_saturated_joints(simulate):
    simulation = simulate(_BOX.format(flag="", height=1.0), gains={"j": (100.0, 1.0)})
    (control,) = simulation.controls
    command = joint_command(control.joints, "clamp", ["j"], ([3.0], [], []))
    control.command(CommandSource.JOINT_COMMANDS, command, 0.0)
    for _ in range(5):
        simulation.step()
    status = control_status(simulation, 0.01)
    assert status.saturated == {"j": 5}
    assert status.holders == {"robot": {CommandSource.JOINT_COMMANDS: ("j",)}}
    ((source, rate, age),) = status.rates["robot"]
    assert (source, rate) == (CommandSource.JOINT_COMMANDS, 100.0)
    assert age == pytest.approx(5 * simulation.model.opt.timestep)
    simulation.reset()
    assert control_status(simulation, 0.0).rates == {"robot": ()}
