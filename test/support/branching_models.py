"""Random branching robots with loops, on the ground."""

import mujoco
import numpy as np

_DOFS = {
    mujoco.mjtJoint.mjJNT_SLIDE: 1,
    mujoco.mjtJoint.mjJNT_HINGE: 1,
    mujoco.mjtJoint.mjJNT_BALL: 3,
}
_CONES = (mujoco.mjtCone.mjCONE_PYRAMIDAL, mujoco.mjtCone.mjCONE_ELLIPTIC)


def branching_model(seed: int, dofs: int | None = None, *, memory_bytes: int = 0) -> mujoco.MjModel:
    """Return a model; see `branching_spec`."""
    model: mujoco.MjModel = branching_spec(seed, dofs, memory_bytes=memory_bytes).compile()
    return model


def branching_spec(seed: int, dofs: int | None = None, *, memory_bytes: int = 0) -> mujoco.MjSpec:
    """Return a robot whose bodies also collide with their parents.

    Args:
        seed: Seed of its shape.
        dofs: Degrees of freedom, or up to 2 more; by default 60 to 200.
        memory_bytes: Memory of the engine; 0 for its default.
    """
    random = np.random.default_rng(seed)
    dofs = dofs or int(random.integers(60, 199))
    spec = mujoco.MjSpec()
    spec.option.timestep, spec.option.cone = 0.002, _CONES[seed % 2]
    spec.option.disableflags = mujoco.mjtDisableBit.mjDSBL_FILTERPARENT
    spec.memory = memory_bytes or -1
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[3, 3, 0.1])
    bodies, count, straight = [], 0, random.random()
    while count < dofs:
        parent = spec.worldbody
        if bodies:
            parent = bodies[-1 if random.random() < straight else random.integers(len(bodies))]
        position = random.normal(size=3) * (0.1, 0.1, 0.03) + (0, 0, 0.1)
        body = parent.add_body(name=f"b{len(bodies)}", pos=position)
        kind = list(_DOFS)[random.choice(3, p=(0.3, 0.4, 0.3))]
        joint = body.add_joint(type=kind, axis=random.normal(size=3), damping=[0.1] * 3)
        joint.armature, joint.frictionloss = 0.01, 0.1 * (random.random() < 0.3)
        if kind == mujoco.mjtJoint.mjJNT_HINGE and random.random() < 0.3:
            joint.range, joint.limited = (-0.3, 0.3), True
        body.add_geom(size=[0.06, 0, 0], mass=0.3)
        bodies.append(body)
        count += _DOFS[kind]
    for _ in range(random.integers(0, 4)):
        first, second = random.choice(len(bodies), 2, replace=False)
        loop = spec.add_equality(type=mujoco.mjtEq.mjEQ_CONNECT, objtype=mujoco.mjtObj.mjOBJ_BODY)
        loop.name1, loop.name2 = f"b{first}", f"b{second}"
    return spec
