"""The state `Policy`, which runs a trained policy, and what it commands."""

from collections.abc import Sequence
from itertools import pairwise
from math import acos
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from mujoco_ros.control.gains import Gains
from mujoco_ros.control.references import References
from mujoco_ros.controllers.fsm.state import State, StateContext
from mujoco_ros.controllers.interface.host import GAINS_GET, GAINS_SET
from mujoco_ros.controllers.interface.inputs import VELOCITY_INPUT, BodyVelocity
from mujoco_ros.controllers.interface.observation import Observation
from mujoco_ros.controllers.interface.robot import RobotModel
from mujoco_ros.controllers.interface.store import Key, Store
from mujoco_ros.controllers.library.base_states import commanded_velocity
from mujoco_ros.controllers.library.policy.config import ActionConfig, PolicyConfig
from mujoco_ros.controllers.library.policy.input_vector import InputVector, elements, limits
from mujoco_ros.controllers.library.policy.network import Network
from mujoco_ros.controllers.library.policy.terms import CameraImages, PolicyTick, TermFactory
from mujoco_ros.extras import require
from mujoco_ros.model.errors import UserInputError, counted, unknown

_ROWS = {"position": 0, "velocity": 1, "effort": 2}  # rows of references


class JointTargets:
    """The joints that a part of the output commands."""

    def __init__(
        self, config: ActionConfig, joints: np.ndarray, names: Sequence[str], pose: np.ndarray
    ) -> None:
        """Prepare for joints (n,), with names and default positions of all joints of the robot."""
        size, where = len(joints), "actions"
        self.joints, self._names, self._row = joints, names, _ROWS[config.target]
        self._largest, self._smoothing = config.largest, config.smoothing
        self._scale = elements(config.scale, size, f"{where}: scale")
        if config.offset is None:
            self._offset = pose[joints] if config.target == "position" else np.zeros(size)
        else:
            self._offset = elements(config.offset, size, f"{where}: offset")
        self._limits = limits(config.clip, size, f"{where}: clip")
        self._gains = [
            None if values is None else elements(values, size, f"{where}: {name}")
            for name, values in (("kp", config.kp), ("kd", config.kd))
        ]
        self.has_gains = any(values is not None for values in self._gains)
        self._target, self._previous = np.zeros(size), np.zeros(size)

    def start(self, references: References) -> None:
        np.copyto(self._previous, references.values[self._row, self.joints])

    def with_gains(self, gains: Gains, before: Gains | None = None) -> Gains:
        """Return gains where the settings have some: with their values, or the values `before`."""
        values = self._gains
        if before is not None:
            values = [before.kp[self.joints], before.kd[self.joints]]
        new = [gains.kp.copy(), gains.kd.copy()]
        for present, own, value in zip(new, self._gains, values, strict=True):
            if own is not None:
                present[self.joints] = value
        return Gains(kp=new[0], kd=new[1])

    def problem(self, action: np.ndarray) -> str:
        """Return why actions are invalid; empty if they are not."""
        valid = np.abs(action) <= self._largest  # false for NaN
        if valid.all():
            return ""
        worst = int(np.argmin(valid))
        return (
            f"the action of joint '{self._names[self.joints[worst]]}' is {action[worst]:g}; the "
            f"limit is {self._largest:g}"
        )

    def command(self, action: np.ndarray, references: References, observation: Observation) -> None:
        """Write references of a valid action.  # (n,)

        With targets of velocity or effort, the reference positions are the measured ones.
        """
        target = self._target
        np.multiply(action, self._scale, out=target)
        target += self._offset
        if self._limits is not None:
            np.clip(target, *self._limits, out=target)
        if self._smoothing:
            target *= 1.0 - self._smoothing
            self._previous *= self._smoothing
            target += self._previous
            np.copyto(self._previous, target)
        joints, values = self.joints, references.values
        if self._row:
            values[0, joints] = observation.q[joints]
        values[1:, joints] = 0.0
        values[self._row, joints] = target


def check_disjoint(targets: Sequence[JointTargets], names: Sequence[str]) -> None:
    """Raise a UserInputError for a joint that two parts of the output command."""
    found: set[int] = set()
    for joint in (int(number) for part in targets for number in part.joints):
        if joint in found:
            raise UserInputError(f"actions: joint '{names[joint]}' is commanded twice")
        found.add(joint)


_NOISE: Key[np.random.Generator] = Key("policy/noise", np.random.Generator)
"""Source of the noise of all policies of a controller."""
_AT_REST = BodyVelocity()


