"""The robot_description of every robot in a scene, as RViz and robot_state_publisher need it."""

from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from mujoco_ros.model.assembly import Assembly, assemble
from mujoco_ros.model.errors import ModelError
from mujoco_ros.model.layout import Layout, lay_out
from mujoco_ros.model.scene import load_scene
from mujoco_ros.model.strict import read_text
from mujoco_ros.model.urdf.exporter import export_urdf
from mujoco_ros.model.uri import share_directory


@dataclass(frozen=True, kw_only=True)
class RobotDescription:
    """A robot's URDF, the namespace of its topics and the prefix of its TF frames."""

    namespace: str
    frame_prefix: str
    urdf: str


def describe(scene: str) -> list[RobotDescription]:
    """Return the descriptions of all robots of a scene, given as for `load_scene`.

    Raises:
        ModelError: The scene, or a file it names, is missing or wrong.
    """
    assembly = assemble(load_scene(scene))
    return descriptions(assembly, lay_out(assembly))


def descriptions(assembly: Assembly, layout: Layout) -> list[RobotDescription]:
    """Return every robot's description: the URDF the scene names, else one made from the model."""
    config = assembly.config
    found = []
    for robot_config, robot in zip(config.robots, layout.robots, strict=True):
        source = robot_config.urdf
        if source is None and config.path(robot_config.model).suffix == ".urdf":
            source = robot_config.model
        if source is not None:
            urdf = _read(config.path(source), robot.name)
        else:
            root = assembly.model.body(robot.roots[0]).name if len(robot.roots) == 1 else None
            urdf = export_urdf(
                assembly.model, root=root, prefix=robot.prefix, name=robot.name, mesh_uri=mesh_uri
            )
        found.append(
            RobotDescription(namespace=robot.namespace, frame_prefix=robot.frame_prefix, urdf=urdf)
        )
    return found


def mesh_uri(path: Path) -> str:
    """Return the URI under which other nodes find a mesh: ``package://`` for the package's own."""
    share = share_directory()
    if path.is_relative_to(share):
        return f"package://mujoco_ros/{path.relative_to(share).as_posix()}"
    return path.as_uri()


def _read(path: Path, robot: str) -> str:
    try:
        urdf = read_text(path)
        tag = ElementTree.fromstring(urdf).tag
    except ModelError as error:
        raise ModelError(f"robot '{robot}': URDF {error}") from error
    except ElementTree.ParseError as error:
        raise ModelError(f"robot '{robot}': URDF {path}: not well-formed XML: {error}") from error
    if tag != "robot":
        raise ModelError(f"robot '{robot}': {path} is no URDF: it is <{tag}>, not <robot>")
    return urdf
