"""The panel "Plots" in a browser."""

import re

import cv2
import numpy as np
import pytest
from eventually import eventually
from past_times import past_states
from playwright.sync_api import expect

from mujoco_ros.viewer.clients import FieldKey, FieldSample
from mujoco_ros.viewer.page.chart import Chart
from mujoco_ros.viewer.page.live import LiveFeed

HOSTILE = "/<img src=x onerror=alert(1)>"
# The share of the canvas, without axes, that has the colour of the first curve
COLOURED = """canvas => {
  const context = canvas.getContext("2d");
  const { data } = context.getImageData(60, 0, canvas.width - 70, canvas.height - 20);
  let count = 0;
  for (let i = 0; i < data.length; i += 4)
    count += data[i + 3] > 200 && data[i + 2] - data[i] > 90;
  return count;
}"""


@pytest.fixture
def joint(state) -> int:
    """Address of the position of the first joint."""
    return int(state.layout.robots[0].joints.qpos[0])


def moving(state, joint, shown, until: float) -> None:
    """Advance the time in steps that the page samples, as the first value shows."""
    value = shown.get_by_role("row").first.get_by_role("cell").last
    while state.time < until:
        state.data.qpos[joint] = number = state.time + 0.6  # first: the time makes it a sample
        state.time += 0.5
        expect(value).to_have_text(re.compile(rf"^{number:.1f}"))


def test_joints_and_a_force_are_plotted_with_title_legend_and_values(panel, state, joint):
    shown = panel("Plots")
    legend = shown.get_by_role("table", name="Values of joint q [rad]")
    expect(legend.get_by_role("row")).to_have_count(6)
    expect(shown.get_by_role("img", name="Plot of joint q [rad] over time")).to_be_visible()
    expect(shown.get_by_role("img", name=re.compile(r"force \[N\]"))).to_be_visible()
    state.data.qpos[joint] = -0.25
    state.time = 1.0
    expect(legend.get_by_role("row").first).to_contain_text("−0.250")
    moving(state, joint, legend, 4.0)
    canvas = shown.get_by_role("img").first
    eventually(lambda: canvas.evaluate(COLOURED) > 50)
    legend.get_by_role("button", name="shoulder_pan_joint q").click()
    eventually(lambda: canvas.evaluate(COLOURED) < 10)


def test_a_signal_is_chosen_by_a_search(panel, page, state):
    shown = panel("Plots")
    shown.get_by_role("button", name="Clear").click()
    expect(shown.get_by_text("Choose the signals to plot.")).to_be_visible()
    shown.get_by_role("button", name="Choose").click()
    choices = page.get_by_role("dialog", name="Choose what to plot")
    choices.get_by_role("textbox", name="Search").fill("elbow torque")
    expect(choices.get_by_role("checkbox")).to_have_count(1)
    choices.get_by_role("checkbox", name="elbow_joint torque").check()
    page.keyboard.press("Escape")
    expect(choices).not_to_be_visible()
    expect(shown.get_by_role("table", name="Values of Nm")).to_contain_text("elbow_joint torque")


def test_the_fields_of_a_topic_are_found_and_plotted_as_text(panel, page, state, clients):
    key = FieldKey(HOSTILE, "data[<b>]")
    clients.fields.topics = ("/other", HOSTILE)
    clients.fields.paths = {HOSTILE: (key.path, "data[1]")}
    shown = panel("Plots")
    shown.get_by_role("button", name="Clear").click()
    shown.get_by_role("button", name="Choose").click()
    choices = page.get_by_role("dialog", name="Choose what to plot")
    choices.get_by_role("button", name=HOSTILE).click()
    choices.get_by_role("checkbox", name=key.path).check()
    eventually(lambda: clients.fields.watched == (key,))
    page.keyboard.press("Escape")
    clients.fields.samples += [FieldSample(HOSTILE, t, {key.path: t}) for t in (1.0, 2.0, 2.5)]
    legend = shown.get_by_role("table", name=f"Values of {HOSTILE} data")
    expect(legend).to_have_text(re.compile("^<b>2.500$"))
    expect(page.locator("img, .plot b, .choices b")).to_have_count(0)


def test_a_click_shows_the_state_of_its_time_and_a_double_click_the_present(
    panel, page, state, joint
):
    shown = panel("Plots")
    moving(state, joint, shown.get_by_role("table").first, 3.0)
    state.past = past_states(*np.arange(0.0, 3.0, 0.1))
    body = shown.get_by_role("group", name=re.compile("arrow keys")).first
    box = body.bounding_box()
    body.click(position={"x": box["width"] - 6 - (box["width"] - 60) * 0.2, "y": 20})
    eventually(lambda: state.shown is not None)
    assert state.shown.time == pytest.approx(1.0, abs=0.15), "a fifth of 10 s before the newest"
    body.dblclick(position={"x": box["width"] / 2, "y": 20})
    eventually(lambda: state.shown is None)


def test_a_read_only_page_shows_no_other_state(read_only_page, state):
    read_only_page.get_by_role("tab", name="Plots").click()
    body = read_only_page.get_by_role("group", name=re.compile("arrow keys")).first
    legend = read_only_page.get_by_role("tabpanel", name="Plots").get_by_role("table").first
    expect(legend).to_contain_text("0.000")
    body.click()
    read_only_page.get_by_role("button", name="Freeze").click()
    expect(read_only_page.get_by_role("button", name="Continue", exact=True)).to_be_visible()
    assert state.shown is None


