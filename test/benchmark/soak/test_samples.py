"""Files and metrics of long runs."""

import csv
from dataclasses import replace

import numpy as np
import pytest

from benchmark.soak.__main__ import main, missing
from benchmark.soak.samples import COLUMNS, Sample, SampleFile, load, summary

ZERO = Sample(**dict.fromkeys(COLUMNS, 0.0))


@pytest.fixture
def write(tmp_path):
    """Write a part, with columns as functions of the row number."""

    def write(number, rows=100, **columns):
        file = SampleFile(tmp_path / f"part{number}.csv")
        for row in range(rows):
            values = {name: float(value(row)) for name, value in columns.items()}
            file.add(replace(ZERO, wall=10.0 * row, **values))
        file.close()
        return tmp_path / f"part{number}.csv"

    return write


def test_samples_are_read_as_they_were_written(write):
    part = load(write(0, simulated=lambda row: 123456.789 + row))
    assert tuple(part) == COLUMNS
    np.testing.assert_allclose(part["simulated"], 123456.789 + np.arange(100), rtol=1e-9)


def test_an_interrupted_part_keeps_its_samples(tmp_path):
    file = SampleFile(tmp_path / "part0.unfinished")
    file.add(ZERO)
    with (tmp_path / "part0.unfinished").open() as opened:
        assert len(list(csv.DictReader(opened))) == 1
    file.close()


def test_the_metrics_of_parts_are_added_and_the_largest_growth_is_kept(write):
    first = load(write(0, dropped=lambda row: 5.0 + 0.001 * row, simulator=lambda row: 100.0))
    second = load(
        write(1, simulator=lambda row: 150 - 50 * (row < 10) + 0.1 * row, late=lambda row: 2 * row)
    )
    metrics = summary([first, second])
    assert metrics["wall time [s]"] == 1980.0
    assert metrics["dropped time [%]"] == pytest.approx(100 * 0.099 / 1980)
    assert metrics["late steps"] == 198.0
    assert metrics["growth of simulator [MB]"] == pytest.approx(8.0)  # without the warm-up
    assert metrics["growth of commands"] == 0.0


def test_a_part_that_is_too_short_is_rejected(write):
    with pytest.raises(ValueError, match="fewer than 20 samples"):
        summary([load(write(0, rows=19))])


def test_missing_parts_are_those_without_a_complete_file(write, tmp_path):
    write(1)
    (tmp_path / "part0.unfinished").write_text("wall\n")
    assert missing(tmp_path, 4) == [0, 2, 3]


def test_a_folder_with_parts_is_not_overwritten(write, tmp_path, capsys):
    path = write(0)
    before = path.read_text()
    assert main([str(tmp_path)]) == 2
    assert "continue them with --resume" in capsys.readouterr().err
    assert path.read_text() == before


@pytest.mark.parametrize(("growth", "code"), [(0.001, 0), (0.02, 1)])
def test_growth_beyond_its_limit_is_named(write, tmp_path, capsys, growth, code):
    write(0, viewer=lambda row: growth * row)
    assert main([str(tmp_path), "--parts", "0"]) == code
    assert ("limits missed: growth of viewer [MB]" in capsys.readouterr().out) is bool(code)
