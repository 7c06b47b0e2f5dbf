"""Write the URDF of an MJCF model, for RViz, MoveIt and robot_state_publisher."""

import argparse
import logging
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import mujoco

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.urdf.exporting.exporter import export_urdf
from mujoco_ros.model.urdf.exporting.mesh_cache import MeshCache

_EPILOG = """\
The robots of this package are regenerated, from the top of the source tree, by
  for robot in humanoid quadruped arm; do
    python -m mujoco_ros.cli.export_urdf urdf_mjcf/$robot/$robot.xml \\
      -o urdf_mjcf/$robot/$robot.urdf --mesh-uri package://mujoco_ros/urdf_mjcf/$robot/meshes
  done
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; return its exit code."""
    logging.basicConfig(format="%(message)s")
    args = _parser().parse_args(argv)
    try:
        model = _load(args.model)
        urdf = export_urdf(
            model,
            root=args.root,
            name=args.name or _model_name(model) or args.model.stem,
            mesh_uri=Path.as_uri if args.mesh_uri is None else _below(args.mesh_uri),
            mesh_cache=MeshCache(args.mesh_folder.resolve()) if args.mesh_folder else None,
            frames=args.frame,
        )
        if args.output is None:
            sys.stdout.write(urdf)
        else:
            args.output.write_text(urdf, encoding="utf-8")
    except (UserInputError, OSError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m mujoco_ros.cli.export_urdf",
        description=__doc__,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("model", type=Path, help="the model: MJCF (.xml) or compiled (.mjb)")
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="default: standard output"
    )
    parser.add_argument(
        "--mesh-uri",
        metavar="URI",
        help="folder of the meshes as written into the URDF; default: file:// and where they lie",
    )
    parser.add_argument(
        "--mesh-folder",
        type=Path,
        metavar="FOLDER",
        help="where to write meshes of what URDF has no shape for (ellipsoids, height fields, "
        "meshes that are in no file); default: that is left out",
    )
    parser.add_argument("--name", help="the robot's name; default: the model's")
    parser.add_argument("--root", metavar="BODY", help="export only this body and what hangs on it")
    parser.add_argument(
        "--frame",
        action="append",
        default=[],
        metavar="SITE",
        help="write this site as a link too, as those with sensors are; may be repeated",
    )
    return parser


def _load(path: Path) -> mujoco.MjModel:
    if not path.is_file():
        raise UserInputError(f"{path}: no such file")
    try:
        if path.suffix == ".mjb":
            return mujoco.MjModel.from_binary_path(str(path))
        return mujoco.MjModel.from_xml_path(str(path))
    except (ValueError, mujoco.FatalError) as error:
        raise UserInputError(f"{path}: {' '.join(str(error).split())}") from error


def _model_name(model: mujoco.MjModel) -> str:
    return str(model.names[: model.names.index(b"\0")].decode())


def _below(folder: str) -> Callable[[Path], str]:
    """Return what writes meshes as files in `folder`; two files of one name are an error."""
    written: dict[str, Path] = {}

    def uri(path: Path) -> str:
        other = written.setdefault(path.name, path)
        if other != path:
            raise UserInputError(f"--mesh-uri: '{other}' and '{path}' would get the same URI")
        return f"{folder.rstrip('/')}/{path.name}"

    return uri


if __name__ == "__main__":
    sys.exit(main())
