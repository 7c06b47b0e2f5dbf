"""Resets, loads and set states in the middle of a trajectory that a controller does not give up."""

from collections.abc import Callable

import numpy as np

from mujoco_ros.control.events import CommandHeld, CommandSource
from mujoco_ros.control.joint_command import joint_command
from mujoco_ros.control.settings import StreamSettings
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.model.scene.entities import entities
from mujoco_ros.sim.observer import Placement
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.state.set_state import StateRequest, set_state, settable_joints
from mujoco_ros.sim.state.snapshots import Keyframes, restore, take_snapshot
from mujoco_ros.sim.stepping.lockstep import Lockstep, LockstepConfig, SourceConfig

ARM = 6
EVERY = 4
"""Steps of 1 ms between two updates of the controller, at 250 Hz."""
TOLERANCE = 1e-3
AFTER = 40
"""Steps after a reset in which no joint may move otherwise than without commands."""


class TrajectoryClient:
    """Commands positions and velocities as the genuine trajectory controller does on its hardware.

    It executes one quintic motion after another between random configurations, in its own time, and
    starts from its last setpoint. It does not notice that the robot was reset.
    """

    def __init__(self, simulation: Simulation, seed: int) -> None:
        self.simulation, self.control = simulation, simulation.controls[0]
        self.names = self.control.joints.names[:ARM]
        self.home = simulation.plant.start.references.q[:ARM].copy()
        self.random = np.random.default_rng(seed)
        self.activate()

    def activate(self) -> None:
        """Hold the measured configuration, as after an activation."""
        self.setpoint = self.simulation.data.qpos[:ARM].copy()
        self.velocity = np.zeros(ARM)
        self.start = self.goal = self.setpoint.copy()
        self.elapsed, self.duration = 0.0, 0.0

    def move(self) -> None:
        """Start to move to a random configuration, at least 0.4 rad from the home."""
        away = self.random.uniform(0.4, 0.9, ARM) * self.random.choice([-1.0, 1.0], ARM)
        self.start, self.goal = self.setpoint.copy(), self.home + away
        self.elapsed, self.duration = 0.0, 1.0

    def update(self) -> None:
        """Advance by one period, and send a command."""
        self.elapsed += EVERY * 1e-3
        if self.duration:
            s = min(self.elapsed / self.duration, 1.0)
            way = self.goal - self.start
            self.setpoint = self.start + way * (10 * s**3 - 15 * s**4 + 6 * s**5)
            self.velocity = way * (30 * s**2 - 60 * s**3 + 30 * s**4) / self.duration
        self.send()

    def send(self) -> None:
        command = joint_command(
            self.control.joints, "clamp", self.names, (self.setpoint, self.velocity, [])
        )
        time = float(self.simulation.data.time)
        self.control.command(CommandSource.JOINT_COMMANDS, command, time)

    def run(self, updates: int) -> None:
        for _ in range(updates):
            self.update()
            for _ in range(EVERY):
                assert self.simulation.step()


def steps(simulation: Simulation, client: TrajectoryClient | None) -> np.ndarray:
    """Take `AFTER` steps; return the joint positions after each.  # (AFTER, n)"""
    rows = []
    for step in range(AFTER):
        if client is not None and step % EVERY == 0:
            client.update()
        assert simulation.step()
        rows.append(simulation.data.qpos.copy())
    return np.array(rows)


def interruptions(simulation: Simulation) -> list[Callable[[], object]]:
    """Return the ways in which the state of the arm can be set."""
    keyframes, table = Keyframes(simulation), settable_joints(simulation.model, simulation.layout)
    keyframes.save("start")
    arm = list(table.values())[:ARM]
    home = simulation.data.qpos[:ARM].copy()

    def set_joints() -> None:
        request = StateRequest(
            positions={it.joint: float(home[k]) + 0.01 for k, it in enumerate(arm)},
            velocities={it.joint: 0.0 for it in arm},
        )
        set_state(simulation, {it.joint: it for it in table.values()}, request)

    def reset_and_continue() -> None:
        simulation.reset(time=float(simulation.data.time))

    return [
        simulation.reset,
        reset_and_continue,
        lambda: keyframes.load("arm/home"),
        lambda: keyframes.load("start"),
        lambda: keyframes.load("start", rewind=False),
        set_joints,
    ]


