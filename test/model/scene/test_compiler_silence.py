import mujoco
import pytest

from mujoco_ros.model.scene.mjcf_files import silence_compiler


@pytest.fixture(autouse=True)
def handlers_are_restored():
    before = mujoco.get_mju_user_warning()
    yield
    mujoco.set_mju_user_warning(before)


def test_the_previous_log_handlers_are_restored_afterwards():
    received: list[str] = []
    mujoco.set_mju_user_warning(received.append)
    listener = mujoco.get_mju_user_warning()
    with silence_compiler():
        assert mujoco.get_mju_user_warning() is not listener
    assert mujoco.get_mju_user_warning() is listener


def test_a_log_handler_that_is_set_meanwhile_is_kept():
    def listen(_message: str) -> None:
        pass

    with silence_compiler():
        mujoco.set_mju_user_warning(listen)
    assert mujoco.get_mju_user_warning() is listen
