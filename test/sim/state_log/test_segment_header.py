"""Description of a scene in the log."""

import json
import zlib

import mujoco
import numpy as np
import pytest

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.robot.layout import lay_out
from mujoco_ros.model.scene.assembly import assemble
from mujoco_ros.model.scene.config import load_scene, read_scene
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.state.playback import Playback
from mujoco_ros.sim.state_log import segment_header
from mujoco_ros.sim.state_log.reader import StateLog
from mujoco_ros.sim.state_log.row_format import MAGIC, ROWS, SEGMENT, find_records, write_record
from mujoco_ros.sim.state_log.segment_header import assembly
from mujoco_ros.sim.state_log.writer import RingBuffer, StateLogWriter, describe, describe_robots

ROBOT = """
<mujoco><worldbody>
  <body name="link"><joint/><geom size="0.1"/><camera name="eye"/></body>
</worldbody></mujoco>"""
SCENE = """
robots:
  - name: arm
    model: robot.xml
    cameras:
      - {name: eye, resolution: [64, 48], rate: 5, noise: {colour: 2}}
      - {name: new, body: link, pose: {xyz: [0, 0, 1]}, intrinsics: {fx: 9, fy: 9, cx: 3, cy: 4}}
    lidars: [{name: top, body: link, vertical: {samples: 4, max: 0.3}, groups: [0, 3]}]
cameras: [{name: high, body: world, depth_encoding: 16UC1}]
lidars: [{name: wall, body: world, range: {max: 5}}]
"""


def test_cameras_and_lidars_are_read_as_they_were_written(tmp_path):
    (tmp_path / "robot.xml").write_text(ROBOT)
    (tmp_path / "scene.yaml").write_text(SCENE)
    config = read_scene(tmp_path / "scene.yaml")
    simulation = Simulation(config)
    header = json.loads(json.dumps(describe(simulation.plant, describe_robots(simulation.plant))))
    read = assembly(header, simulation.model)
    assert read.config.robots[0].cameras == config.robots[0].cameras
    assert read.config.robots[0].lidars == config.robots[0].lidars
    assert (read.config.cameras, read.config.lidars) == (config.cameras, config.lidars)
    layout, before = lay_out(read), lay_out(assemble(config))
    assert layout.every_camera == before.every_camera
    assert layout.every_lidar == before.every_lidar


def test_the_header_has_the_controls_that_no_joint_reference_drives(tmp_path):
    (tmp_path / "robot.xml").write_text("""
        <mujoco><worldbody><body><joint name="j"/><geom size="0.1"/></body></worldbody>
        <tendon><fixed name="t"><joint joint="j" coef="1"/></fixed></tendon>
        <actuator><motor name="m" joint="j"/><motor name="winch" tendon="t"/></actuator></mujoco>
    """)
    (tmp_path / "scene.yaml").write_text("robots: [{name: arm, model: robot.xml}]")
    plant = Simulation(read_scene(tmp_path / "scene.yaml")).plant
    assert describe(plant, describe_robots(plant))["controls"] == {"arm": {"winch": 1}}


# --- headers that another program wrote

DELETED = object()
HEADERS = [
    ((), []),
    ((), None),
    (("scene",), DELETED),
    (("scene",), 3),
    (("mujoco",), DELETED),
    (("mujoco",), []),
    (("timestep",), 0.0),
    (("timestep",), float("nan")),
    (("timestep",), "x"),
    (("every",), -1),
    (("every",), 10**30),
    (("fields",), DELETED),
    (("fields",), {}),
    (("fields",), []),
    (("fields", 0), {"name": "time"}),
    (("fields", 0, "name"), "qpos"),
    (("fields", 0, "shape"), [1]),
    (("fields", 1, "shape"), [-3]),
    (("fields", 1, "shape"), [2**40]),
    (("fields", 1, "shape"), [1]),
    (("fields", 1, "shape"), "14"),
    (("joints",), []),
    (("joints", "arm/shoulder_pan_joint"), [10**6, 0]),
    (("joints", "arm/shoulder_pan_joint"), [-1, 0]),
    (("joints", "arm/shoulder_pan_joint"), None),
    (("sensors",), None),
    (("actuators",), ["x"] * 99),
    (("references",), ["x"]),
    (("references",), DELETED),
    (("robots",), "x"),
    (("robots", 0), 3),
    (("robots", 0, "prefix"), DELETED),
    (("robots", 0, "prefix"), "other/"),
    (("robots", 0, "description"), {}),
    (("robots", 0, "surprise"), 1),
    (("robots", 0, "pose"), "x"),
    (("cameras",), [1]),
    (("merged",), DELETED),
    (("plugins",), []),
    (("plugins",), {"not.loaded": 0}),
    (("plugins",), {"mujoco.pid": "0"}),
]


