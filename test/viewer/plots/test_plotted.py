"""What is plotted, its settings and its table."""

import numpy as np
import pytest
from fake_clients import FakeClients
from still_state import StillState

from mujoco_ros.viewer.clients import FieldKey, FieldSample
from mujoco_ros.viewer.plots.plotted import Plotted, table

Q = ("arm joints", "shoulder_pan_joint", "q")
FIELD = FieldKey("/topic", "data[0]")


@pytest.fixture(scope="module")
def state() -> StillState:
    return StillState("arm")


def plotted(state: StillState, clients: FakeClients) -> Plotted:
    created = Plotted(state, clients.parameters, clients.fields)
    created.sample()
    return created


def test_the_choice_is_kept_for_the_next_viewer(state):
    first, clients = plotted(state, FakeClients()), FakeClients()
    assert first.settings() == {"signals": None, "fields": []}
    first.clear()
    assert first.is_empty
    first.signals.select(Q, True)
    first.fields.select(FIELD, True)
    second = Plotted(state, clients.parameters, clients.fields)
    second.restore(first.settings() | {"unknown": 1})
    second.sample()
    assert [signal.key for signal in second.signals.selected] == [Q]
    assert clients.fields.watched == (FIELD,)
    invalid = plotted(state, FakeClients())
    invalid.restore({"signals": "all", "fields": [["/topic"], 3, [1, 2]]})
    assert invalid.settings()["fields"] == []


def test_the_table_has_a_line_for_each_time(state):
    clients = FakeClients()
    shown = plotted(state, clients)
    shown.clear()
    shown.signals.select(Q, True)
    shown.fields.select(FIELD, True)
    state.data.qpos[state.layout.robots[0].joints.qpos[0]] = 0.25
    state.time = 1.0
    clients.fields.samples = [FieldSample(FIELD.topic, t, {FIELD.path: t}) for t in (0.5, 1.0)]
    shown.sample()
    assert table(shown.columns()).splitlines() == [
        "time,shoulder_pan_joint q [rad],0 [/topic data]",
        "0.5,,0.5",
        "1,0.25,1",
    ]
    assert table([]).splitlines() == ["time"]
    assert table([("nan", np.ones(1), np.array([np.nan]))]).splitlines() == ["time,nan", "1,"]