def run_with_resets(count: int, policy: str = "hold") -> tuple[Simulation, float]:
    """Reset an arm in mid-trajectory; return it, and how far a first command moved a joint [rad].

    What the arm does without commands (it sags a little) does not count.
    """
    simulation = Simulation(load_scene("arm"))
    control, worst = simulation.controls[0], 0.0
    control.configure(StreamSettings(reset_hold=policy), control.trajectory.settings, None)
    interrupt, client = interruptions(simulation), TrajectoryClient(simulation, seed=1)
    for k in range(count):
        client.move()
        client.run(int(client.random.integers(80, 200)))  # 0.32 to 0.8 s of 1 s
        assert np.abs(client.setpoint - client.home).min() > 0.01
        interrupt[k % len(interrupt)]()
        snapshot = take_snapshot(simulation)
        commanded = steps(simulation, client)
        restore(simulation, snapshot)
        alone = steps(simulation, None)
        worst = max(worst, np.abs(commanded - alone).max())
        client.activate()
        before = simulation.references.q.copy()
        client.run(1)
        assert np.abs(simulation.references.q - before).max() <= 10 * TOLERANCE, "what it sagged"
        assert control.owners()[CommandSource.JOINT_COMMANDS] == client.names
    return simulation, worst


def test_30_resets_in_mid_trajectory_move_no_joint():
    simulation, worst = run_with_resets(30)
    assert worst == 0.0, "every command was held back, so nothing differs by a bit"
    assert sum(isinstance(event, CommandHeld) for event in simulation.events) == 30
    assert not simulation.controls[0].reset_hold.active


def test_without_the_hold_the_same_resets_make_the_arm_jump():
    _, worst = run_with_resets(6, "off")
    assert worst > 0.05


def test_two_runs_with_resets_are_the_same():
    first, second = (run_with_resets(6)[0] for _ in range(2))
    np.testing.assert_array_equal(first.data.qpos, second.data.qpos)
    np.testing.assert_array_equal(first.data.qvel, second.data.qvel)


def test_the_first_command_after_the_activation_moves_no_joint_far():
    simulation = Simulation(load_scene("arm"))
    client = TrajectoryClient(simulation, seed=2)
    client.move()
    client.run(150)
    simulation.reset()
    client.run(50)
    client.activate()
    snapshot = take_snapshot(simulation)
    first = steps(simulation, client)[:EVERY]
    restore(simulation, snapshot)
    alone = steps(simulation, None)[:EVERY]
    assert np.abs(first - alone).max() < TOLERANCE
    client.move()
    client.run(300)
    np.testing.assert_allclose(simulation.references.q[:ARM], client.goal)


def test_a_held_command_answers_its_tick():
    simulation = Simulation(load_scene("arm"))
    lockstep, client = Lockstep(simulation), TrajectoryClient(simulation, seed=3)
    source = SourceConfig(topic="joint_commands", robot="arm", rate=250.0)
    lockstep.configure(LockstepConfig(sources=(source,)))
    client.move()
    client.run(150)
    simulation.reset()
    home = simulation.references.q.copy()
    ticks = 0
    for _ in range(100):
        assert simulation.step()
        if lockstep.begin():
            assert lockstep.waiting
            stamp = round(simulation.time * 1e9)
            problem = lockstep.take("joint_commands", stamp, lambda _time: client.update())
            assert not problem
            assert not lockstep.waiting
            ticks += 1
    assert ticks == 25
    assert lockstep.status["joint_commands"].surplus == 0
    np.testing.assert_array_equal(simulation.references.q, home)
    (back,) = simulation.controls[0].reset_hold.report().values()
    assert (back.joints, back.commands) == (client.names, 25)


def test_joints_are_not_held_if_only_the_base_is_set():
    simulation = Simulation(load_scene("humanoid"))
    control = simulation.controls[0]
    command = joint_command(
        control.joints, "clamp", control.joints.names, (simulation.references.q + 0.05, [], [])
    )
    control.command(CommandSource.JOINT_COMMANDS, command, 0.0)
    assert simulation.step()
    entity = entities(simulation.assembly, simulation.layout)[simulation.layout.robots[0].name]
    pose = np.array([1.0, 2.0, 3.0, 1.0, 0.0, 0.0, 0.0])
    request = StateRequest(placements=((entity, Placement(pose=pose)),))
    set_state(simulation, {}, request)
    assert control.owners().keys() == {CommandSource.UNCLAIMED}
    control.command(CommandSource.JOINT_COMMANDS, command, float(simulation.data.time))
    assert control.owners().keys() == {CommandSource.JOINT_COMMANDS}
