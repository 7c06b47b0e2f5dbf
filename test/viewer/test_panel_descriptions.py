"""Descriptions of declared panels, which any node can publish."""

import json

import pytest

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.viewer.panel_descriptions import panel_info, table_rows

BUTTON = {"kind": "button", "label": "Open", "service": "/walk/panel/open"}
FIELD = {"kind": "number", "label": "Speed", "parameter": "WALK.speed"}
FORM = {"kind": "form", "label": "Walk", "button": "Go", "fields": [FIELD]}


def described(**changes: object) -> str:
    group = {"name": "WALK", "items": [BUTTON]}
    return json.dumps({"title": "walk", "node": "/walk", "groups": [group]} | changes)


def test_a_description_is_read():
    info = panel_info(described())
    assert (info.title, info.node, info.groups[0].name) == ("walk", "/walk", "WALK")
    assert info.groups[0].items[0].service == "/walk/panel/open"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[" * 100_000,
        "3",
        described(titel="x"),
        described(title=5),
        described(groups=[{"name": "W", "items": [{"kind": "button"}]}]),
        described(groups=[{"name": "W", "items": [BUTTON] * 600}]),
        described(groups=[{"name": "W", "items": [FORM | {"fields": [FIELD] * 30}] * 20}]),
        described(groups=[{"name": "W", "items": [FORM | {"fields": [FORM]}]}]),
        described(groups=[{"name": "W", "items": [FORM | {"fields": "abc"}]}]),
        described(groups=[{"name": "W", "items": [FORM | {"fields": [3]}]}]),
        described(groups=[{"name": "W", "items": [FORM | {"button": None}]}]),
        described(node=""),
        described(node="/walk/"),
        described(node="/" + "w" * 300),
    ],
)
def test_what_is_no_description_is_an_error(text):
    with pytest.raises(UserInputError):
        panel_info(text)


def test_a_form_has_settings():
    info = panel_info(described(groups=[{"name": "W", "items": [FORM]}]))
    (form,) = info.groups[0].items
    assert (form.button, form.service, form.fields[0].parameter) == ("Go", "", "WALK.speed")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"fields": []}, "'Walk' of the panel 'walk' has 0 fields; it needs 1 to 32"),
        ({"fields": [FIELD] * 33}, "'Walk' of the panel 'walk' has 33 fields"),
        ({"service": "go"}, "the service of 'Walk' of the panel 'walk' is 'go', which is no full"),
        (
            {"fields": [FIELD | {"kind": "choice", "topic": "a b"}]},
            "the topic of 'Speed' of the form 'Walk' of 'walk' is 'a b', which is no full name",
        ),
        (
            {"fields": [FIELD | {"kind": "table"}]},
            "'Speed' of the form 'Walk' of 'walk' is a table; a form has settings only",
        ),
        (
            {"fields": [FIELD | {"kind": "form"}]},
            "'Speed' of the form 'Walk' of 'walk' is a form; a form has settings only",
        ),
        ({"fields": [BUTTON]}, r"items\[0\].fields\[0\]: key 'service' not found"),
    ],
)
def test_an_invalid_form_is_named(changes, message):
    with pytest.raises(UserInputError, match=message):
        panel_info(described(groups=[{"name": "W", "items": [FORM | changes]}]))


def test_a_deeply_nested_form_is_rejected():
    nested: dict[str, object] = FORM
    for _ in range(300):
        nested = FORM | {"fields": [nested]}
    with pytest.raises(UserInputError, match="key 'button' not found"):
        panel_info(described(groups=[{"name": "W", "items": [nested]}]))


@pytest.mark.parametrize("kind", ["table", "plot", "value", "button"])
@pytest.mark.parametrize("name", ["", "walk/feet", "/walk//feet", "/walk/1", "/a b", "/feet\n"])
def test_an_item_with_an_invalid_name_is_named(kind, name):
    item = {"kind": kind, "label": "Feet", "service" if kind == "button" else "topic": name}
    with pytest.raises(UserInputError, match=r"of 'Feet' of the panel 'walk' is .* no full name"):
        panel_info(described(groups=[{"name": "W", "items": [item]}]))


@pytest.mark.parametrize("name", ["walk/objects", "/a b"])
def test_a_choice_may_have_a_topic(name):
    item = FIELD | {"kind": "choice", "topic": "/walk/objects"}
    assert panel_info(described(groups=[{"name": "W", "items": [item]}]))
    with pytest.raises(UserInputError, match=r"the topic of 'Speed' .* no full name"):
        panel_info(described(groups=[{"name": "W", "items": [item | {"topic": name}]}]))


def test_columns_are_limited_but_choices_are_not():
    def read(kind: str, count: int) -> object:
        item = {"kind": kind, "label": "Feet", "topic": "/walk/feet", "columns": ["c"] * count}
        return panel_info(described(groups=[{"name": "W", "items": [item]}]))

    assert read("table", 32)
    assert read("choice", 33)
    for kind in ("table", "plot", "value"):
        with pytest.raises(UserInputError, match=r"'Feet' .* has 33 columns; limit 32"):
            read(kind, 33)


def test_rows_of_a_table_are_texts_and_limited():
    assert table_rows('[["left", 1.5], []]') == [["left", "1.5"], []]
    assert len(table_rows(json.dumps([["x"]] * 1000))) == 200
    for text in ("{", "5", '["x"]'):
        with pytest.raises(UserInputError):
            table_rows(text)
