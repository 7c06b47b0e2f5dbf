"""The state `Policy`, which runs a trained policy."""

from itertools import pairwise
from math import acos
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from mujoco_ros.control.gains import Gains
from mujoco_ros.controllers.fsm.state import State, StateContext
from mujoco_ros.controllers.interface.host import GAINS_GET, GAINS_SET
from mujoco_ros.controllers.interface.inputs import VELOCITY_INPUT, BodyVelocity
from mujoco_ros.controllers.interface.robot import RobotModel
from mujoco_ros.controllers.interface.store import Key, Store
from mujoco_ros.controllers.library.policy.config import PolicyConfig
from mujoco_ros.controllers.library.policy.input_vector import InputVector
from mujoco_ros.controllers.library.policy.joint_targets import JointTargets, check_disjoint
from mujoco_ros.controllers.library.policy.network import Network
from mujoco_ros.controllers.library.policy.terms import CameraImages, PolicyTick, TermFactory
from mujoco_ros.extras import require
from mujoco_ros.model.errors import UserInputError, unknown

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
        """Load the file, and match its inputs and output with the robot."""
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
        counts = [len(it.joints or joints) for it in config.actions]
        self._action = np.zeros(sum(counts))
        terms = TermFactory(robot, joints, pose, self._action, config.imu)
        self._gravity = terms.gravity()
        for name in config.inputs:
            network.check_input(name)
        self._inputs = {
            name: InputVector(name, it, [terms.make(term, network.axes(name)) for term in it.terms])
            for name, it in config.inputs.items()
        }
        used = [term for it in config.inputs.values() for term in it.terms]
        self._images = CameraImages(term.sensor for term in used if term.term == "image")
        for name, vector in self._inputs.items():
            size = network.size(name)
            if size is not None:
                vector.check_size(size)
        self._targets = [
            JointTargets(it, terms.indices(it.joints), robot.joints, pose) for it in config.actions
        ]
        check_disjoint(self._targets, robot.joints)
        ends = np.cumsum([0, *counts]).tolist()
        self._parts = [slice(*part) for part in pairwise(ends)]
        size = network.output_size(config.output, config.memory)
        if size is not None and size != len(self._action):
            listing = ", ".join(str(count) for count in counts)
            raise UserInputError(
                f"the output has {size} values, and the actions are for {listing} joints"
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
        tick.command, tick.elapsed = self._command(context), context.elapsed
        return self._run_network(context)

    def teardown(self, context: StateContext) -> None:
        """Restore the gains that it has set; a parallel state may have set others meanwhile."""
        if self._gains is not None:
            gains = context.store.get(GAINS_GET)()
            for part in self._targets:
                gains = part.with_gains_before(gains, self._gains)
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

    def _command(self, context: StateContext) -> BodyVelocity:
        """Return the velocity that a client commands, or else that of the settings."""
        command = None
        if VELOCITY_INPUT in context.store:
            velocity = context.store.get(VELOCITY_INPUT)
            command = velocity.read(context.time, self.config.command_timeout)
        return command or self.config.velocity

    def _has_fallen(self, context: StateContext) -> str | None:
        self._gravity(self._tick, self._down)
        tilt = acos(min(max(-float(self._down[2]), -1.0), 1.0))
        if tilt <= self.config.max_tilt:
            return None
        context.reason = f"the robot is tilted by {tilt:.2f} rad"
        return "fell"


STATES: tuple[type[State], ...] = (Policy,)