@pytest.fixture(scope="module")
def parts(tmp_path_factory) -> tuple[dict, bytes, bytes]:
    """Header, compressed model and rows of a log."""
    simulation = Simulation(load_scene("arm"))
    path = tmp_path_factory.mktemp("logs") / "run.mjlog"
    writer = StateLogWriter(path)
    ring = RingBuffer(simulation.plant, 1)
    writer.add(ring)
    for _ in range(3):
        simulation.step()
        ring.add_step()
    writer.close()
    content = path.read_bytes()
    first, rows = (
        content[it.offset : it.offset + it.length] for it in find_records(path, content)[0]
    )
    end = 8 + int.from_bytes(first[:8], "little")
    return json.loads(first[8:end]), first[end:], rows


def write(path, *records: tuple[bytes, bytes]) -> None:
    with path.open("wb") as file:
        file.write(MAGIC)
        for kind, content in records:
            write_record(file, kind, [content])


def segment(header: object, model: bytes) -> tuple[bytes, bytes]:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return SEGMENT, len(text).to_bytes(8, "little") + text + model


def use(path) -> None:
    """Read all that a log has, and show its first row."""
    (read,) = StateLog.open(path).segments
    read.load_state(0, mujoco.MjData(read.model))
    assert Playback(StateLog.open(path), lambda _segment: None).step()


def refused(path) -> str:
    """Return the sentence with which a log is refused, which names the file."""
    with pytest.raises(UserInputError) as error:
        use(path)
    sentence = str(error.value)
    assert f"'{path}'" in sentence
    assert "\n" not in sentence
    return sentence


@pytest.mark.parametrize(("keys", "value"), HEADERS)
def test_a_foreign_header_gets_one_sentence_that_names_the_file(tmp_path, parts, keys, value):
    header, model, rows = json.loads(json.dumps(parts[0])), *parts[1:]
    if not keys:
        header = value
    else:
        inner = header
        for key in keys[:-1]:
            inner = inner[key]
        if value is DELETED:
            del inner[keys[-1]]
        else:
            inner[keys[-1]] = value
    path = tmp_path / "foreign.mjlog"
    write(path, segment(header, model), (ROWS, rows))
    refused(path)


def test_a_later_version_may_have_more_keys(tmp_path, parts):
    path = tmp_path / "later.mjlog"
    write(path, segment(parts[0] | {"colour": "red"}, parts[1]), (ROWS, parts[2]))
    use(path)


@pytest.mark.parametrize("text", [b"", b"{", b"\xff\xfe", b"[" * 100_000, b"9" * 9999])
def test_a_header_that_is_no_json_gets_one_sentence(tmp_path, parts, text):
    path = tmp_path / "foreign.mjlog"
    write(path, segment(text, parts[1]))
    refused(path)


def test_records_that_do_not_fit_get_one_sentence(tmp_path, parts):
    header, model, rows = parts
    path = tmp_path / "foreign.mjlog"
    write(path, (ROWS, rows))
    assert "rows without a model" in refused(path)
    for missing in (3, 8):
        write(path, segment(header, model), (ROWS, rows[:-missing]))
        assert "no whole rows" in refused(path)
    for content in (b"", b"\xff" * 8):
        write(path, (SEGMENT, content))
        assert "longer than its record" in refused(path)


def test_a_model_that_is_no_model_gets_one_sentence(tmp_path, parts, capfd, monkeypatch):
    header, model, rows = parts
    other = mujoco.MjModel.from_xml_string("<mujoco/>")
    binary = np.empty(mujoco.mj_sizeModel(other), np.uint8)
    mujoco.mj_saveModel(other, None, binary)
    path = tmp_path / "foreign.mjlog"
    for content in (b"", model[: len(model) // 2], b"x" * 99, zlib.compress(b"x" * 99)):
        write(path, segment(header, content), (ROWS, rows))
        assert "or it is damaged" in refused(path)
    write(path, segment(header, zlib.compress(binary.tobytes())), (ROWS, rows))
    assert "field 'qpos' of shape [0], but the rows have [" in refused(path)
    monkeypatch.setattr(segment_header, "MAX_MODEL_BYTES", 1000)
    write(path, segment(header, zlib.compress(bytes(1001))), (ROWS, rows))
    assert "more than 1000 bytes" in refused(path)
    assert capfd.readouterr() == ("", "")
