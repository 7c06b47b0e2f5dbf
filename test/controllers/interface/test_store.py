import numpy as np
import pytest

from mujoco_ros.controllers.interface.store import Key, Store, StoreError

OPENING = Key("gripper/opening", float)
GOAL = Key("goal", np.ndarray)
LOOK = Key("camera/look")


def test_a_value_comes_back_as_it_was_put_in():
    store = Store()
    goal = np.zeros(3)
    store.set(OPENING, 0.04)
    store.set(GOAL, goal)
    assert store.get(OPENING) == 0.04
    assert store.get(GOAL) is goal
    assert OPENING in store
    assert LOOK not in store
    assert store.names == ("goal", "gripper/opening")


def test_a_value_of_another_type_is_refused_going_in_and_coming_out():
    store = Store()
    with pytest.raises(StoreError, match="'gripper/opening' is a float, not a str"):
        store.set(OPENING, "wide")  # type: ignore[misc]
    store.set(Key("goal", str), "table")
    with pytest.raises(StoreError, match="'goal' is a ndarray, not a str"):
        store.get(GOAL)


def test_what_is_missing_is_answered_with_what_there_is():
    store = Store()
    with pytest.raises(StoreError, match="'goal' is not in the store; it has: nothing"):
        store.get(GOAL)
    store.provide(LOOK, print)
    with pytest.raises(StoreError, match="it has: camera/look"):
        store.get(GOAL)


def test_what_a_host_provides_outlasts_the_states_values_and_is_its_own():
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
