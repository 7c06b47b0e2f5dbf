"""The panel "Inspector" in a browser."""

import mujoco
import pytest
from playwright.sync_api import expect


@pytest.fixture
def inspector(page):
    page.locator("summary", has_text="Panels").click()
    page.get_by_role("button", name="Inspector").click()
    return page.get_by_role("tabpanel", name="Inspector")


def test_fields_are_watched_until_they_are_removed(inspector, state):
    field = inspector.get_by_role("textbox", name="Field to watch")
    field.fill("ctrl[0]")
    field.press("Enter")
    remove = inspector.get_by_role("button", name="Stop watching ctrl[0]")
    expect(remove).to_be_visible()
    state.data.ctrl[0] = 0.25
    expect(inspector.locator(".watched").get_by_text("0.25", exact=True)).to_be_visible()
    field.fill("wings")
    field.press("Enter")
    problem = inspector.get_by_text("MjData has no field 'wings' with numbers")
    expect(problem).to_be_visible()
    inspector.get_by_role("combobox", name="Fields of MjData").select_option("time")
    expect(inspector.get_by_role("button", name="Stop watching time")).to_be_visible()
    expect(problem).to_be_hidden()
    remove.click()
    expect(remove).to_have_count(0)


def test_the_profiler_opens_by_a_key_and_has_the_time_of_each_stage(page, clients):
    clients.diagnostics.profile = {"step": 8e-5, "position": 2e-5}
    page.locator(".scene-view").focus()
    page.keyboard.press("F3")
    table = page.get_by_role("table", name="Profiler")
    expect(table.get_by_role("row").nth(1)).to_have_text("step80.0100")
    expect(table.get_by_role("row").nth(2)).to_have_text("position20.025")


def test_sensors_sizes_and_counts_are_shown(inspector, state):
    model = state.model
    expect(inspector.get_by_text(f"ngeom {model.ngeom}")).to_be_visible()
    expect(inspector.get_by_text("1 ms, implicitfast")).to_be_visible()
    inspector.locator("summary", has_text="Sensors").click()
    table = inspector.get_by_role("table", name="Sensors")
    expect(table.get_by_role("row")).to_have_count(model.nsensor + 1)
    expect(table.get_by_role("row", name="arm/wrist_ft_force")).to_contain_text("force")


def test_a_sensor_has_a_bar_of_its_share_of_the_cutoff(inspector, state):
    state.model.sensor_cutoff[0], sensor = 4.0, state.model.sensor(0)
    values = slice(sensor.adr[0], sensor.adr[0] + sensor.dim[0])
    state.data.sensordata[values] = -1.0
    inspector.locator("summary", has_text="Sensors").click()
    table = inspector.get_by_role("table", name="Sensors")
    named = inspector.page.get_by_role("cell", name=sensor.name, exact=True)
    share = table.get_by_role("row").filter(has=named).locator("td.share")
    expect(share).to_have_text("25")
    expect(share).to_have_css("--share", "25%")
    state.data.sensordata[values] = 9.0
    expect(share).to_have_text("225")
    expect(share).to_have_css("--share", "100%")
    state.model.sensor_cutoff[0] = 0.0
    expect(share).to_have_count(0)


def test_the_solver_has_its_residual_time_and_difference_to_the_inverse(inspector, state, clients):
    for words in ("not measured", "not computed: the flag fwdinv is off"):
        expect(inspector.get_by_text(words)).to_be_visible()
    clients.diagnostics.profile = {"step": 8e-5}
    expect(inspector.get_by_text("80.0 µs in the simulator")).to_be_visible()
    state.data.solver_niter[0], state.data.solver[1].gradient = 2, 1.25e-7
    expect(inspector.get_by_text("1.2e-07")).to_be_visible()
    flag = int(mujoco.mjtEnableBit.mjENBL_FWDINV)
    state.model.opt.enableflags |= flag
    try:
        expect(inspector.get_by_text("of constraint forces")).to_be_visible()
    finally:
        state.model.opt.enableflags &= ~flag
