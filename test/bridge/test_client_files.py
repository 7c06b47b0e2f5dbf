"""Files that clients of a running simulator name."""

import os
import stat
import zipfile
from pathlib import Path

import pytest
from simulation_interfaces.msg import Result
from simulation_interfaces.srv import GetAvailableWorlds, LoadWorld, SpawnEntity
from simulator_client import SimulatorClient
from simulators import SimulatorLauncher
from spawn_requests import ARM, BALL, BOX, named_resource, spawn

OK = Result.RESULT_OK
CODES = SpawnEntity.Response
OUTSIDE = "is not in a folder of which clients may name files: "
MESH = """
<mujoco><asset><mesh name="m" file="{}"/></asset>
  <worldbody><body><freejoint/><geom type="mesh" mesh="m"/></body></worldbody></mujoco>
"""
ATTACHING = """
<mujoco><asset><model name="m" file="{}"/></asset>
  <worldbody><body><geom size=".1"/></body></worldbody></mujoco>
"""
URDF = """
<robot name="r"><link name="a"><visual><geometry><mesh filename="{}"/></geometry></visual></link>
</robot>
"""
SCENE = "robots: [{{name: a, model: '" + ARM + "', {}: {}}}]"


class Files:
    """Folders with files, some of which are no regular files or outside the allowed folder."""

    def __init__(self, root: Path) -> None:
        self.allowed, self.logs = root / "allowed", root / "logs"
        self.allowed.mkdir()
        self.secret = root / "secret.xml"
        self.secret.write_text('<mujoco><worldbody><body name="s"/></worldbody></mujoco>')
        for name, target in {
            "secret.xml": self.secret,
            "secret.obj": self.secret,
            "gains.yaml": self.secret,
            "zero.xml": "/dev/zero",
            "zero.obj": "/dev/zero",
        }.items():
            (self.allowed / name).symlink_to(target)
        for name in ("pipe.xml", "pipe.obj", "pipe.yaml", "pipe.urdf"):
            os.mkfifo(self.allowed / name)
        for name, text in {
            "ball.xml": BALL,
            "including.xml": '<mujoco><include file="../secret.xml"/></mujoco>',
            "including_pipe.xml": '<mujoco><include file="pipe.xml"/></mujoco>',
            "good.xml": '<mujoco model="g"><include file="part.xml"/></mujoco>',
            "part.xml": '<mujoco><worldbody><geom size=".1"/></worldbody></mujoco>',
        }.items():
            (self.allowed / name).write_text(text)
        reading_secret = f'<mujoco><include file="{self.secret}"/></mujoco>'
        for folder, name, content in (
            (self.allowed, "ball.zip", {"model.xml": BALL}),
            (self.allowed, "including.mjz", {"model.xml": reading_secret}),
            (self.allowed, "up.mjz", {"model.xml": BALL, "../up.xml": BALL}),
            (root, "secret.zip", {"model.xml": BALL}),
        ):
            with zipfile.ZipFile(folder / name, "w") as archive:
                for inner, text in content.items():
                    archive.writestr(inner, text)
        (self.allowed / "secret.zip").symlink_to(root / "secret.zip")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    return Files(tmp_path_factory.mktemp("files"))


@pytest.fixture(scope="module")
def simulator(start_shared: SimulatorLauncher, files: Files) -> SimulatorClient:
    return SimulatorClient(
        start_shared, client_folders=[str(files.allowed)], output_folder=files.logs
    )


def refused(response, *parts: str) -> None:
    """Check that a request failed with a sentence that has all parts."""
    message = response.result.error_message
    assert response.result.result != OK
    assert all(part in message for part in parts), message
    assert "\n" not in message
    assert len(message) < 2000


def test_models_in_allowed_folders_are_spawned(simulator: SimulatorClient, files: Files):
    for uri in (BOX, f"file://{files.allowed}/ball.xml", f"{files.allowed}/good.xml"):
        response = spawn(simulator, uri=uri, allow_renaming=True)
        assert response.result.result == OK, response.result.error_message


