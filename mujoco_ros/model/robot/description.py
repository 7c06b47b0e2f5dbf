"""The robot_description of each robot of a scene."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from html import escape
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree

import mujoco

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.packages import package_directory, share_directory
from mujoco_ros.model.pose import PoseConfig
from mujoco_ros.model.robot.layout import ModelLayout, RobotLayout, lay_out
from mujoco_ros.model.scene.assembly import Assembly, assemble
from mujoco_ros.model.scene.config import RobotConfig, load_scene
from mujoco_ros.model.scene.parts import ScenePart
from mujoco_ros.model.strict import read_text
from mujoco_ros.model.urdf.exporting.exporter import WORLD, export_urdf
from mujoco_ros.model.urdf.exporting.meshes import user_cache
from mujoco_ros.model.urdf.importing.markup import parse_robot
from mujoco_ros.model.urdf.importing.mesh_file import find_mesh

_ANY_NAME = "robot"


@dataclass(frozen=True, kw_only=True)
class RobotDescription:
    """A robot's URDF."""

    namespace: str
    frame_prefix: str
    urdf: str
    links: frozenset[str]  # names of all links, without the prefix
    root: str
    # Child links of floating and planar joints, which joint states do not contain as such
    floating: frozenset[str]
    pose: PoseConfig  # pose of a root link ``world``, which is no body of the robot


def describe(scene: str) -> list[RobotDescription]:
    """Return the descriptions of the robots of a scene, given as for `load_scene`."""
    assembly = assemble(load_scene(scene))
    return descriptions(assembly, lay_out(assembly))


def descriptions(
    assembly: Assembly,
    layout: ModelLayout,
    known: Mapping[ScenePart, RobotDescription] | None = None,
) -> list[RobotDescription]:
    """Return each robot's description: the URDF of the scene, or one exported from the model.

    Those `known` from before a change of the scene are used again.
    """
    config, known, share = assembly.config, known or {}, share_directory()
    found = []
    exported: list[
        tuple[RobotConfig, str]
    ] = []  # robots of equal models differ in their names only
    for part, robot_config, robot in zip(
        assembly.robots, config.robots, layout.robots, strict=True
    ):
        if part in known:
            found.append(known[part])
            continue
        source = robot_config.urdf or robot_config.model
        text = part.urdf if robot_config.urdf is None else part.described
        path, pose = config.path(source), robot_config.pose
        if text is not None and not source:
            urdf = text
        elif robot_config.urdf or text is not None or path.suffix.lower() == ".urdf":
            urdf = _with_resolved_meshes(path, text, robot.name, config.package_folders)
        else:
            pose = PoseConfig()
            model = replace(robot_config, name=_ANY_NAME, namespace=None)
            urdf = next((urdf for other, urdf in exported if _is_same(model, other, urdf)), "")
            if not urdf:
                urdf = export_robot(assembly.model, robot, partial(mesh_uri, share=share))
                exported.append((model, urdf))
            name = escape(robot.name)
            urdf = urdf.replace(f'name="{_ANY_NAME}"', f'name="{name}"', 1)
        found.append(_description(urdf, robot, pose))
    return found


def export_robot(
    model: mujoco.MjModel, robot: RobotLayout, uri: Callable[[Path], str], name: str = _ANY_NAME
) -> str:
    """Return the URDF of a robot of a scene, with the numbers of `model`.

    `uri` returns the URI of a mesh file; `name` is the robot's name in the URDF.
    """
    return export_urdf(
        model,
        root=model.body(robot.roots[0]).name if len(robot.roots) == 1 else None,
        prefix=robot.prefix,
        name=name,
        mesh_uri=uri,
        mesh_cache=user_cache(),
        frames=[model.site(lidar.site).name for lidar in robot.lidars if lidar.body],
    )


def _is_same(robot: RobotConfig, other: RobotConfig, urdf: str) -> bool:
    """Whether `urdf`, exported for another robot of the scene, is the URDF of a robot as well."""
    if f'<link name="{WORLD}"' not in urdf:  # else it contains the pose
        robot = replace(robot, pose=other.pose)
    return robot == other


def mesh_uri(path: Path, share: Path | None = None) -> str:
    """Return the URI of a mesh for other nodes: ``package://`` for files of this package.

    `share` is the package's share directory, for callers with many meshes.
    """
    share = share or share_directory()
    if path.is_relative_to(share):
        return f"package://mujoco_ros/{path.relative_to(share).as_posix()}"
    return path.as_uri()


def _description(urdf: str, robot: RobotLayout, pose: PoseConfig) -> RobotDescription:
    tree = ElementTree.fromstring(urdf)
    links = [link.get("name", "") for link in tree.findall("link")]
    children = {child.get("link") for child in tree.iterfind("joint/child")}
    kinds = ("floating", "planar")
    floating = [child for k in kinds for child in tree.iterfind(f"joint[@type='{k}']/child")]
    root = next((link for link in links if link not in children), "")
    if root == "world" and not robot.frame_prefix and pose != PoseConfig():
        raise UserInputError(
            f"robot '{robot.name}': the root link of its URDF is 'world', which is fixed, "
            "so it cannot have a 'pose'; move it in the URDF"
        )
    return RobotDescription(
        namespace=robot.namespace,
        frame_prefix=robot.frame_prefix,
        urdf=urdf,
        links=frozenset(links),
        root=root,
        floating=frozenset(child.get("link", "") for child in floating),
        pose=pose,
    )


def _with_resolved_meshes(
    path: Path, text: str | None, robot: str, packages: Mapping[str, Path]
) -> str:
    """Return the text of a URDF, with URIs of meshes that other programs can resolve."""
    try:
        text = read_text(path) if text is None else text
        tree = parse_robot(path, text)
    except UserInputError as error:
        raise UserInputError(f"robot '{robot}': URDF {error}") from error
    moved = False
    for mesh in tree.iter("mesh"):
        uri = mesh.get("filename", "")
        if uri.startswith("file://") or (uri.startswith("package://") and _is_found(uri)):
            continue
        try:
            mesh.set("filename", mesh_uri(find_mesh(uri, path, packages=packages)))
            moved = True
        except UserInputError:
            continue  # may exist on another machine; the simulated model was checked before
    return ElementTree.tostring(tree, encoding="unicode") if moved else text


def _is_found(uri: str) -> bool:
    """Whether other programs find the file of a URI, in an installed package."""
    package, _, path = uri.removeprefix("package://").partition("/")
    try:
        return (package_directory(package) / unquote(path)).is_file()
    except (UserInputError, OSError, ValueError):
        return False
