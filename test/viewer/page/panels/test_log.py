"""The panel "Log" in a browser."""

from playwright.sync_api import expect

from mujoco_ros.viewer.clients import LogLine

HOSTILE = "<img src=x onerror=alert(1)>"


def line(number: int, text: str, level: int = 20, node: str = "arm") -> LogLine:
    return LogLine(number=number, time=1.5, level=level, node=node, text=text)


def test_new_lines_appear_as_text(panel, clients):
    clients.lines.append(line(1, HOSTILE, node="<b>node</b>"))
    messages = panel("Log").get_by_role("log", name="Messages")
    expect(messages).to_have_text("1.50 sinfo<b>node</b>" + HOSTILE)
    clients.lines.append(line(2, "second"))
    expect(messages.get_by_text("second")).to_be_visible()
    expect(messages.locator("img, b")).to_have_count(0)


def test_lines_are_filtered_by_level_and_text(panel, clients):
    clients.lines += [line(1, "one"), line(2, "two", level=40, node="hand"), line(3, "TWO")]
    shown = panel("Log")
    messages = shown.get_by_role("log", name="Messages").locator("> *")
    expect(messages).to_have_count(3)
    shown.get_by_role("textbox", name="Filter").fill("two")
    expect(messages).to_have_count(2)
    shown.get_by_role("combobox", name="Lowest level").select_option("error")
    expect(messages).to_have_count(1)
    expect(messages).to_contain_text("hand")


def test_lines_are_cleared_and_later_ones_shown(panel, clients):
    clients.lines.append(line(1, "one"))
    shown = panel("Log")
    messages = shown.get_by_role("log", name="Messages").locator("> *")
    expect(messages).to_have_count(1)
    shown.get_by_role("button", name="Clear").click()
    expect(messages).to_have_count(0)
    clients.lines.append(line(2, "two"))
    expect(messages).to_have_count(1)


def test_a_line_copies_and_wraps(panel, clients, page):
    clients.lines.append(line(1, "word " * 200))
    shown = panel("Log")
    messages = shown.get_by_role("log", name="Messages")
    expect(messages.locator("> *")).to_have_count(1)
    assert messages.evaluate("each => each.scrollWidth <= each.clientWidth")
    shown.get_by_role("checkbox", name="wrap").uncheck()
    page.wait_for_function(
        "(each => each.scrollWidth > each.clientWidth)(document.querySelector('[role=log]'))"
    )
    shown.get_by_role("button", name="Copy the messages").click()
    expect(shown.get_by_text("Copied")).to_be_visible()
