import numpy as np
import pytest

from mujoco_ros.controllers.interface.store import Key, Store, StoreError

OPENING = Key("gripper/opening", float)
GOAL = Key("goal", np.ndarray)
LOOK = Key("camera/look")


def test_get_returns_the_value_that_was_set():
    store = Store()
    goal = np.zeros(3)
    store.set(OPENING, 0.04)
    store.set(GOAL, goal)
    assert store.get(OPENING) == 0.04
    assert store.get(GOAL) is goal
    assert OPENING in store
    assert LOOK not in store
    assert store.names == ("goal", "gripper/opening")


def test_set_and_get_reject_a_value_of_another_type():
    store = Store()
    with pytest.raises(StoreError, match="'gripper/opening' is a float, not a str"):
        store.set(OPENING, "wide")  # type: ignore[misc]
    store.set(Key("goal", str), "table")
    with pytest.raises(StoreError, match="'goal' is a ndarray, not a str"):
        store.get(GOAL)


def test_the_error_for_a_missing_value_lists_the_others():
    store = Store()
    with pytest.raises(StoreError, match="'goal' is not in the store; it has: nothing"):
        store.get(GOAL)
    store.provide(LOOK, print)
    with pytest.raises(StoreError, match="it has: camera/look"):
        store.get(GOAL)


def test_values_of_the_host_survive_clear_and_cannot_be_replaced():
    store = Store()
    store.provide(LOOK, print)
    store.set(OPENING, 0.04)
    store.clear()
    assert store.get(LOOK) is print
    assert OPENING not in store
    with pytest.raises(StoreError, match="'camera/look' is provided by the host"):
        store.set(LOOK, repr)
    store.provide(LOOK, repr)
    assert store.get(LOOK) is repr