class Policy(State):
    """Runs a trained policy, which commands joints with its own period.

    Velocities, `command_timeout` and `max_tilt` take effect at once, all other settings when the
    controller starts.
    """

    has_live_settings = True
    outcomes: ClassVar[tuple[str, ...]] = ("fell", "invalid")
    failures: ClassVar[tuple[str, ...]] = ("fell", "invalid")
    topics: ClassVar[tuple[Key[Any], ...]] = (VELOCITY_INPUT,)
    files: ClassVar[tuple[str, ...]] = ("file",)
    Config = PolicyConfig
    config: PolicyConfig
    _network: Network | None = None
    _gains: Gains | None = None

    def configure(self, robot: RobotModel, store: Store) -> None:
        config, path = self.config, Path(self.config.file)
        require("policy", "the state 'Policy'")
        network = self._network
        if network is None or network.path != path:
            network = Network(path)
        try:
            self._match(robot, network)
        except UserInputError as error:
            raise UserInputError(f"policy '{config.file}': {error}") from error
        self._network = network

    def _match(self, robot: RobotModel, network: Network) -> None:
        config = self.config
        pose = robot.home.copy()
        for joint, position in config.default_pose.items():
            if joint not in robot.joints:
                raise unknown("default_pose: joint", joint, robot.joints)
            pose[robot.joints.index(joint)] = position
        joints = config.joints or robot.joints
        counts = [len(action.joints or joints) for action in config.actions]
        self._action = np.zeros(sum(counts))
        terms = TermFactory(robot, joints, pose, self._action, config.imu)
        self._gravity = terms.gravity()
        for name in config.inputs:
            network.check_input(name)
        self._inputs = {
            name: InputVector(
                name, inputs, [terms.make(term, network.axes(name)) for term in inputs.terms]
            )
            for name, inputs in config.inputs.items()
        }
        used = [term for inputs in config.inputs.values() for term in inputs.terms]
        self._images = CameraImages(term.sensor for term in used if term.term == "image")
        for name, vector in self._inputs.items():
            size = network.size(name)
            if size is not None:
                vector.check_size(size)
        self._targets = [
            JointTargets(action, terms.indices(action.joints), robot.joints, pose)
            for action in config.actions
        ]
        check_disjoint(self._targets, robot.joints)
        ends = np.cumsum([0, *counts]).tolist()
        self._parts = [slice(*part) for part in pairwise(ends)]
        size = network.output_size(config.output, config.memory)
        if size is not None and size != len(self._action):
            *first, last = counts
            listing = ", ".join([*map(str, first), counted(last, "joint")])
            raise UserInputError(
                f"the output has {counted(size, 'value')}, and the actions are for {listing}"
            )
        sizes = {name: vector.size for name, vector in self._inputs.items()}
        network.bind(sizes, config.output, len(self._action), config.memory)
        self._down, self._decimation = np.zeros(3), config.decimation

    def start(self, context: StateContext) -> None:
        """Begin without memory and without a previous action, and set the gains."""
        assert self._network is not None
        self._network.forget()
        self._action[:] = 0.0
        self._runs, self._is_first = 0, True
        self._gains = None  # those before, if it sets others
        self._tick = PolicyTick(context.observation, _AT_REST, 0.0, self._images.newest)
        self._images.clear()
        if _NOISE not in context.store:
            context.store.set(_NOISE, np.random.default_rng(context.seed))
        for part in self._targets:
            part.start(context.references)
        if any(part.has_gains for part in self._targets):
            gains = before = context.store.get(GAINS_GET)()
            for part in self._targets:
                gains = part.with_gains(gains)
            context.store.get(GAINS_SET)(gains)
            self._gains = before

    def run(self, context: StateContext) -> str | None:
        """Run the network if it is due; its references hold until the next run."""
        config, tick = self.config, self._tick
        tick.observation = context.observation
        if config.max_tilt and (fallen := self._has_fallen(context)):
            return fallen
        number = round(context.elapsed / context.period)
        if number < self._runs * self._decimation:
            return None
        if not self._images.update(context):
            return None
        self._runs = number // self._decimation + 1
        command = commanded_velocity(context, config.command_timeout)
        tick.command, tick.elapsed = command or config.velocity, context.elapsed
        return self._run_network(context)

    def teardown(self, context: StateContext) -> None:
        """Restore the gains that it has set; a parallel state may have set others meanwhile."""
        if self._gains is not None:
            gains = context.store.get(GAINS_GET)()
            for part in self._targets:
                gains = part.with_gains(gains, self._gains)
            context.store.get(GAINS_SET)(gains)
            self._gains = None

    def _run_network(self, context: StateContext) -> str | None:
        network, rng = self._network, context.store.get(_NOISE)
        assert network is not None
        for name, vector in self._inputs.items():
            term = vector.write(self._tick, rng, self._is_first, network.inputs[name])
            if term:
                context.reason = f"the term {term} of input '{name}' is not a number"
                return "invalid"
        self._is_first = False
        network.run()
        np.copyto(self._action, network.output.reshape(-1))
        for part, at in zip(self._targets, self._parts, strict=True):
            problem = part.problem(self._action[at])
            if problem:
                context.reason = problem
                return "invalid"
        for part, at in zip(self._targets, self._parts, strict=True):
            part.command(self._action[at], context.references, context.observation)
        return None

    def _has_fallen(self, context: StateContext) -> str | None:
        self._gravity(self._tick, self._down)
        tilt = acos(min(max(-float(self._down[2]), -1.0), 1.0))
        if tilt <= self.config.max_tilt:
            return None
        context.reason = f"the robot is tilted by {tilt:.2f} rad"
        return "fell"


class DampJoints(State):
    """Follows the measured positions, so that a fallen robot is damped only."""

    def start(self, context: StateContext) -> None:
        context.references.values[1:] = 0.0

    def run(self, context: StateContext) -> str | None:
        context.references.q[:] = context.observation.q
        return None


STATES: tuple[type[State], ...] = (Policy, DampJoints)