@pytest.mark.parametrize("inner", ["", "/model.xml"])
def test_a_model_in_an_archive_is_spawned(simulator: SimulatorClient, files: Files, inner: str):
    uri = f"file://{files.allowed}/ball.zip{inner}"
    for _ in range(2):
        response = spawn(simulator, uri=uri, allow_renaming=True)
        assert response.result.result == OK, response.result.error_message


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("including.mjz", OUTSIDE),
        ("secret.zip", OUTSIDE),
        ("secret.zip/model.xml", OUTSIDE),
        ("ball.zip/none.xml", "there is no file"),
        ("up.mjz", "'../up.xml' is not a relative path below the archive"),
    ],
)
def test_an_archive_is_no_way_to_other_files(
    simulator: SimulatorClient, files: Files, name: str, reason: str
):
    refused(spawn(simulator, uri=f"{files.allowed}/{name}", name="x"), reason)


@pytest.mark.parametrize("model", [MESH, ATTACHING, URDF])
def test_nothing_is_read_from_the_network(simulator: SimulatorClient, model: str):
    uri = "http://localhost/a.obj"
    refused(spawn(simulator, text=model.format(uri), name="x"), uri, "use package:// or file://")


@pytest.mark.parametrize("name", ["/etc/passwd", "{}/secret.xml", "{}/../secret.xml", "/none.xml"])
def test_a_model_outside_is_refused(simulator: SimulatorClient, files: Files, name: str):
    uri = name.format(files.allowed)
    response = spawn(simulator, uri=uri, name="x")
    refused(response, uri, OUTSIDE, str(files.allowed), "'client_folders'")
    assert response.result.result == CODES.NO_RESOURCE


@pytest.mark.parametrize("name", ["pipe.xml", "zero.xml", "pipe.urdf", "including_pipe.xml"])
def test_no_device_or_pipe_is_opened(simulator: SimulatorClient, files: Files, name: str):
    refused(spawn(simulator, uri=f"{files.allowed}/{name}", name="x"), str(files.allowed))


@pytest.mark.parametrize("model", [MESH, ATTACHING, URDF])
def test_a_text_names_no_file_outside(simulator: SimulatorClient, files: Files, model: str):
    for name in ("/etc/passwd", files.secret, files.allowed / "secret.obj"):
        refused(spawn(simulator, text=model.format(name), name="x"), str(name), OUTSIDE)
    for name in ("pipe.obj", "zero.obj"):
        path = files.allowed / name
        response = spawn(simulator, text=model.format(path), name="x")
        assert response.result.result != OK
    refused(spawn(simulator, text=MESH.format(files.allowed / "pipe.obj"), name="x"), "named pipe")


def test_an_included_file_is_in_an_allowed_folder(simulator: SimulatorClient, files: Files):
    response = spawn(simulator, uri=f"{files.allowed}/including.xml", name="x")
    refused(response, str(files.secret), OUTSIDE)
    assert response.result.result == CODES.MISSING_ASSETS


@pytest.mark.parametrize("key", ["gains", "urdf", "srdf"])
def test_a_scene_names_no_file_outside(simulator: SimulatorClient, files: Files, key: str):
    for name in ("/etc/passwd", files.secret, files.allowed / "gains.yaml"):
        text = SCENE.format(key, name)
        refused(
            simulator.call("LoadWorld", **named_resource(LoadWorld.Request, text=text)), OUTSIDE
        )


def test_no_folder_outside_is_searched(simulator: SimulatorClient, files: Files):
    for source in ("/etc", "/root", str(files.secret)):
        refused(simulator.call("GetSpawnables", sources=[source]), source, OUTSIDE)
        fields = {"additional_sources": [source]}
        assert set(fields) <= set(GetAvailableWorlds.Request.get_fields_and_field_types())
        refused(simulator.call("GetAvailableWorlds", **fields), source, OUTSIDE)


