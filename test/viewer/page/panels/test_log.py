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


def test_what_was_chosen_stays_after_a_move(panel, page, clients):
    clients.lines += [line(1, "one"), line(2, "two", level=40)]
    panel("Log").get_by_role("combobox", name="Lowest level").select_option("error")
    panel("Log").get_by_role("textbox", name="Filter").fill("two")
    messages = panel("Log").get_by_role("log", name="Messages").locator("> *")
    expect(messages).to_have_count(1)
    page.get_by_role("region", name="Bottom panels").get_by_text("⋯").click()
    page.get_by_role("button", name="Move left").click()
    expect(page.get_by_role("region", name="Left panels").get_by_role("log")).to_be_visible()
    expect(messages).to_have_count(1)
    expect(panel("Log").get_by_role("combobox", name="Lowest level")).to_have_value("error")
    expect(panel("Log").get_by_role("textbox", name="Filter")).to_have_value("two")


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


def test_the_end_is_in_view_until_the_user_scrolls_up(panel, clients, page):
    clients.lines += [line(number, f"{number} " + "word " * 40) for number in range(1, 301)]
    messages = panel("Log").get_by_role("log", name="Messages")
    for number in (301, 302):
        clients.lines.append(line(number, f"{number} " + "word " * 40))
        last = messages.get_by_text(f"{number} word")
        expect(last).to_be_in_viewport()
    messages.evaluate("each => each.scrollTop -= 300")
    expect(last).not_to_be_in_viewport()
    clients.lines.append(line(303, "303 end"))
    expect(messages.get_by_text("303 end")).to_have_count(1)
    expect(messages.get_by_text("303 end")).not_to_be_in_viewport()
