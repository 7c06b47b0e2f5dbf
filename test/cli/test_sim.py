"""Errors of the command line."""

import logging
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

rclpy = pytest.importorskip("rclpy")

from mujoco_ros.cli.node_process import ros  # noqa: E402
from mujoco_ros.cli.sim import main  # noqa: E402

ROOT = Path(__file__).parents[2]
PREFIX = "mujoco_ros: error: "
MJCF = '<mujoco><worldbody>{}</worldbody><keyframe><key name="home"/></keyframe></mujoco>'
MOVING = MJCF.format('<body name="b"><joint name="j"/><geom size="0.1"/></body>')
MESH = '<mujoco><asset><mesh name="m" file="{}"/></asset><worldbody/></mujoco>'


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A working directory with models; changes of the process by `main` are reverted."""
    (tmp_path / "robot.xml").write_text(MOVING)
    (tmp_path / "still.xml").write_text(MJCF.format('<geom size="0.1"/>'))
    (tmp_path / "broken.xml").write_text("<mujoco><worldbody></mujoco>")
    (tmp_path / "mesh.xml").write_text(MESH.format("missing.stl"))
    (tmp_path / "bad_mesh.xml").write_text(MESH.format("bad.stl"))
    (tmp_path / "bad.stl").write_bytes(b"no mesh")
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path)
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    interval = sys.getswitchinterval()
    logged = list(logging.getLogger("mujoco_ros").handlers)
    yield tmp_path
    for number, handler in handlers.items():
        signal.signal(number, handler)
    sys.setswitchinterval(interval)
    logging.getLogger("mujoco_ros").handlers[:] = logged


@pytest.fixture
def fail(capfd: pytest.CaptureFixture[str]):
    """Run the command line, which must fail with one error line; return that line."""

    def runner(*arguments: str) -> str:
        code = main(arguments)
        captured = capfd.readouterr()
        assert code == 1
        return the_error(captured.out, captured.err)

    return runner


def the_error(out: str, err: str) -> str:
    assert "Traceback" not in out + err
    errors = [line for line in err.splitlines() if line.startswith(PREFIX)]
    assert len(errors) == 1, err
    others = [line for line in err.splitlines() if line and line not in errors]
    assert all(line.startswith("[") for line in others), err  # ROS' own log lines
    return errors[0].removeprefix(PREFIX)


def parameters(**values: str) -> list[str]:
    pairs = (f"{name}:={value}" for name, value in values.items())
    return ["--ros-args", *(word for pair in pairs for word in ("-p", pair))]


# --- scenes and models

SCENES = {
    "unknown key": ("robot: []", "scene.yaml: key 'robot' not found (did you mean 'robots'?)"),
    "unknown nested key": (
        "robots: [{name: r, model: robot.xml, pse: {}}]",
        "scene.yaml.robots[0]: key 'pse' not found (did you mean 'pose'?)",
    ),
    "broken yaml": ("robots: [", "scene.yaml: not valid YAML: line 1: "),
    "no robots": ("robots: []", "a scene needs at least one robot"),
    "bad keyframe": (
        "robots: [{name: r, model: robot.xml, keyframe: hme}]",
        "robot 'r': keyframe 'hme' not found (did you mean 'home'?); there are: home",
    ),
    "missing model": (
        "robots: [{name: r, model: missing.xml}]",
        "robot 'r': model file '{}/missing.xml' does not exist",
    ),
    "broken model": ("robots: [{name: r, model: broken.xml}]", "{}/broken.xml: XML parse error"),
    "missing mesh": ("robots: [{name: r, model: mesh.xml}]", "missing.stl"),
    "broken mesh": ("robots: [{name: r, model: bad_mesh.xml}]", "bad.stl"),
    "no joint": ("robots: [{name: r, model: still.xml}]", "the model has no joint"),
    "name with a space": ("robots: [{name: r r, model: robot.xml}]", "name 'r r' is not valid"),
    "name with a slash": ("robots: [{name: r/r, model: robot.xml}]", "name 'r/r' is not valid"),
    "same names": (
        "robots: [{name: r, model: robot.xml}, {name: r, model: robot.xml}]",
        "two robots or objects are named 'r'; names must differ",
    ),
    "missing plugin folder": (
        "plugins: [missing]\nrobots: [{name: r, model: robot.xml}]",
        "plugin folder '{}/missing' does not exist",
    ),
    "empty plugin folder": (
        "plugins: [empty]\nrobots: [{name: r, model: robot.xml}]",
        "plugin folder '{}/empty' has no library",
    ),
    "missing gains": (
        "robots: [{name: r, model: robot.xml, gains: gains.yaml}]",
        "'{}/gains.yaml' does not exist",
    ),
    "wrong urdf": (
        "robots: [{name: r, model: robot.xml, urdf: robot.xml}]",
        "robot 'r': URDF {}/robot.xml: the top element is <mujoco>; a URDF starts with <robot>",
    ),
}


@pytest.mark.parametrize("mistake", SCENES)
def test_an_error_in_a_scene_is_one_clear_line(fail, folder, mistake):
    text, message = SCENES[mistake]
    (folder / "scene.yaml").write_text(text)
    assert message.format(folder) in fail(*parameters(scene="scene.yaml"))


@pytest.mark.parametrize(
    ("scene", "message"),
    [
        ("humaniod", "scene 'humaniod' not found (did you mean 'humanoid'?); there are: arm, "),
        ("missing.yaml", "scene file '{}/missing.yaml' does not exist; give a file or one of: arm"),
        ("missing.xml", "scene file '{}/missing.xml' does not exist"),
        ("broken.xml", "{}/broken.xml: XML parse error"),
        ("still.xml", "scene 'still': the model has no joint, so nothing can move"),
        ("bad.stl", "unknown kind of file '.stl'; a scene is .yaml, a model is one of .xml"),
        ("http://host/a.yaml", "URI scheme 'http' is not supported; use package:// or file://"),
    ],
)
def test_a_scene_that_cannot_be_loaded_is_one_clear_line(fail, folder, scene, message):
    assert message.format(folder) in fail(*parameters(scene=scene))


# --- parameters and arguments


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("scne", "arm", "parameter 'scne' not found (did you mean 'scene'?); there are: scene, "),
        ("publish_rate.imus", "1.0", "'publish_rate.imus' not found (did you mean 'publish_rate.i"),
        ("scene", "3", "parameter 'scene' cannot be 3: it is a text"),
        ("scene", "[a, b]", "parameter 'scene' cannot be ['a', 'b']: it is a text"),
        ("tf", "some", "parameter 'tf' cannot be 'some': it is one of base, all, none"),
        ("on_divergence", "stop", "cannot be 'stop': it is one of reset, pause, shutdown"),
        ("real_time_factor", "-1.0", "parameter 'real_time_factor' cannot be -1.0: it is a number"),
        ("real_time_factor", "1e9", "'real_time_factor' cannot be 1000000000.0: it is a number"),
        ("real_time_factor", ".nan", "parameter 'real_time_factor' cannot be nan: it is a number"),
        ("real_time_factor", "fast", "parameter 'real_time_factor' cannot be 'fast': it is a num"),
        ("seed", "-1", "parameter 'seed' cannot be -1: it is an integer from 0 to 2147483647"),
        ("seed", "1.5", "parameter 'seed' cannot be 1.5: it is an integer from 0 to 2147483647"),
        ("sensor_noise", "1", "parameter 'sensor_noise' cannot be 1: it is true or false"),
    ],
)
def test_an_invalid_parameter_is_one_clear_line_with_the_valid_values(fail, name, value, message):
    assert message in fail(*parameters(**{"scene": "robot.xml", name: value}))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--bogus"], "--bogus"),
        (["scene:=arm"], "unknown after --ros-args: scene:=arm; a parameter is given as '-p "),
        (["-r", "nonsense"], "-r nonsense: a parameter is given as '-p name:=value', "),
        (["-p"], "-p"),
        (["-p", "scene"], "-p scene: a parameter is given as '-p name:=value', another "),
        (["-p", "scene:="], "-p scene:=: a parameter is given as '-p name:=value', "),
        (["--params-file", "none.yaml"], "--params-file none.yaml: Error opening YAML "),
        (["--log-level", "loud"], "loud"),
        (["-r", "__ns:=bad"], "__ns:=bad"),
    ],
)
def test_ros_arguments_that_ros_rejects_are_one_clear_line(fail, arguments, message):
    assert message in fail("--ros-args", *arguments)


def test_a_parameter_file_with_an_unknown_parameter_is_one_clear_line(fail, folder):
    (folder / "my.yaml").write_text("mujoco:\n  ros__parameters: {scene: robot.xml, sede: 1}\n")
    message = fail("--ros-args", "--params-file", "my.yaml")
    assert "parameter 'sede' not found (did you mean 'seed'?)" in message


def test_security_without_a_keystore_is_one_clear_line(fail, monkeypatch):
    monkeypatch.setenv("ROS_SECURITY_ENABLE", "true")
    monkeypatch.setenv("ROS_SECURITY_STRATEGY", "Enforce")
    monkeypatch.delenv("ROS_SECURITY_KEYSTORE", raising=False)
    assert "ROS_SECURITY_KEYSTORE does not name" in fail()
    monkeypatch.setenv("ROS_SECURITY_KEYSTORE", "/nonexistent")
    assert "'/nonexistent/enclaves' does not exist" in fail()


def test_security_that_the_middleware_cannot_give_is_one_clear_line(fail, folder, monkeypatch):
    enclaves = folder / "enclaves"
    enclaves.mkdir()
    keys = ("identity_ca.cert.pem", "cert.pem", "key.pem", "permissions_ca.cert.pem")
    for name in (*keys, "governance.p7s", "permissions.p7s"):
        (enclaves / name).write_text("none")  # a middleware with security rejects them as well
    monkeypatch.setenv("ROS_SECURITY_ENABLE", "true")
    monkeypatch.setenv("ROS_SECURITY_STRATEGY", "Enforce")
    monkeypatch.setenv("ROS_SECURITY_KEYSTORE", str(folder))
    assert "the node cannot be protected" in fail(*parameters(scene="robot.xml"))


def test_security_that_is_not_enforced_is_a_warning(fail, monkeypatch, caplog):
    monkeypatch.setenv("ROS_SECURITY_ENABLE", "true")
    monkeypatch.delenv("ROS_SECURITY_STRATEGY", raising=False)
    with caplog.at_level(logging.WARNING):
        fail(*parameters(scene="missing.yaml"))
    assert "without keys, nodes start unprotected" in caplog.text


def test_new_files_are_for_the_user_alone_while_a_node_runs(tmp_path):
    mask = os.umask(0o022)
    try:
        with ros([]):
            (tmp_path / "folder").mkdir()
            (tmp_path / "file").touch()
        (tmp_path / "later").touch()
    finally:
        os.umask(mask)
    modes = [(tmp_path / n).stat().st_mode & 0o777 for n in ("folder", "file", "later")]
    assert modes == [0o700, 0o600, 0o644]


@pytest.mark.parametrize("argument", ["--bogus", "humanoid", "-x"])
def test_an_unknown_option_is_named_with_the_usage(capfd, argument):
    with pytest.raises(SystemExit) as caught:
        main([argument])
    assert caught.value.code == 2
    out, err = capfd.readouterr()
    assert "Traceback" not in out + err
    usage, error = err.strip().splitlines()
    assert usage.startswith("usage: sim [-h] [--ros-args ...]")
    assert argument in error


# --- as a process


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mujoco_ros", *arguments],
        env=os.environ | {"PYTHONPATH": f"{ROOT}:{os.environ.get('PYTHONPATH', '')}"},
        capture_output=True,
        text=True,
        timeout=250,
        check=False,
    )


@pytest.mark.parametrize(
    ("scene", "message"),
    [
        ("missing.yaml", "missing.yaml' does not exist"),
        ("broken.xml", "XML parse error"),
    ],
)
def test_an_error_ends_the_process_with_one_line_and_a_code(scene, message):
    done = run(*parameters(scene=scene))
    assert done.returncode == 1
    assert message in the_error(done.stdout, done.stderr)


def test_an_unknown_parameter_ends_the_process_with_one_line_and_a_code():
    done = run(*parameters(sceen="arm"))
    assert done.returncode == 1
    assert "did you mean 'scene'?" in the_error(done.stdout, done.stderr)


def test_help_names_the_shipped_scenes_within_two_seconds():
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = run("--help")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode == 0
    assert done.stderr == ""
    for scene in ("arm", "handover", "humanoid", "quadruped", "walk_grasp", "zoo"):
        assert scene in done.stdout
    assert "--ros-args -p scene:=" in done.stdout
    # Processor time, so that a busy machine does not count.
    assert after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime < 2.0


HANGING = """
import atexit, ctypes

def hang():  # with the GIL, as rclpy waits
    while True:
        ctypes.PyDLL(None).sleep(600)

from mujoco_ros.cli.node_process import ros
from mujoco_ros.process.end_limit import limit_end

limit_end(1.0)
atexit.register(hang)
with ros([]):
    pass
"""


def test_a_program_ends_although_the_middleware_hangs():
    ended = subprocess.run([sys.executable, "-c", HANGING], capture_output=True, timeout=300)
    assert ended.returncode == -signal.SIGKILL
    assert b"1 s after its work is complete, this program still runs" in ended.stderr
