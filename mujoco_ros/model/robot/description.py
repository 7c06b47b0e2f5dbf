"""The robot_description of every robot in a scene, as RViz and robot_state_publisher need it."""

from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.robot.layout import ModelLayout, RobotLayout, lay_out
from mujoco_ros.model.scene.assembly import Assembly, assemble
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.model.scene.pose_config import PoseConfig
from mujoco_ros.model.strict import read_text
from mujoco_ros.model.urdf.exporting.exporter import export_urdf
from mujoco_ros.model.urdf.exporting.mesh_cache import user_cache
from mujoco_ros.model.urdf.importing.markup import parse_robot
from mujoco_ros.model.urdf.importing.mesh_file import find_mesh
from mujoco_ros.model.uri import resolve, share_directory


@dataclass(frozen=True, kw_only=True)
class RobotDescription:
    """A robot's URDF, the namespace of its topics and the prefix of its TF frames.

    Attributes:
        links: Names of all links, without the prefix.
        root: The link that no joint carries.
        floating: Links that hang by floating joints, which no joint state speaks of.
        pose: Where the root link stands if it is none of the robot's bodies but a link ``world``.
    """

    namespace: str
    frame_prefix: str
    urdf: str
    links: frozenset[str]
    root: str
    floating: frozenset[str]
    pose: PoseConfig


def describe(scene: str) -> list[RobotDescription]:
    """Return the descriptions of all robots of a scene, given as for `load_scene`.

    Raises:
        ModelError: The scene, or a file it names, is missing or wrong.
    """
    assembly = assemble(load_scene(scene))
    return descriptions(assembly, lay_out(assembly))


def descriptions(assembly: Assembly, layout: ModelLayout) -> list[RobotDescription]:
    """Return every robot's description: the URDF the scene names, else one made from the model."""
    config = assembly.config
    found = []
    for part, robot_config, robot in zip(
        assembly.robots, config.robots, layout.robots, strict=True
    ):
        source = robot_config.urdf
        if source is None and config.path(robot_config.model).suffix == ".urdf":
            source = robot_config.model
        pose = PoseConfig()
        if part.urdf is not None:
            urdf, pose = part.urdf, robot_config.pose
        elif source is not None:
            urdf, pose = _own_urdf(config.path(source), robot.name), robot_config.pose
        else:
            root = assembly.model.body(robot.roots[0]).name if len(robot.roots) == 1 else None
            urdf = export_urdf(
                assembly.model,
                root=root,
                prefix=robot.prefix,
                name=robot.name,
                mesh_uri=mesh_uri,
                mesh_cache=user_cache(),
                frames=[
                    assembly.model.site(lidar.site).name for lidar in robot.lidars if lidar.body
                ],
            )
        found.append(_description(urdf, robot, pose))
    return found


def mesh_uri(path: Path) -> str:
    """Return the URI under which other nodes find a mesh: ``package://`` for the package's own."""
    share = share_directory()
    if path.is_relative_to(share):
        return f"package://mujoco_ros/{path.relative_to(share).as_posix()}"
    return path.as_uri()


def _description(urdf: str, robot: RobotLayout, pose: PoseConfig) -> RobotDescription:
    tree = ElementTree.fromstring(urdf)
    links = [link.get("name", "") for link in tree.findall("link")]
    carried = {child.get("link") for child in tree.iterfind("joint/child")}
    floating = tree.iterfind("joint[@type='floating']/child")
    root = next((link for link in links if link not in carried), "")
    if root == "world" and not robot.frame_prefix and pose != PoseConfig():
        raise UserInputError(
            f"robot '{robot.name}': its URDF hangs on a link 'world', which is the world itself, "
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


def _own_urdf(path: Path, robot: str) -> str:
    """Return a URDF's text, with meshes that only this program would find named by their place."""
    try:
        text = read_text(path)
        tree = parse_robot(path)
    except UserInputError as error:
        raise UserInputError(f"robot '{robot}': URDF {error}") from error
    moved = False
    for mesh in tree.iter("mesh"):
        uri = mesh.get("filename", "")
        if uri.startswith("file://") or (uri.startswith("package://") and _is_found(uri, path)):
            continue
        try:
            mesh.set("filename", mesh_uri(find_mesh(uri, path)))
            moved = True
        except UserInputError:
            continue  # a mesh of another machine, perhaps; what is simulated was checked before
    return ElementTree.tostring(tree, encoding="unicode") if moved else text


def _is_found(uri: str, urdf: Path) -> bool:
    try:
        return resolve(uri, urdf.parent).is_file()
    except UserInputError:
        return False
