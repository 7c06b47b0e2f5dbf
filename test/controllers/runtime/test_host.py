"""A controller hosted in a simulation: timing, observations, errors and gains."""

import re
import threading
from concurrent.futures import Future

import numpy as np
import pytest
from sample_states import controller, in_turn

from mujoco_ros.control.events import CommandPreempted, CommandSource, SimulationReset
from mujoco_ros.control.joint_command import joint_command
from mujoco_ros.controllers.runtime.host import ControllerHost
from mujoco_ros.controllers.runtime.robot_bindings import PrivilegedAccess
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.pose import Pose
from mujoco_ros.sim.settings.element_properties import Property
from mujoco_ros.sim.state.set_state import StateRequest, set_state, settable_joints

RAMP = in_turn("{class: Ramp}")
EXACT = 1e-12


def run(host: ControllerHost, steps: int) -> None:
    for _ in range(steps):
        assert host.step()


def test_a_tick_observes_the_sample_and_acts_linearly_until_the_next_one(host):
    seen = []
    hosted, simulation = host(RAMP, seen=seen)
    references, positions = [], []
    for _ in range(100):
        before = simulation.data.qpos.copy()
        hosted.step()
        positions.append(before)
        references.append(simulation.references.q[0])
    assert hosted.ticks == len(seen) == 20, "at 200 Hz over 1 kHz"
    assert [observation.time for observation in seen] == pytest.approx(np.arange(20) * 0.005)
    for tick, observation in enumerate(seen):
        assert np.array_equal(observation.q, positions[5 * tick][:3]), "at the start of a step"
    begin = seen[0].q[0]
    # The reference of the tick at T is reached at T + 5 ms, and a fifth of it at T + 1 ms.
    expected = begin + np.maximum(0.0, np.arange(100) * 0.001 - 0.005)
    assert np.abs(np.array(references) - expected).max() < EXACT


def test_two_runs_are_bit_identical_for_any_computing_time(host):
    states = []
    for delays in ((0.0, 0.0), (0.05, 0.01)):
        answers = iter(delays)

        def answer(answers=answers) -> "Future[float]":
            future: Future[float] = Future()
            threading.Timer(next(answers), future.set_result, (0.25,)).start()
            return future

        hosted, simulation = host(in_turn("{class: Ask}", "{class: Ask}"), answer=answer)
        run(hosted, 200)
        assert [event.time for event in hosted.supervised.log.since(0)] == pytest.approx(
            [0.03, 0.06]
        )
        states.append((simulation.data.qpos.tobytes(), simulation.references.values.tobytes()))
    assert states[0] == states[1]


def test_stepping_to_each_tick_equals_single_steps(host):
    states = []
    for method, times in ((ControllerHost.step, 96), (ControllerHost.tick, 20)):
        hosted, simulation = host(RAMP)
        for _ in range(times):
            assert method(hosted)
        assert hosted.ticks == 20
        states.append((simulation.data.qpos.tobytes(), simulation.references.values.tobytes()))
    assert states[0] == states[1]


def test_the_clock_waits_only_for_futures_of_the_next_tick(host):
    future: Future[float] = Future()
    hosted, simulation = host(in_turn("{class: Ask}"), answer=lambda: future)
    while hosted.wait() == 0.0:
        assert simulation.step()
        hosted.after_step()
        assert simulation.time < 1.0
    # Requested at 0 and used from the tick at 20 ms on, which is the next step.
    assert simulation.time == pytest.approx(0.024)
    assert hosted.is_waiting
    future.set_result(0.1)
    assert hosted.wait() == 0.0
    simulation.commands.wait(0.0)  # was woken
    run(hosted, 10)
    assert hosted.supervised.state == "END"


def test_a_run_after_a_reset_is_the_same(host):
    seen = []
    hosted, simulation = host(in_turn("{class: Wait, duration: 0.02}", "{class: Ramp}"), seen=seen)
    ends = []
    for _ in range(2):
        run(hosted, 137)
        ends.append((simulation.data.qpos.tobytes(), hosted.supervised.state))
        simulation.reset()
        assert hosted.supervised.state == "S0"
        (*_, last) = hosted.supervised.log.since(0)
        assert (last.transition.label, last.transition.goal) == ("reset", "S0")
    assert ends[0] == ends[1]


def test_a_controller_has_the_numbers_of_the_model_at_its_activation_and_says_so(host, caplog):
    caplog.set_level("INFO")
    scenes = []
    hosted, simulation = host(RAMP)
    hosted.on_scene.append(lambda robot: scenes.append(float(robot.model.body("ball").mass[0])))
    colour = Property("geom", "ball", "rgba")
    simulation.properties.set({colour: (1.0, 0.0, 0.0, 1.0)})
    assert not caplog.messages
    for mass in (2.0, 3.0):
        simulation.properties.set({Property("body", "ball", "mass"): (mass,)})
    (message,) = caplog.messages
    assert "continues with the numbers that the model had when it started" in message
    simulation.reset()
    assert not scenes
    hosted.deactivate()
    hosted.prepare_activation()
    hosted.activate()
    assert scenes == [3.0]
    run(hosted, 10)


