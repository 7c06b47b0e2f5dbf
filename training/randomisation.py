"""Random physics of an episode."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from mujoco import mjx

from training.settings import Randomisation, Range

_TRUNK = 1
"""Index of the body."""


class Physics(NamedTuple):
    """Factors on the numbers of the model, and others that replace them.

    Attributes:
        friction: Friction of feet and floor.
        masses: Factor on mass and inertia of each body.  # (nbody,)
        com: Displacement of the trunk's centre of mass [m].  # (3,)
        kp: Factor on the proportional gains.
        kd: Factor on the derivative gains.
        armature: Factor on the inertia of the rotors.
    """

    friction: jax.Array
    masses: jax.Array
    com: jax.Array
    kp: jax.Array
    kd: jax.Array
    armature: jax.Array

    def summary(self) -> jax.Array:
        """Return the numbers for the value function.  # (8,)"""
        one = [self.friction, self.masses[_TRUNK], self.kp, self.kd, self.armature]
        return jnp.concatenate([jnp.stack(one), self.com])


def draw_physics(key: jax.Array, ranges: Randomisation, bodies: int) -> Physics:
    """Draw the physics of an episode of a model with a number of bodies."""
    keys = jax.random.split(key, 7)

    def draw(number: int, between: Range, shape: tuple[int, ...] = ()) -> jax.Array:
        return jax.random.uniform(keys[number], shape, minval=between[0], maxval=between[1])

    masses = draw(0, ranges.link_mass, (bodies,)).at[_TRUNK].set(draw(1, ranges.trunk_mass))
    return Physics(
        friction=draw(2, ranges.friction),
        masses=masses,
        com=draw(3, (-ranges.trunk_com, ranges.trunk_com), (3,)),
        kp=draw(4, ranges.kp),
        kd=draw(5, ranges.kd),
        armature=draw(6, ranges.armature),
    )


def randomised(model: mjx.Model, physics: Physics) -> mjx.Model:
    """Return a model with other physics."""
    bias = model.actuator_biasprm
    return model.replace(
        geom_friction=model.geom_friction.at[:, 0].set(physics.friction),
        body_mass=model.body_mass * physics.masses,
        body_inertia=model.body_inertia * physics.masses[:, None],
        body_ipos=model.body_ipos.at[_TRUNK].add(physics.com),
        dof_armature=model.dof_armature * physics.armature,
        actuator_gainprm=model.actuator_gainprm.at[:, 0].multiply(physics.kp),
        actuator_biasprm=bias.at[:, 1].multiply(physics.kp).at[:, 2].multiply(physics.kd),
    )
