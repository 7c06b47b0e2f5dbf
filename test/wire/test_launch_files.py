"""What the launch files share, without the launch system of ROS 2."""

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from mujoco_ros.wire.launch_files import file_argument, integer_argument, on_exit


def test_a_missing_file_and_a_wrong_integer_are_errors_with_the_argument(tmp_path):
    (tmp_path / "a.yaml").touch()
    assert file_argument({"map": f"{tmp_path}/a.yaml"}, "map") == tmp_path / "a.yaml"
    assert integer_argument({"seed": "7"}, "seed") == 7
    with pytest.raises(ValueError, match=f"map:={tmp_path}/b.yaml does not exist"):
        file_argument({"map": f"{tmp_path}/b.yaml"}, "map")
    with pytest.raises(ValueError, match=r"seed:=1\.5 is not an integer"):
        integer_argument({"seed": "1.5"}, "seed")


def test_only_a_failure_outside_a_shutdown_is_an_error():
    ended = on_exit("the map", ["next"])
    running, ending = (SimpleNamespace(is_shutdown=flag) for flag in (False, True))
    assert ended(SimpleNamespace(returncode=0), running) == ["next"]
    assert ended(SimpleNamespace(returncode=3), ending) == ["next"]
    with pytest.raises(RuntimeError, match="the map failed with exit code 3"):
        ended(SimpleNamespace(returncode=3), running)


def test_a_temporary_folder_is_removed_at_the_end_of_the_process():
    code = (
        "from mujoco_ros.wire.launch_files import temporary_folder; "
        "folder = temporary_folder(); (folder / 'map.yaml').touch(); print(folder)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "mujoco_ros_" in done.stdout
    assert not Path(done.stdout.strip()).exists()