def test_keys_zoom_and_two_cursors_measure(panel, page, state, joint):
    shown = panel("Plots")
    moving(state, joint, shown.get_by_role("table").first, 6.0)
    body = shown.get_by_role("group", name=re.compile("arrow keys")).first
    body.focus()
    page.keyboard.press("ArrowUp")
    expect(shown.get_by_role("button", name="Continue", exact=True)).to_be_visible()
    page.keyboard.press("Home")
    expect(shown.get_by_role("button", name="Freeze")).to_be_visible()
    shown.get_by_role("button", name="Cursors").click()
    values = shown.get_by_role("table", name="Values at the cursors")
    for name, time in (("Cursor A [s]", "2.2"), ("Cursor B [s]", "4.6")):
        values.get_by_role("textbox", name=name).fill(time)
        values.get_by_role("textbox", name=name).press("Enter")
    expect(values.get_by_role("row").first).to_contain_text("2.4000")
    expect(values.get_by_role("row").nth(1)).to_contain_text("0.417 Hz")
    expect(values.get_by_role("row").nth(2)).to_have_text(re.compile("2.100.*4.600.*2.500"))


def test_samples_are_sent_once(panel, state, joint, monkeypatch):
    legend = panel("Plots").get_by_role("table").first
    moving(state, joint, legend, 1.0)
    times: dict[tuple[int, ...], list[float]] = {}  # of what is sent, by the curves
    append = LiveFeed.append

    def record(feed, element, lines):
        for block in lines if isinstance(element, Chart) else ():
            table = np.frombuffer(block["data"], np.float32).reshape(-1, block["count"])
            times.setdefault(tuple(block["curves"]), []).extend(block["begin"] + table[0])
        append(feed, element, lines)

    monkeypatch.setattr(LiveFeed, "append", record)
    moving(state, joint, legend, 4.0)
    # The time may change between two curves, of which the second one then lacks a sample.
    np.testing.assert_allclose(max(times.values(), key=len), np.arange(1.5, 4.1, 0.5))
    assert all(sent == sorted(set(sent)) for sent in times.values()), times


def test_samples_are_saved_in_the_browser(panel, page, state, joint, tmp_path):
    shown = panel("Plots")
    moving(state, joint, shown.get_by_role("table").first, 2.0)
    with page.expect_download() as saved:
        shown.get_by_role("button", name="Save the samples as CSV").click()
    assert saved.value.suggested_filename == "arm_plots.csv"
    lines = saved.value.path().read_text().splitlines()
    assert lines[0].startswith("time,shoulder_pan_joint q [rad],")
    assert lines[-1].startswith("2,2.1,")
    with page.expect_download() as saved:
        shown.get_by_role("button", name="Save the plots as PNG").click()
    saved.value.save_as(tmp_path / "plots.png")
    picture = cv2.imread(str(tmp_path / "plots.png"))
    assert picture.shape[1] > 400
    assert picture.std() > 5.0


def test_the_span_is_kept_for_the_next_page(panel, page, served, state, joint):
    shown = panel("Plots")
    shown.get_by_role("combobox", name="Span").select_option("20")
    ((_session, layout),) = served.server._layouts.values()
    (plots,) = [it for it in layout.panels if it.title == "Plots"]
    eventually(lambda: plots.settings()["span_s"] == 20.0)
    plots.restore({"span_s": 3.0})
    assert plots.settings()["span_s"] == 20.0


CURVES = """async () => {
  const { Series, limits, ticks, trace } = await import("/page/curves.js");
  const { format } = await import("/page/elements.js");
  const series = new Series();
  for (let block = 0; block < 20; block++)
    series.add(block, Float32Array.from({ length: 1000 }, (_, i) => i / 1000),
      Float32Array.from({ length: 1000 }, (_, i) => (block === 7 && i === 777 ? 100 : i % 2)));
  const drawn = [];
  const note = (x, y) => drawn.push([x, y]);
  trace({ beginPath() {}, moveTo: note, lineTo: note, stroke() {} }, series, [0, 20],
    (time) => time * 10, (value) => value, 200);
  const before = series.count;
  series.add(10, Float32Array.of(0, 0.5), Float32Array.of(5, NaN));
  return { points: drawn.length, high: Math.max(...drawn.map(([, y]) => y)), before,
    after: series.count, at: series.at(10.2), gap: series.at(11) + "", ticks: ticks(0.3, 2.1, 4),
    limits: limits([{ series }], [10, 11]), flat: limits([], [0, 1]),
    words: [format(-0.0004, 3), format(-4.94726e-6, 3), format(NaN, 2), format(-1.5, 1)] };
}"""


def test_curves_are_drawn_with_few_points_and_all_peaks(tabs, url):
    blank = tabs.new_page()
    blank.goto(f"{url}page/page.css")  # of the same server
    found = blank.evaluate(CURVES)
    assert found["before"] == 20_000
    assert found["points"] < 201 * 8 + 8
    assert found["high"] == 100
    assert (found["after"], found["at"], found["gap"]) == (10_002, 5, "NaN"), "later ones go"
    assert found["ticks"] == {"digits": 1, "at": [0.5, 1.0, 1.5, 2.0]}
    assert found["limits"][0] < 5.0 < found["limits"][1]
    assert found["flat"] == pytest.approx([-0.00055, 0.00055])
    assert found["words"] == ["0.000", "0.000", "–", "−1.5"]
