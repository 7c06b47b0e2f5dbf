"""Write the URDF of an MJCF model, for RViz, MoveIt and robot_state_publisher."""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import mujoco

from mujoco_ros.cli import command_line
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.file_access import read_file
from mujoco_ros.model.scene.asset_snapshot import snapshot_files
from mujoco_ros.model.scene.config import load_scene, shipped_scenes
from mujoco_ros.model.scene.mjcf_files import read_mjcf
from mujoco_ros.model.urdf.exporting.exporter import export_urdf
from mujoco_ros.model.urdf.exporting.meshes import MeshCache

_EPILOG = """\
The URDFs of this package are regenerated, from the top of the source tree, by
  for robot in humanoid quadruped rover arm; do
    python -m mujoco_ros.cli.export_urdf urdf_mjcf/$robot/$robot.xml \\
      -o urdf_mjcf/$robot/$robot.urdf --mesh-uri package://mujoco_ros/urdf_mjcf/$robot/meshes
  done
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the URDF; return the exit code."""
    command_line.log_to_terminal("%(message)s")
    return command_line.run_command(_parser(), _export, arguments)


def _export(options: argparse.Namespace) -> None:
    model = _load(options.model)
    own_name = model.names[: model.names.index(b"\0")].decode()
    urdf = export_urdf(
        model,
        root=options.root,
        name=options.name or own_name or options.model.stem,
        mesh_uri=Path.as_uri if options.mesh_uri is None else _in_folder(options.mesh_uri),
        mesh_cache=MeshCache(options.mesh_folder.resolve()) if options.mesh_folder else None,
        frames=options.frame,
    )
    command_line.write_output(urdf, options.output)


def _parser() -> argparse.ArgumentParser:
    parser = command_line.create_parser("python -m mujoco_ros.cli.export_urdf", __doc__, _EPILOG)
    add = parser.add_argument
    add("model", type=Path, help="the model: MJCF (.xml) or compiled (.mjb)")
    command_line.add_output(parser)
    add(
        "--mesh-uri",
        metavar="URI",
        help="folder of the meshes in the URDF; default: file:// and their actual path",
    )
    add(
        "--mesh-folder",
        type=Path,
        metavar="FOLDER",
        help="folder for meshes of shapes that URDF lacks (ellipsoids, height fields, meshes "
        "without a file); default: these shapes are left out",
    )
    add("--name", help="name of the robot; default: the model's name")
    add("--root", metavar="BODY", help="export only this body and its descendants")
    add(
        "--frame",
        action="append",
        default=[],
        metavar="SITE",
        help="export this site as a link, like sites with sensors; may be repeated",
    )
    return parser


def _load(path: Path) -> mujoco.MjModel:
    if not path.exists() and str(path) in shipped_scenes():
        scene = load_scene(str(path))
        models = dict.fromkeys(str(scene.path(robot.model)) for robot in scene.robots)
        raise UserInputError(f"'{path}' is a scene; give the model of a robot: {', '.join(models)}")
    try:
        if path.suffix == ".mjb":
            content = read_file(path, "model")
            return mujoco.MjModel.from_binary_path(str(path), {str(path): content})
        spec = read_mjcf(path.absolute(), str(path))
        files = snapshot_files(spec, path.absolute().parent)
        spec.assets = {file.path: file.content for file in files}
        return spec.compile()
    except UserInputError:
        raise
    except (ValueError, mujoco.FatalError) as error:
        raise UserInputError(f"{path}: {' '.join(str(error).split())}") from error


def _in_folder(folder: str) -> Callable[[Path], str]:
    """Return the function from a mesh file to its URI in a folder, where names must be unique."""
    written: dict[str, Path] = {}

    def uri(path: Path) -> str:
        other = written.setdefault(path.name, path)
        if other != path:
            raise UserInputError(f"--mesh-uri: '{other}' and '{path}' would get the same URI")
        return f"{folder.rstrip('/')}/{path.name}"

    return uri


if __name__ == "__main__":
    sys.exit(main())
