"""The entities of simulation_interfaces in a model: robots, objects and loose bodies."""

from dataclasses import dataclass
from enum import StrEnum

import mujoco
import numpy as np

from mujoco_ros.model.body_tree import free_joint
from mujoco_ros.model.pose import PoseConfig, quaternion_wxyz
from mujoco_ros.model.robot.layout import ModelLayout, RobotLayout
from mujoco_ros.model.scene.assembly import Assembly

_FREE = int(mujoco.mjtJoint.mjJNT_FREE)


class EntityKind(StrEnum):
    """Kind of an entity."""

    ROBOT = "robot"
    OBJECT = "object"
    BODY = "body"
    """A top-level body outside all robots and objects; it cannot be deleted."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Entity:
    """An entity; its frame is the frame of its root body, also in TF."""

    name: str
    kind: EntityKind
    root: int  # body with the pose of the entity; 0, the world, if it consists of static geoms only
    # Pose of the entity's frame in the frame of the root, position [m] and quaternion wxyz:
    # identity, except for static geoms (7,)
    offset: np.ndarray
    bodies: tuple[int, ...]
    geoms: tuple[int, ...]
    # Addresses of the root's free joint in qpos and in qvel; None without one
    free: tuple[int, int] | None = None
    mocap: int | None = None  # mocap index of the root; None if it is not a mocap body
    jointed: bool = False  # whether joints connect its root to the world
    moves: bool = False  # whether any of its bodies can move


def entities(assembly: Assembly, layout: ModelLayout) -> dict[str, Entity]:
    """Return the entities of a model by name, robots first, in the order of the scene.

    A robot or object is one entity. Its other children of the world that are free or mocap bodies
    are entities of their own, and so are all other children of the world in the world's file, or in
    a model that is the whole scene. These have the names of their TF frames.
    """
    model, config = assembly.model, assembly.config
    finder = _Finder(model)
    for robot in layout.robots:
        finder.add_robot(robot)
    for entity in config.objects:
        finder.add_object(entity.name, entity.pose)
    finder.add_rest({base.body: frame for frame, base in layout.free_objects})
    return finder.found


class _Finder:
    """Assigns the children of the world to entities."""

    def __init__(self, model: mujoco.MjModel) -> None:
        self.found: dict[str, Entity] = {}
        self._model = model
        self._below: dict[int, list[int]] = {}
        for body in range(1, model.nbody):
            self._below.setdefault(int(model.body_rootid[body]), []).append(body)
        self._geoms: dict[int, list[int]] = {}
        for geom, body in enumerate(model.geom_bodyid):
            self._geoms.setdefault(int(body), []).append(geom)
        self._of_world = {geom: model.geom(geom).name for geom in self._geoms.get(0, ())}
        self._left = list(self._below)

    def add_robot(self, robot: RobotLayout) -> None:
        of_base = [base.body for base in robot.bases]
        articulated = [root for root in robot.roots if self._is_articulated(root)]
        own = [*of_base, *articulated] or list(robot.roots[:1])
        # In a model that is the whole scene, other bodies are walls and tables.
        rest = [b for b in robot.roots if robot.prefix and not self._moves_by_itself(b)]
        self._add(robot.name, EntityKind.ROBOT, [*own, *rest], robot.prefix)

    def add_object(self, name: str, pose: PoseConfig) -> None:
        prefix = f"{name}/"
        roots = [b for b in self._left if self._model.body(b).name.startswith(prefix)]
        moving = [b for b in roots if self._moves_by_itself(b)][:1]
        own = [*moving, *(b for b in roots if not self._moves_by_itself(b))]
        self._add(name, EntityKind.OBJECT, own, prefix, None if own else pose)

    def add_rest(self, frames: dict[int, str]) -> None:
        for body in tuple(self._left):
            name = frames.get(body) or self._model.body(body).name or f"body{body}"
            while name in self.found:  # a body of the world's file may have the name of a robot
                name += "_body"
            self._add(name, EntityKind.BODY, [body], "")

    def _add(
        self,
        name: str,
        kind: EntityKind,
        roots: list[int],
        prefix: str,
        pose: PoseConfig | None = None,
    ) -> None:
        model = self._model
        roots = list(dict.fromkeys(roots))
        self._left = [body for body in self._left if body not in roots]
        bodies = tuple(body for root in roots for body in self._below[root])
        geoms = [geom for body in bodies for geom in self._geoms.get(body, ())]
        if prefix:  # its geoms on the world
            geoms += [geom for geom, own in self._of_world.items() if own.startswith(prefix)]
        offset = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
        if pose is not None:
            offset[:3], offset[3:] = pose.xyz, quaternion_wxyz(pose)
        root = roots[0] if roots else 0
        joint = free_joint(self._model, root)
        mocap = int(model.body_mocapid[root]) if root else -1
        self.found[name] = Entity(
            name=name,
            kind=kind,
            root=root,
            offset=offset,
            bodies=bodies,
            geoms=tuple(geoms),
            free=None
            if joint is None
            else (int(model.jnt_qposadr[joint]), int(model.jnt_dofadr[joint])),
            mocap=None if mocap < 0 else mocap,
            jointed=bool(root and model.body_jntnum[root]),
            moves=any(model.body_jntnum[b] or model.body_mocapid[b] >= 0 for b in bodies),
        )

    def _moves_by_itself(self, body: int) -> bool:
        return free_joint(self._model, body) is not None or bool(
            self._model.body_mocapid[body] >= 0
        )

    def _is_articulated(self, root: int) -> bool:
        """Whether there is a joint below `root` that is not free."""
        model = self._model
        of_root = model.body_rootid[model.jnt_bodyid] == root
        return bool(np.any(of_root & (model.jnt_type != _FREE)))
