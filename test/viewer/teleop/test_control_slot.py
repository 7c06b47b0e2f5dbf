"""The page that has control."""

from mujoco_ros.viewer.teleop.session import ControlSlot


def test_control_passes_to_the_pages_that_wait_in_their_order():
    slot = ControlSlot()
    for page in ("a", "b", "c", "b"):
        slot.request(page)
    slot.take_control("d")
    assert (slot.owner, slot.waiting) == ("a", ["b", "c"])
    slot.release("b")
    slot.release("a")
    assert (slot.owner, slot.waiting) == ("c", [])
    slot.release("c")
    assert slot.owner is None
    slot.take_control("d")
    assert slot.owner == "d"


def test_only_the_page_in_control_denies_requests():
    slot = ControlSlot()
    for page in ("a", "b", "c"):
        slot.request(page)
    slot.deny("b")
    assert slot.waiting == ["b", "c"]
    slot.deny("a")
    assert (slot.owner, slot.waiting) == ("a", [])
