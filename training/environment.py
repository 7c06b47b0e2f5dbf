"""The environment of the training: brax's interface around MuJoCo MJX."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import jax
import jax.numpy as jnp
from brax.envs.base import Env, State
from mujoco import mjx

from training.observation import gravity, observation, term_values, to_base
from training.policy_table import PolicyTable
from training.randomisation import Physics, draw_physics, randomised
from training.rewards import Motion, reward_terms
from training.robot_model import FOOT_RADIUS, TrainingRobot
from training.settings import Settings

Info = dict[str, Any]
POLICY, CRITIC = "state", "privileged_state"
"""Names of the inputs of policy and value function."""
_FALLEN_TILT, _FALLEN_HEIGHT = 0.5, 0.18
"""Cosine of the tilt, and height of the base [m], at which the robot has fallen."""


class TrotEnvironment(Env):
    """A quadruped that shall trot with a commanded velocity, with other physics in each episode.

    The training resets it by brax's `AutoResetWrapper`. When an episode is over, the wrapper
    restores the state and the observation of the first reset, but not the numbers in `info`. So
    the start is drawn once for each of the parallel environments; `step` draws physics, delay,
    command, phase and times of pushes for each episode. The first observation of each later episode
    still has the command and phase of the first one, and its physics and delay for the value
    function; its reward and the next observations have the new ones.
    """

    def __init__(self, robot: TrainingRobot, table: PolicyTable, settings: Settings) -> None:
        """Prepare the model; `table` gives inputs, pose, gains and period."""
        self._settings, self._table, self._robot = settings, table, robot
        self._model = mjx.put_model(robot.model)
        self._data = mjx.make_data(robot.model)
        self._pose, self._stand = jnp.array(robot.default_pose), jnp.array(robot.stand)
        self._feet, self._limits = jnp.array(robot.feet), jnp.array(robot.limits)
        low, high = table.setting("command", "clip")
        self._low, self._high = jnp.array(low), jnp.array(high)
        self._cycle = table.period / float(table.setting("gait_phase", "period"))
        self._steps = round(table.period / settings.timestep)
        self._age = round(settings.episode_s / table.period)
        self._weights = asdict(settings.weights)
        self._noise = {
            "base_angular_velocity": settings.randomisation.rate_noise,
            "projected_gravity": settings.randomisation.gravity_noise,
            "joint_position": settings.randomisation.position_noise,
            "joint_velocity": settings.randomisation.velocity_noise,
        }

    @property
    def observation_size(self) -> Mapping[str, int]:
        """Numbers of elements of the inputs of policy and value function."""
        shapes = jax.eval_shape(self.reset, jax.random.PRNGKey(0)).obs
        return {name: int(shape.shape[-1]) for name, shape in shapes.items()}

    @property
    def action_size(self) -> int:
        """Number of joints."""
        return int(self._robot.model.nu)

    @property
    def backend(self) -> str:
        """Name of the physics."""
        return "mjx"

    def reset(self, rng: jax.Array) -> State:
        """Begin an episode at rest or in slow motion, between the stand and the default pose."""
        rng, key, blend_key, joint_key, yaw_key, velocity_key = jax.random.split(rng, 6)
        largest = self._settings.randomisation.start
        blend = jax.random.uniform(blend_key)
        joints = self._stand + blend * (self._pose - self._stand)
        joints += jax.random.uniform(joint_key, joints.shape, minval=-largest, maxval=largest)
        height = self._robot.stand_height
        height += blend * (self._settings.height - height) + 0.01
        half = jax.random.uniform(yaw_key, minval=-0.5 * jnp.pi, maxval=0.5 * jnp.pi)
        quat = jnp.array([jnp.cos(half), 0.0, 0.0, jnp.sin(half)])
        qpos = jnp.concatenate([jnp.array([0.0, 0.0, height]), quat, joints])
        qvel = jnp.zeros(self._robot.model.nv)
        qvel = qvel.at[:6].set(jax.random.uniform(velocity_key, (6,), minval=-0.3, maxval=0.3))
        data = self._data.replace(qpos=qpos, qvel=qvel, ctrl=joints)
        data = mjx.forward(self._model, data)
        info = {"rng": rng, **self._episode(key)}
        names = (*self._weights, "fallen")
        zeros = {name: jnp.zeros(()) for name in names}
        obs = self._observe(data, info, jnp.zeros(4))
        return State(data, obs, jnp.zeros(()), jnp.zeros(()), zeros, info)

    def step(self, state: State, action: jax.Array) -> State:
        """Simulate a period of the policy."""
        rng, push_key, command_key, fresh_key = jax.random.split(state.info["rng"], 4)
        info: Info = {**state.info, "rng": rng}
        data = self._push(state.pipeline_state, info, push_key)
        before = data.geom_xpos[self._feet]
        target = self._pose + self._table.scale * action
        data, effort = self._simulate(data, target, info)
        feet = data.geom_xpos[self._feet]
        motion = self._motion(data, info, action, effort, feet, before)
        terms = reward_terms(
            motion,
            height=self._settings.height,
            swing_height=self._settings.swing_height,
            xp=jnp,
        )
        weighted = {name: self._weights[name] * term for name, term in terms.items()}
        reward = jnp.maximum(sum(weighted.values()) * self._table.period, 0.0)
        fallen = (motion.gravity[2] > -_FALLEN_TILT) | (motion.height < _FALLEN_HEIGHT)
        info["action"], info["target"] = action, target
        info["phase"] = (info["phase"] + self._cycle) % 1.0
        info["age"] = info["age"] + 1
        self._change_command(info, command_key)
        is_over = fallen | (info["age"] >= self._age)
        fresh = self._episode(fresh_key)
        kept = {name: info[name] for name in fresh}
        info |= jax.tree.map(lambda new, old: jnp.where(is_over, new, old), fresh, kept)
        obs = self._observe(data, info, motion.foot_heights)
        done = fallen.astype(jnp.float32)
        return state.replace(
            pipeline_state=data,
            obs=obs,
            reward=reward,
            done=done,
            metrics={**weighted, "fallen": done},
            info=info,
        )

    def _episode(self, key: jax.Array) -> Info:
        """Return what an episode begins with."""
        ranges = self._settings.randomisation
        keys = jax.random.split(key, 6)
        command, interval = self._draw_command(keys[0])
        low, high = ranges.push_interval
        return {
            "physics": draw_physics(keys[1], ranges, self._robot.model.nbody),
            "delay": jax.random.uniform(keys[2], minval=ranges.delay[0], maxval=ranges.delay[1]),
            "command": command,
            "command_left": interval,
            "push_left": jax.random.uniform(keys[3], minval=low, maxval=high),
            "phase": jax.random.uniform(keys[4]),
            "action": jnp.zeros(self.action_size),
            "target": self._pose,
            "age": jnp.zeros((), dtype=jnp.int32),
        }

    def _draw_command(self, key: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Return a random command, and the time until the next one [s]."""
        commands = self._settings.commands
        value_key, standing_key, straight_key, interval_key = jax.random.split(key, 4)
        command = jax.random.uniform(value_key, (3,), minval=self._low, maxval=self._high)
        is_kept = jax.random.uniform(straight_key, (2,)) >= commands.straight
        command = command.at[1:].multiply(is_kept)
        stands = jax.random.uniform(standing_key) < commands.standing
        stands |= jnp.linalg.norm(command) < commands.least
        low, high = commands.interval
        interval = jax.random.uniform(interval_key, minval=low, maxval=high)
        return jnp.where(stands, 0.0, command), interval

    def _change_command(self, info: Info, key: jax.Array) -> None:
        command, interval = self._draw_command(key)
        left = info["command_left"] - self._table.period
        info["command"] = jnp.where(left <= 0.0, command, info["command"])
        info["command_left"] = jnp.where(left <= 0.0, interval, left)

    def _push(self, data: mjx.Data, info: Info, key: jax.Array) -> mjx.Data:
        """Change the velocity of the base when a push is due."""
        ranges = self._settings.randomisation
        size_key, direction_key, interval_key = jax.random.split(key, 3)
        low, high = ranges.push_interval
        left = info["push_left"] - self._table.period
        is_due = left <= 0.0
        size = jax.random.uniform(size_key, maxval=ranges.push) * is_due
        angle = jax.random.uniform(direction_key, maxval=2.0 * jnp.pi)
        velocity = size * jnp.stack([jnp.cos(angle), jnp.sin(angle)])
        interval = jax.random.uniform(interval_key, minval=low, maxval=high)
        info["push_left"] = jnp.where(is_due, interval, left)
        return data.replace(qvel=data.qvel.at[:2].add(velocity))

    def _simulate(
        self, data: mjx.Data, target: jax.Array, info: Info
    ) -> tuple[mjx.Data, jax.Array]:
        """Simulate a period; the target acts after the delay, on a line during a tick."""
        physics: Physics = info["physics"]
        model = randomised(self._model, physics)
        previous, timestep = info["target"], self._settings.timestep
        middles = timestep * (jnp.arange(self._steps) + 0.5)
        parts = jnp.clip((middles - info["delay"]) / self._table.tick, 0.0, 1.0)

        def step(now: mjx.Data, part: jax.Array) -> tuple[mjx.Data, None]:
            ctrl = previous + part * (target - previous)
            return mjx.step(model, now.replace(ctrl=ctrl)), None

        data, _ = jax.lax.scan(step, data, parts)
        effort = self._table.kp * physics.kp * (data.ctrl - data.qpos[7:])
        effort -= self._table.kd * physics.kd * data.qvel[6:]
        return data, jnp.clip(effort, -self._limits, self._limits)

    def _motion(
        self,
        data: mjx.Data,
        info: Info,
        action: jax.Array,
        effort: jax.Array,
        feet: jax.Array,
        before: jax.Array,
    ) -> Motion:
        command = info["command"]
        return Motion(
            linear=to_base(data.qpos[3:7], data.qvel[:3], jnp),
            angular=data.qvel[3:6],
            gravity=gravity(data.qpos[3:7], jnp),
            height=data.qpos[2],
            q=data.qpos[7:] - self._pose,
            dq=data.qvel[6:],
            effort=effort,
            action=action,
            previous_action=info["action"],
            foot_heights=feet[:, 2] - FOOT_RADIUS,
            foot_velocities=(feet - before)[:, :2] / self._table.period,
            command=command,
            is_standing=jnp.all(command == 0.0).astype(jnp.float32),
            phase=info["phase"],
        )

    def _observe(self, data: mjx.Data, info: Info, foot_heights: jax.Array) -> dict[str, jax.Array]:
        """Return the noisy input of the policy, and the exact one of the value function."""
        values = term_values(
            qpos=data.qpos,
            qvel=data.qvel,
            default_pose=self._pose,
            command=info["command"],
            action=info["action"],
            phase=info["phase"],
            xp=jnp,
        )
        noisy = dict(values)
        key = jax.random.fold_in(info["rng"], 1)
        for number, (name, largest) in enumerate(self._noise.items()):
            part = jax.random.fold_in(key, number)
            shape = values[name].shape
            noisy[name] += jax.random.uniform(part, shape, minval=-largest, maxval=largest)
        physics: Physics = info["physics"]
        privileged = [
            observation(self._table.terms, values, jnp),
            to_base(data.qpos[3:7], data.qvel[:3], jnp),
            data.qpos[2:3],
            foot_heights,
            info["delay"][None],
            physics.summary(),
        ]
        return {
            POLICY: observation(self._table.terms, noisy, jnp),
            CRITIC: jnp.concatenate(privileged),
        }
