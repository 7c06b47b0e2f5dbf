"""A new extension, as `make extension` writes it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mujoco_ros.cli.new_extension import main
from mujoco_ros.extensions.template import write_extension
from mujoco_ros.model.errors import UserInputError

ROOT = Path(__file__).resolve().parents[2]


def test_the_package_is_installed_and_its_test_passes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("rclpy", reason="ROS 2 is not installed here")
    pytest.importorskip("setuptools", reason="it builds the package")
    assert main(["my_drag", "--folder", str(tmp_path)]) == 0
    root = tmp_path / "my_drag"
    assert capsys.readouterr().out == f"{root}\n"
    site = tmp_path / "site"
    install = [sys.executable, "-m", "pip", "install", "--no-index", "--no-deps"]
    install += ["--no-build-isolation", "--target", str(site), str(root)]
    subprocess.run(install, check=True, capture_output=True, timeout=240)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(root)],
        env={**os.environ, "PYTHONPATH": f"{site}{os.pathsep}{ROOT}"},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert "1 passed" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("My-Drag", "'My-Drag' is not a name such as 'my_wind'"),
        ("../up", "is not a name such as"),
        ("", "'' is not a name such as"),
        ("wind", "the name 'wind' is taken by an installed package or extension"),
        ("numpy", "the name 'numpy' is taken"),
    ],
)
def test_a_name_that_cannot_be_used_is_rejected(tmp_path: Path, name: str, message: str) -> None:
    with pytest.raises(UserInputError, match=message):
        write_extension(tmp_path, name)
    assert not list(tmp_path.iterdir())


def test_a_folder_that_exists_is_left_as_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "my_drag").mkdir()
    assert main(["my_drag", "--folder", str(tmp_path)]) == 1
    assert "exists already" in capsys.readouterr().err
    assert not list((tmp_path / "my_drag").iterdir())
