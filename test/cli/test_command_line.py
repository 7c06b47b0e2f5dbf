"""No command replaces a file that it reads, or that its inputs name."""

import re
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
import pytest
import trimesh
from full_disk import full_disk

from mujoco_ros.cli import check_robot, draw_controller, export_urdf, import_policy
from mujoco_ros.controllers.catalogue import names

ONE_JOINT = '<body name="{0}"><joint name="{0}"/><geom size=".1"/></body>'
FILES = {
    "included.xml": f"<mujoco><worldbody>{ONE_JOINT.format('i')}</worldbody></mujoco>",
    "attached.xml": f"<mujoco><worldbody>{ONE_JOINT.format('a')}</worldbody></mujoco>",
    "model.xml": """<mujoco model="m">
<asset>
<mesh name="mesh" file="mesh.stl"/><hfield name="field" file="field.png" size="1 1 .1 .1"/>
<texture name="image" type="2d" file="image.png"/><material name="image" texture="image"/>
<model name="attached" file="attached.xml"/>
</asset>
<include file="included.xml"/>
<worldbody>
<geom type="hfield" hfield="field"/>
<body pos="0 0 1"><freejoint/><geom type="mesh" mesh="mesh" material="image"/></body>
<attach model="attached" prefix="a_"/>
</worldbody></mujoco>""",
    "macros.xacro": """<robot xmlns:xacro="http://www.ros.org/wiki/xacro">
<xacro:macro name="base"><link name="base"/></xacro:macro></robot>""",
    "values.yaml": "mass: 2.0",
    "robot.urdf.xacro": """<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">
<xacro:include filename="macros.xacro"/><xacro:base/>
<xacro:property name="values" value="${xacro.load_yaml('values.yaml')}"/>
<link name="arm"><inertial><mass value="${values['mass']}"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
<visual><geometry><mesh filename="mesh.stl"/></geometry></visual></link>
<joint name="j" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="10" velocity="1"/></joint></robot>""",
    "robot.srdf": '<robot name="r"/>',
    "gains.yaml": "j: {kp: 10, kd: 1}",
    "scene.yaml": """world: included.xml
robots: [{name: r, model: robot.urdf.xacro, gains: gains.yaml, srdf: robot.srdf}]""",
    "above.yaml": "extends: scene.yaml",
}
OF_MODEL = ("model.xml", "included.xml", "attached.xml", "mesh.stl", "field.png", "image.png")
OF_SCENE = (
    *("above.yaml", "scene.yaml", "included.xml", "robot.urdf.xacro", "macros.xacro"),
    *("values.yaml", "mesh.stl", "gains.yaml", "robot.srdf"),
)
Main = Callable[[list[str]], int]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    trimesh.creation.box((0.1, 0.1, 0.1)).export(tmp_path / "mesh.stl")
    for name in ("field.png", "image.png"):
        cv2.imwrite(str(tmp_path / name), np.arange(64, dtype=np.uint8).reshape(8, 8))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize(
    ("main", "source", "option", "inputs"),
    [
        (check_robot.main, "model.xml", "--html", OF_MODEL),
        (check_robot.main, "above.yaml", "--html", OF_SCENE),
        (export_urdf.main, "model.xml", "-o", OF_MODEL),
    ],
)
def test_no_file_of_a_model_is_replaced_by_any_name(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    main: Main,
    source: str,
    option: str,
    inputs: tuple[str, ...],
) -> None:
    (folder / "link").symlink_to(inputs[-1])
    (folder / "hard").hardlink_to(folder / inputs[0])
    before = contents(folder)
    for name in (*inputs, "link", "hard", f"../{folder.name}/{source}"):
        assert main([source, option, name]) == 1
        message = capsys.readouterr().err
        assert f"'{name}' is not written: it is an input, or a file that an input names" in message
    assert contents(folder) == before
    if source == "model.xml":
        assert main([source, option, "output"]) == 0
        assert main([source, option, "output"]) == 0, "an output is no input"


def test_a_full_disk_keeps_the_former_report(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # The limit would keep the middleware from sharing memory, too.
    monkeypatch.setattr(check_robot, "find_spec", lambda _: None)
    (folder / "report.html").write_text("former")
    before = contents(folder)
    with full_disk(1000):
        assert check_robot.main(["model.xml", "--html", "report.html"]) == 1
    assert "'report.html' cannot be written: File too large" in capsys.readouterr().err
    assert contents(folder) == before


def test_no_table_of_a_controller_is_replaced(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shipped = Path(draw_controller.__file__).parents[1] / "controllers" / "library"
    table = (shipped / "stand" / "stand.yaml").read_bytes()
    assert "stand" in names()
    (folder / "table.yaml").write_bytes(table)
    assert draw_controller.main(["table.yaml", "-o", "table.yaml"]) == 1
    assert "'table.yaml' is not written: it is an input" in capsys.readouterr().err
    assert (folder / "table.yaml").read_bytes() == table


def test_no_description_of_a_policy_is_replaced(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "deploy.yaml").write_text(DEPLOY)
    (folder / "policy.onnx").write_bytes(b"")
    command = ["deploy.yaml", "--policy", "policy.onnx", "--joints", "j", "--imu", ""]
    before = contents(folder)
    for name in ("deploy.yaml", "policy.onnx"):
        assert import_policy.main([*command, "-o", name]) == 1
        assert f"'{name}' is not written: it is an input" in capsys.readouterr().err
    assert contents(folder) == before
    assert import_policy.main([*command, "-o", "table.yaml"]) == 0


DEPLOY = """joint_ids_map: [0]
step_dt: 0.02
stiffness: [10.0]
damping: [1.0]
default_joint_pos: [0.0]
commands: {}
actions:
  JointPositionAction: {clip: null, scale: [0.25], offset: [0.0], joint_ids: null}
observations:
  joint_pos_rel: {params: {}, clip: null, scale: [1.0], history_length: 1}
"""


def test_no_command_writes_files_in_another_way() -> None:
    package = Path(check_robot.__file__).parents[1]
    folders = ("cli", "controllers/evaluation", "identification", "inspection", "model/urdf")
    writing = re.compile(
        r"\.write_(text|bytes)\(|os\.(replace|rename)\(|open\([^)]*[\"'][wx]b?[\"']"
    )
    found = [
        f"{path.name}: {line.strip()}"
        for folder in folders
        for path in sorted((package / folder).rglob("*.py"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if writing.search(line)
    ]
    assert found == []
