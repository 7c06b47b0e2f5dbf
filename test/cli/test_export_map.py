"""export_map writes files that nav2_map_server reads, and names what is wrong."""

from pathlib import Path

import numpy as np
import pytest
import yaml

from mujoco_ros.cli.export_map import main


def read(folder: Path) -> tuple[np.ndarray, dict[str, object]]:
    description = yaml.safe_load((folder / "map.yaml").read_text())
    magic, size, depth, content = (folder / description["image"]).read_bytes().split(b"\n", 3)
    width, height = map(int, size.split())
    assert (magic, depth) == (b"P5", b"255")
    return np.frombuffer(content, np.uint8).reshape(height, width), description


def test_the_map_of_the_office_has_its_walls_rooms_and_outside(tmp_path: Path) -> None:
    assert main(["office", "-o", str(tmp_path / "map")]) == 0
    pixels, description = read(tmp_path)
    assert description["mode"] == "trinary"
    x0, y0, _ = description["origin"]

    def at(x: float, y: float) -> int:
        return int(pixels[len(pixels) - 1 - int((y - y0) / 0.05), int((x - x0) / 0.05)])

    assert at(0.0, 0.0) == at(4.0, 3.0) == 254
    assert at(4.0, 4.52) == at(2.02, 3.0) == 0
    assert at(2.2, 0.55) == 0  # a person
    assert at(-2.4, 0.0) == 205  # outside
    assert at(7.8, 1.05) == 254  # an open doorway: its door can move


def test_objects_that_can_move_are_included_on_request(tmp_path: Path) -> None:
    counts = []
    for options in ([], ["--movable"]):
        assert main(["office", "-o", str(tmp_path / "map"), *options]) == 0
        pixels, _ = read(tmp_path)
        counts.append(np.count_nonzero(pixels == 0))
    assert counts[1] > counts[0] + 15  # the door, 0.96 m


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--height", "0.4", "0.2"], "a lower and a higher one"),
        (["--resolution", "0"], "must be above 0"),
        (["--start", "2.2", "0.55"], "is not free"),
    ],
)
def test_a_wrong_option_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], reason: str
) -> None:
    assert main(["office", "-o", str(tmp_path / "map"), *options]) == 1
    assert reason in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
