"""The files of a training are complete, are not replaced by mistake, and are continued."""

import csv
import os

import pytest
from full_disk import full_disk

from training.result_files import (
    _COLUMNS,
    _MEANS,
    Curve,
    Progress,
    TrainingError,
    check_folder,
    replace_file,
)

METRICS = {f"episode/{name}": 0.5 for name in _MEANS}


def points(path):
    with path.open(newline="") as file:
        return [(int(row["steps"]), float(row["wall_s"])) for row in csv.DictReader(file)]


@pytest.mark.parametrize("suffix", [".csv", ".msgpack", ".onnx"])
def test_a_folder_with_results_is_refused(tmp_path, suffix):
    check_folder(tmp_path / "missing", None)
    check_folder(tmp_path, None)
    (tmp_path / f"trot_policy{suffix}").touch()
    with pytest.raises(TrainingError, match="--resume"):
        check_folder(tmp_path, None)
    with pytest.raises(TrainingError, match="--resume"):
        check_folder(tmp_path, tmp_path / "other" / "trot_policy.msgpack")


def test_a_folder_whose_checkpoint_is_continued_is_accepted(tmp_path):
    checkpoint = tmp_path / "trot_policy.msgpack"
    checkpoint.touch()
    check_folder(tmp_path, checkpoint)
    check_folder(tmp_path, tmp_path / "missing" / ".." / checkpoint.name)


def test_an_interrupted_write_keeps_the_old_content(tmp_path, monkeypatch):
    path = tmp_path / "file"
    replace_file(path, b"old")

    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", interrupted)
        with pytest.raises(KeyboardInterrupt):
            replace_file(path, b"new")
    assert path.read_bytes() == b"old"
    replace_file(path, b"new")
    assert path.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["file"]


def test_a_continued_curve_has_the_points_up_to_the_checkpoint_and_the_new_ones(tmp_path):
    first, second = tmp_path / "first.csv", tmp_path / "second.csv"
    curve = Curve(first)
    assert curve.add(Progress(0, 0.1), {"training/sps": 3.0}) == ""
    for steps in (129_761_281, 129_761_282, 129_761_283):
        assert curve.add(Progress(steps, 5.0), METRICS).startswith(f"{steps} steps: reward 0.5")
    Curve(second, first, 129_761_282).add(Progress(129_761_290, 9.0), METRICS)
    expected = [(129_761_281, 5.0), (129_761_282, 5.0), (129_761_290, 9.0)]
    assert points(second) == expected
    Curve(second, second, 129_761_290).add(Progress(129_761_291, 9.5), METRICS)
    assert points(second) == [*expected, (129_761_291, 9.5)]
    Curve(second, tmp_path / "missing.csv", 10).add(Progress(11, 1.0), METRICS)
    assert points(second) == [(11, 1.0)]


@pytest.mark.parametrize(
    "text",
    ["steps,wall_s\n1,2\n", "a,b\n1,2\n", f"{','.join(_COLUMNS)}\n1,2\n", "steps\nx\n"],
)
def test_a_file_that_is_no_curve_is_refused(tmp_path, text):
    path = tmp_path / "curve.csv"
    path.write_text(text)
    with pytest.raises(TrainingError, match=r"curve\.csv"):
        Curve(path, path, 10)


def test_a_full_disk_keeps_the_old_content_and_is_named(tmp_path):
    path = tmp_path / "file"
    replace_file(path, b"old")
    with full_disk(1000), pytest.raises(TrainingError, match="file cannot be written: File too"):
        replace_file(path, bytes(100_000))
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]
