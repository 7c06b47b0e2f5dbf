"""Merging a scene's robots and objects into one MuJoCo model."""

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from mujoco_ros.model.errors import ModelError
from mujoco_ros.model.plugins import load_plugins
from mujoco_ros.model.scene import (
    MODEL_SUFFIXES,
    ObjectConfig,
    PhysicsConfig,
    PoseConfig,
    RobotConfig,
    SceneConfig,
)
from mujoco_ros.model.urdf.importer import free_base, load_urdf
from mujoco_ros.model.uri import check_file

_ENUMS = {
    "integrator": {
        "Euler": mujoco.mjtIntegrator.mjINT_EULER,
        "RK4": mujoco.mjtIntegrator.mjINT_RK4,
        "implicit": mujoco.mjtIntegrator.mjINT_IMPLICIT,
        "implicitfast": mujoco.mjtIntegrator.mjINT_IMPLICITFAST,
        "discrete": mujoco.mjtIntegrator.mjINT_DISCRETE,
    },
    "cone": {
        "pyramidal": mujoco.mjtCone.mjCONE_PYRAMIDAL,
        "elliptic": mujoco.mjtCone.mjCONE_ELLIPTIC,
    },
    "solver": {
        "PGS": mujoco.mjtSolver.mjSOL_PGS,
        "CG": mujoco.mjtSolver.mjSOL_CG,
        "Newton": mujoco.mjtSolver.mjSOL_NEWTON,
    },
    "jacobian": {
        "dense": mujoco.mjtJacobian.mjJAC_DENSE,
        "sparse": mujoco.mjtJacobian.mjJAC_SPARSE,
        "auto": mujoco.mjtJacobian.mjJAC_AUTO,
    },
}


@dataclass(frozen=True, kw_only=True)
class Assembly:
    """The one model of a scene.

    `spec` is what it was compiled from (None for MJB, which cannot be decompiled); `notes` are the
    compiler's remarks, worth a line in the log.
    """

    config: SceneConfig
    model: mujoco.MjModel
    spec: mujoco.MjSpec | None
    notes: tuple[str, ...]


def assemble(config: SceneConfig) -> Assembly:
    """Load everything the scene names and compile it.

    Raises:
        ModelError: A file is missing or broken, or the merged model does not compile.
    """
    for folder in config.plugins:
        load_plugins(config.path(folder))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        previous = mujoco.get_mju_user_warning()
        mujoco.set_mju_user_warning(_silent)
        try:
            spec, model = _compile(config)
        finally:
            mujoco.set_mju_user_warning(previous)
    if not model.njnt:
        raise ModelError(f"scene '{config.name}': the model has no joint, nothing could move")
    _check_numbers(model)
    # The simulator itself resets to the keyframe; the engine would go to qpos0 without a word.
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_AUTORESET
    notes = dict.fromkeys(
        _one_line(w.message) for w in caught if issubclass(w.category, UserWarning)
    )
    return Assembly(config=config, model=model, spec=spec, notes=tuple(notes))


def _silent(_message: str) -> None:
    """Keep the compiler's remarks off the terminal; Python's warnings carry the same text."""


def _compile(config: SceneConfig) -> tuple[mujoco.MjSpec | None, mujoco.MjModel]:
    if config.path(config.robots[0].model).suffix == ".mjb":
        model = _load_binary(config)
        _override(model.opt, config.physics)
        return None, model
    spec = _merge(config) if config.merged else _load_robot(config, 0)
    _override(spec.option, config.physics)
    try:
        return spec, spec.compile()
    except (ValueError, mujoco.FatalError) as error:
        raise ModelError(f"scene '{config.name}' does not compile: {_one_line(error)}") from error


def _check_numbers(model: mujoco.MjModel) -> None:
    """Refuse numbers that MuJoCo's compiler lets pass, and which would end up in messages."""
    for kind, arrays in (
        ("body", (model.body_pos, model.body_quat, model.body_mass, model.body_inertia)),
        ("joint", (model.jnt_pos, model.jnt_axis)),
        ("site", (model.site_pos, model.site_quat)),
        ("camera", (model.cam_pos, model.cam_quat)),
        ("key", (model.key_qpos, model.key_qvel, model.key_ctrl, model.key_act)),
    ):
        for array in arrays:
            wrong = np.argwhere(~np.isfinite(array))
            if wrong.size:
                name = getattr(model, kind)(int(wrong[0, 0])).name
                raise ModelError(f"{kind} '{name}' of the model has a number that is not finite")