def test_a_search_leaves_out_what_is_outside(simulator: SimulatorClient, files: Files):
    response = simulator.call("GetAvailableWorlds", additional_sources=[str(files.allowed)])
    assert response.result.result == OK, response.result.error_message
    found = {it.name for it in response.worlds}
    assert {"ball", "good", "part"} <= found
    assert found.isdisjoint({"secret", "pipe", "zero"})


@pytest.mark.parametrize("name", ["/etc/passwd", "/dev/zero", "/proc/self/environ", "/none"])
def test_gains_are_read_in_allowed_folders(simulator: SimulatorClient, name: str):
    (result,) = simulator.listener.set_parameters({"gains_file": name})
    assert not result.successful
    assert OUTSIDE in result.reason
    assert "lines" not in result.reason


def test_gains_are_not_read_from_pipes(simulator: SimulatorClient, files: Files):
    (result,) = simulator.listener.set_parameters({"gains_file": f"{files.allowed}/pipe.yaml"})
    assert not result.successful


def test_logs_are_written_below_the_folder_for_them(simulator: SimulatorClient, files: Files):
    set_parameters = simulator.listener.set_parameters
    for name in (f"{files.allowed}/a.mjlog", "../a.mjlog", "/tmp/a.mjlog"):
        (result,) = set_parameters({"state_log": name})
        assert not result.successful
        assert f"is not below '{files.logs}'" in result.reason
    (result,) = set_parameters({"state_log": "a.mjlog"})
    assert result.successful, result.reason
    assert set_parameters({"state_log": ""})[0].successful
    assert stat.S_IMODE((files.logs / "a.mjlog").stat().st_mode) == 0o600
    assert stat.S_IMODE(files.logs.stat().st_mode) == 0o700


def test_files_of_the_start_need_no_allowed_folder(start: SimulatorLauncher, tmp_path: Path):
    """Spawning compiles the model of the start again, with its meshes."""
    home = tmp_path / "models"
    (home / "meshes").mkdir(parents=True)
    (home / "scenes").mkdir()
    tetrahedron = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n"
    (home / "meshes" / "m.obj").write_text(tetrahedron)
    (home / "robot.urdf").write_text(
        '<robot name="r"><link name="a"/><link name="b"><inertial><mass value="1"/>'
        '<inertia ixx="1" iyy="1" izz="1"/></inertial><visual><geometry>'
        '<mesh filename="meshes/m.obj"/></geometry></visual></link>'
        '<joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint></robot>'
    )
    (home / "gains.yaml").write_text("j: {kp: 10, kd: 1}")
    scene = home / "scenes" / "scene.yaml"
    scene.write_text("robots: [{name: r, model: ../robot.urdf, gains: ../gains.yaml}]")
    simulator = SimulatorClient(start, scene=scene, client_folders="['/none']")
    for _ in range(2):
        response = spawn(simulator, text=BALL, allow_renaming=True)
        assert response.result.result == OK, response.result.error_message
    # A client may not name a file beside them.
    (home / "other.xml").write_text(BALL)
    refused(spawn(simulator, uri=str(home / "other.xml"), name="x"), OUTSIDE)
    assert spawn(simulator, uri=str(home / "robot.urdf"), name="x").result.result == OK


@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_a_start_with_no_regular_file_ends_with_the_reason(
    start: SimulatorLauncher, tmp_path: Path, kind: str
):
    path = tmp_path / "scene.yaml"
    os.mkfifo(path) if kind == "pipe" else path.symlink_to("/dev/zero")
    simulator = start.simulator(scene=path)
    assert simulator.process.wait(300) != 0
    assert "is not a file" in simulator.log or "only regular files are read" in simulator.log
    assert "Traceback" not in simulator.log