def test_the_controller_of_a_robot_whose_state_was_set_starts_again(host):
    hosted, simulation = host(in_turn("{class: Wait, duration: 0.02}", "{class: Ramp}"))
    run(hosted, 137)
    assert hosted.supervised.state == "S1"
    joints = settable_joints(simulation.model, simulation.layout)
    request = StateRequest(positions={next(iter(joints.values())).joint: 0.1})
    set_state(simulation, {it.joint: it for it in joints.values()}, request)
    assert hosted.supervised.state == "S0"
    run(hosted, 137)
    assert hosted.supervised.state == "S1"


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ("raise", "no luck"),
        ("inf", "the velocity of joint 'b' is inf"),
        ("shape", r"shape \(3, 2\), not \(3, 3\)"),
    ],
)
def test_a_controller_with_an_error_is_stopped_until_a_reset(host, how, reason):
    hosted, simulation = host(
        in_turn("{class: Wait, duration: 0.05}", f"{{class: Break, how: {how}}}")
    )
    run(hosted, 300)
    assert hosted.supervised.state == "error"
    assert re.search(reason, hosted.supervised.error)
    assert CommandSource.CONTROLLER not in simulation.controls[0].owners()
    stood = simulation.references.values.copy()
    run(hosted, 100)
    assert np.array_equal(simulation.references.values, stood)
    assert not stood[1].any()
    assert hosted.supervised.available == ()
    simulation.reset()
    assert hosted.supervised.error == ""
    run(hosted, 30)
    assert hosted.supervised.state == "S0"


def test_an_error_restores_the_gains_from_before_the_controller(host):
    hosted, simulation = host(
        in_turn("{class: Ramp, duration: 0.095}", "{class: Soft}", "{class: Break}")
    )
    run(hosted, 105)
    assert simulation.drives.kp.tolist() == [25.0, 15.0, 0.0]
    assert np.abs(simulation.sample.xpos[-1] - (0, 3, 1)).max() < 1e-3
    run(hosted, 1)
    assert hosted.supervised.state == "error"
    assert simulation.drives.kp.tolist() == [50.0, 30.0, 0.0]
    # With other gains, the references are far from the positions.
    assert np.array_equal(simulation.references.q[:2], simulation.data.qpos[:2])


def test_the_host_restores_gains_that_a_reset_keeps_and_notifies(host):
    hosted, simulation = host(in_turn("{class: Soft}"))
    notified = []
    hosted.on_gains.append(lambda: notified.append(simulation.drives.kp.tolist()))
    run(hosted, 10)
    assert notified == [[25.0, 15.0, 0.0]]
    now = simulation.time
    simulation.emit(SimulationReset(time=now, before=now, gain_changes=0, state=False))
    assert notified[1:] == [[50.0, 30.0, 0.0]], "only the time was reset"
    run(hosted, 10)
    # A keyframe has its own gains.
    simulation.drives.set_gains(np.array([70.0, 70.0, 0.0]), np.zeros(3))
    simulation.emit(SimulationReset(time=now, before=now, gain_changes=0))
    assert notified[3:] == [[70.0, 70.0, 0.0]]


def test_the_newest_command_owns_the_joints(host):
    hosted, simulation = host(in_turn("{class: Release}"))
    control = simulation.controls[0]
    run(hosted, 10)
    assert control.owners() == {
        CommandSource.UNCLAIMED: ("a", "loose"),
        CommandSource.CONTROLLER: ("b",),
    }
    command = joint_command(control.joints, "clamp", ["a", "b"], [[0.3, 0.3], [], []])
    control.command(CommandSource.JOINT_COMMANDS, command, simulation.data.time)
    run(hosted, 1)
    assert simulation.references.q[1] == 0.3
    run(hosted, 10)
    assert simulation.references.q[:2] == pytest.approx([0.3, 0.1])
    taken = [event for event in simulation.events if isinstance(event, CommandPreempted)]
    assert [(event.source, event.joints) for event in taken] == [
        (CommandSource.CONTROLLER, ("b",)),
        (CommandSource.JOINT_COMMANDS, ("b",)),
    ]


def test_a_hosted_controller_has_no_command_timeout(host):
    hosted, simulation = host(in_turn("{class: Release}"))
    control = simulation.controls[0]
    control.stream = type(control.stream)(timeout=0.002, on_timeout="damp")
    run(hosted, 50)
    assert control.owners()[CommandSource.CONTROLLER] == ("b",)


def test_positions_stay_within_the_limits(host):
    hosted, simulation = host(in_turn("{class: Ramp, speed: 9.0}"))
    run(hosted, 250)
    assert simulation.references.q[0] == pytest.approx(np.pi / 2)


def test_a_period_is_a_multiple_of_the_timestep(host, pendulums):
    with pytest.raises(UserInputError, match=r"3\.33333 ms .* 1 ms"):
        host(RAMP.replace("200", "300"))
    hosted, simulation = host(RAMP)
    run(hosted, 10)
    simulation.set_timestep(0.002)
    assert hosted.supervised.error == (
        "the controller's period of 5 ms is not a multiple of the simulation's timestep of 2 ms; "
        "change its rate, or the timestep"
    )
    simulation.set_timestep(0.0005)
    simulation.reset()
    run(hosted, 100)
    assert hosted.ticks == 2 + 10


def test_the_robot_is_the_only_one_or_named(pendulums):
    with pytest.raises(
        UserInputError, match="robot 'arm' not found; robots with joints: pendulums"
    ):
        ControllerHost(pendulums(), controller(RAMP), "arm")


def test_the_solver_starts_cold_for_a_body_whose_pose_is_set(pendulums):
    simulation = pendulums()
    simulation.data.qacc_warmstart[:] = 1.0
    PrivilegedAccess(simulation.plant, 0).set_pose("ball", Pose())
    ball = simulation.model.body("ball").dofadr[0]
    expected = np.ones(simulation.model.nv)
    expected[ball : ball + 6] = 0.0
    assert simulation.data.qacc_warmstart.tolist() == expected.tolist()