def _merge(config: SceneConfig) -> mujoco.MjSpec:
    """Attach every robot and object to the world, each under the prefix ``<name>/``."""
    if config.world is None:
        spec = mujoco.MjSpec()
        spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST  # damps servos implicitly
    else:
        spec = _load(config.path(config.world), "the world")
    spec.modelname = config.name
    parts: list[tuple[RobotConfig | ObjectConfig, mujoco.MjSpec]] = [
        (robot, _load_robot(config, i)) for i, robot in enumerate(config.robots)
    ]
    parts += [(it, _load(config.path(it.model), f"object '{it.name}'")) for it in config.objects]
    for entity, part in parts:
        frame = spec.worldbody.add_frame(
            pos=entity.pose.xyz, quat=quaternion_wxyz(entity.pose), name=f"{entity.name}/"
        )
        _adopt_options(part, spec)
        try:
            spec.attach(part, prefix=f"{entity.name}/", frame=frame)
        except (ValueError, mujoco.FatalError) as error:
            raise ModelError(f"'{entity.name}' cannot be merged: {_one_line(error)}") from error
    return spec


def _adopt_options(part: mujoco.MjSpec, whole: mujoco.MjSpec) -> None:
    """Give a part the physics options of the world, which rule anyway: no conflict to report."""
    for name in dir(whole.option):
        if not name.startswith("_"):
            setattr(part.option, name, getattr(whole.option, name))


def _load_robot(config: SceneConfig, index: int) -> mujoco.MjSpec:
    robot = config.robots[index]
    path = config.path(robot.model)
    spec = _load(path, f"robot '{robot.name}'")
    if robot.base == "free":
        try:
            free_base(spec)
        except ModelError as error:
            raise ModelError(f"robot '{robot.name}': {error}") from error
    elif robot.base == "fixed" and any(j.type == mujoco.mjtJoint.mjJNT_FREE for j in spec.joints):
        raise ModelError(f"robot '{robot.name}': 'base: fixed', but '{path}' has a free joint")
    return spec


def _load(path: Path, what: str) -> mujoco.MjSpec:
    if path.suffix == ".mjb":
        raise ModelError(
            f"{what}: '{path}' is a compiled model, which can only run alone; "
            "name its MJCF or URDF to merge it with others"
        )
    if path.suffix not in MODEL_SUFFIXES:
        raise ModelError(f"{what}: '{path}' is no model; known are {', '.join(MODEL_SUFFIXES)}")
    check_file(path, f"{what}: model file")
    return load_urdf(path) if path.suffix == ".urdf" else _load_mjcf(path)


def _load_mjcf(path: Path) -> mujoco.MjSpec:
    try:
        spec = mujoco.MjSpec.from_file(str(path))
    except (ValueError, mujoco.FatalError) as error:
        raise ModelError(f"{path}: {_one_line(error)}") from error
    _name_the_nameless(spec)
    return spec


def _name_the_nameless(spec: mujoco.MjSpec) -> None:
    """Name what ROS will speak of: topics, joint states and frames need names."""
    for kind, elements in (
        ("body", spec.bodies[1:]),
        ("joint", spec.joints),
        ("actuator", spec.actuators),
        ("sensor", spec.sensors),
        ("camera", spec.cameras),
    ):
        taken = {element.name for element in elements}
        for index, element in enumerate(elements):
            if not element.name:
                name = f"{kind}{index}"
                element.name = name if name not in taken else f"unnamed_{name}"


def _load_binary(config: SceneConfig) -> mujoco.MjModel:
    path = config.path(config.robots[0].model)
    if config.merged and (len(config.robots) > 1 or config.objects or config.world):
        raise ModelError(f"'{path}' is a compiled model, which can only run alone, without a world")
    check_file(path, "model file")
    try:
        return mujoco.MjModel.from_binary_path(str(path))
    except (ValueError, mujoco.FatalError) as error:
        raise ModelError(
            f"{path}: {_one_line(error)} (MJB files are made for one MuJoCo version, "
            f"here {mujoco.__version__})"
        ) from error


def _override(option: Any, physics: PhysicsConfig) -> None:
    """Write the options a scene sets over those of the model."""
    for name in PhysicsConfig.__slots__:
        value = getattr(physics, name)
        if value is not None:
            setattr(option, name, _ENUMS[name][value] if name in _ENUMS else value)


def quaternion_wxyz(pose: PoseConfig) -> np.ndarray:
    """Return a pose's rotation as a unit quaternion wxyz.  # (4,)."""
    quat = np.array([1.0, 0.0, 0.0, 0.0])
    if pose.quaternion_xyzw is not None:
        quat[:] = np.roll(pose.quaternion_xyzw, 1)
        mujoco.mju_normalize4(quat)
    elif pose.rpy is not None:
        mujoco.mju_euler2Quat(quat, np.array(pose.rpy), "XYZ")
    return quat


def _one_line(error: object) -> str:
    return " ".join(str(error).split())
