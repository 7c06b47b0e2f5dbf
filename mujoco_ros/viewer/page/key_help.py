"""The window "Keys and mouse"."""

from mujoco_ros.viewer.page import popups, widgets

TITLE = "Keys and mouse"
KEYS = (
    ("rotate the view", "drag with the left button, or one finger"),
    ("shift the view", "drag with the right button, or two fingers; with Shift, horizontally"),
    ("zoom", "wheel, drag with the middle button, or part two fingers"),
    (
        "centre the view on a point",
        "double-click it with the right button; with Ctrl, the camera follows the body",
    ),
    ("switch to a camera of the model", "[ and ], or View; Esc returns"),
    ("swap the left and the right button", "Alt"),
    ("select a body", "double-click it"),
    ("rotate the selected body", "Ctrl + drag with the left button; with Shift, about other axes"),
    (
        "pull it; while paused, move it",
        "Ctrl + drag with the right button; with Shift, in the horizontal plane",
    ),
    ("play, pause", "Space"),
    ("one step, while paused", "Right arrow"),
    (
        "show a past state",
        "the bar below the scene, or Left arrow; Right arrow goes forth, Esc returns",
    ),
    ("reset time and state", "Backspace"),
    ("half or double speed", "-, ="),
    (
        "show contacts, forces, joints, …",
        "C, F, J, …, see View; groups of geoms: 0 to 5, of sites with Shift; F6 frames, F7 labels",
    ),
    ("show all bodies", "Ctrl+A, with the focus in the scene"),
    ("show numbers, the profiler", "F2, F3"),
    ("search", "Ctrl+K"),
    ("show these keys", "? or F1; Esc closes"),
)
"""What to do, and how."""


def build() -> None:
    """Create the button that opens the window; page.js opens it by a key."""
    with popups.popup("?", TITLE) as window:
        window.opener.classes("plain")
        window.opener._props |= {"aria-label": "Keys", "title": TITLE}
        window.element._props["data-window"] = "keys"
        table = widgets.WidgetTable(TITLE, [widgets.Column("To"), widgets.Column("Do", wide=True)])
        table.element.classes("keys")
        for purpose, keys in KEYS:
            with table.row(purpose), table.cell():
                widgets.text(keys)
