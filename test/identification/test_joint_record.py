from dataclasses import replace

import numpy as np
import pytest

from mujoco_ros.identification.joint_record import JointRecord, check_record
from mujoco_ros.model.errors import UserInputError

TIMES = np.arange(0.0, 8.0, 0.002)


@pytest.fixture
def record() -> JointRecord:
    wave = np.stack([np.sin(TIMES), np.cos(TIMES)], axis=1)
    return JointRecord(
        joints=("hip", "knee"),
        times=TIMES,
        position=wave,
        velocity=wave,
        effort=wave,
        command_times=TIMES,
        references=np.repeat(wave[:, None], 3, axis=1),
    )


def test_states_without_references_are_left_out(record):
    short = replace(record, command_times=TIMES[500:], references=record.references[500:])
    assert check_record(short, "bag").times[0] == TIMES[500]


def test_samples_that_a_driver_repeats_are_left_out(record):
    held = record.position[np.arange(len(TIMES)) // 2 * 2]
    kept = check_record(replace(record, position=held, velocity=held, effort=held), "bag")
    assert np.array_equal(kept.times, TIMES[::2])
    assert np.array_equal(kept.position, record.position[::2])


def test_a_rest_is_no_repetition(record):
    # Encoders report the same position while the references rest.
    moving = TIMES < 5.0
    position = np.where(moving[:, None], record.position, record.position[2500])
    references = np.where(moving[:, None, None], record.references, record.references[2500])
    at_rest = replace(record, position=position, velocity=0.0 * position, effort=0.0 * position)
    kept = check_record(replace(at_rest, references=references), "bag")
    assert kept.times[-1] == TIMES[-1]
    with pytest.raises(
        UserInputError, match=r"no new joint state for (2\.\d*|3) s after the stamp 5\.0"
    ):
        check_record(at_rest, "bag")


def test_velocities_with_nan_and_efforts_that_never_change_are_not_measured(record):
    velocity, effort = record.velocity.copy(), record.effort.copy()
    velocity[1234, 0] = np.nan
    effort[:, 1] = 0.0
    kept = check_record(replace(record, velocity=velocity, effort=effort), "bag")
    assert np.isnan(kept.velocity[:, 0]).all()
    assert np.isnan(kept.effort[:, 1]).all()
    assert np.array_equal(kept.velocity[:, 1], record.velocity[:, 1])
    assert np.array_equal(kept.effort[:, 0], record.effort[:, 0])


def test_a_joint_without_references_does_not_count_as_commands_that_change(record):
    references = np.where(TIMES[:, None, None] < 4.0, record.references, record.references[2000])
    references[:, :, 1] = np.nan
    kept = np.delete(np.arange(len(TIMES)), slice(2100, 2400))
    quiet = replace(record, command_times=TIMES[kept], references=references[kept])
    assert check_record(quiet, "bag").times[-1] == TIMES[-1]
    references[2400:, 1, 0] += 1.0  # of velocities count as well
    with pytest.raises(UserInputError, match=r"no commands for 0\.602 s"):
        check_record(replace(quiet, references=references[kept]), "bag")


def test_references_that_hold_are_not_interpolated(record):
    kept = np.delete(np.arange(len(TIMES)), [5, 6, 7])
    held = replace(record, command_times=TIMES[kept], references=record.references[kept])
    checked = check_record(held, "bag", periodic=False)
    assert np.array_equal(checked.command_times, TIMES[kept])
    assert checked.filled == 0.0


def test_too_many_lost_messages_are_an_error(record):
    kept = np.sort(np.random.default_rng(1).choice(len(TIMES), len(TIMES) * 7 // 10, False))
    lossy = replace(record, command_times=TIMES[kept], references=record.references[kept])
    with pytest.raises(UserInputError, match=r"bag: \d\d% of the commands were lost"):
        check_record(lossy, "bag")


def test_references_that_are_not_known_throughout_hold_where_messages_are_lost(record):
    references = record.references.copy()
    references[:3, 1] = np.nan
    kept = np.delete(np.arange(len(TIMES)), 1000)
    lost = replace(record, command_times=TIMES[kept], references=references[kept])
    filled = check_record(lost, "bag").references
    assert np.isnan(filled[:3, 1]).all()
    assert np.array_equal(filled[1000, 1], references[999, 1])
    assert np.isfinite(filled[:, 0]).all()


def test_references_of_lost_messages_are_interpolated(record):
    lost = [5, 6, 7, 100, 2000, 2001]
    less = replace(
        record,
        command_times=np.delete(TIMES, lost),
        references=np.delete(record.references, lost, axis=0),
    )
    filled = check_record(less, "bag")
    assert filled.command_times == pytest.approx(TIMES)
    assert filled.references == pytest.approx(record.references, abs=1e-5)
    assert filled.filled == pytest.approx(len(lost) / len(TIMES))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda r: {"times": np.where(TIMES > 4.0, TIMES - 1.0, TIMES)}, "joint states jump from"),
        (lambda r: {"command_times": np.round(TIMES, 2)}, "commands jump from"),
        (lambda r: {"command_times": 100.0 + TIMES}, "overlap for 0 s"),
        (
            lambda r: {"times": np.where(TIMES > 4.0, TIMES + 1.0, TIMES)},
            "no new joint state for 1 s",
        ),
        (
            lambda r: {
                "command_times": np.delete(TIMES, slice(900, 1000)),
                "references": np.delete(r.references, slice(900, 1000), axis=0),
            },
            r"no commands for 0\.202 s after the stamp 1\.798 s",
        ),
        (lambda r: {"times": TIMES[:1]}, "only 1 joint states"),
        (
            lambda r: {"command_times": TIMES[::20], "references": r.references[::20]},
            "come every 0.04 s",
        ),
        (
            lambda r: {
                "times": TIMES[::4],
                **{key: getattr(r, key)[::4] for key in ("position", "velocity", "effort")},
            },
            "a new joint state every 0.008 s; 200 Hz",
        ),
    ],
)
def test_a_recording_that_is_no_good_is_rejected_with_the_reason(record, change, message):
    with pytest.raises(UserInputError, match=f"^bag: .*{message}"):
        check_record(replace(record, **change(record)), "bag")


def test_a_missing_joint_is_an_error_with_those_that_exist(record):
    with pytest.raises(UserInputError, match=r"joint 'toe'.*hip, knee"):
        record.select(["toe"], "bag")
