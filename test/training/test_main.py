"""Wrong arguments of the training end it before anything is imported or written."""

import pytest

from training.__main__ import main


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--points", "0"], "--points: '0' is not a whole number of at least 1"),
        (["--points", "two"], "--points: 'two' is not a whole number of at least 1"),
        (["--points", "11", "--steps", "10"], "--points: 11 is more than the 10 steps"),
        (["--points", "4001", "--small"], "--points: 4001 is more than the 4000 steps"),
        (["--points", "2", "--small", "--steps", "1"], "--points: 2 is more than the 1 steps"),
        (["--steps", "-5"], "--steps: '-5' is not a whole number of at least 1"),
        (["--steps", "0"], "--steps: '0' is not a whole number of at least 1"),
        (["--seed", "-1"], "--seed: '-1' is not a whole number of at least 0"),
        (["--limit", "-1"], "--limit: '-1' is not a positive number"),
        (["--limit", "nan"], "--limit: 'nan' is not a positive number"),
        (["--limit", "soon"], "--limit: 'soon' is not a positive number"),
        (["--resume", "missing.msgpack"], "--resume: there is no file 'missing.msgpack'"),
    ],
)
def test_a_wrong_argument_is_named(tmp_path, capsys, arguments, message):
    output = tmp_path / "results"
    with pytest.raises(SystemExit) as ended:
        main(["--output", str(output), *arguments])
    assert ended.value.code == 2
    assert message in capsys.readouterr().err
    assert not output.exists()


def test_results_are_not_replaced(tmp_path, capsys):
    curve = tmp_path / "trot_policy.csv"
    curve.write_text("a curve")
    with pytest.raises(SystemExit) as ended:
        main(["--output", str(tmp_path)])
    assert ended.value.code == 2
    assert f"there is {curve} already; continue it with --resume" in capsys.readouterr().err
    assert curve.read_text() == "a curve"
