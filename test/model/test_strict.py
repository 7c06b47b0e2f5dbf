from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Literal

import pytest

from mujoco_ros.model.errors import UserInputError, unknown
from mujoco_ros.model.strict import from_dict, parse_yaml, read_text, read_yaml, updated


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True, kw_only=True)
class Wheel:
    radius: float
    width: float | None = None

    def __post_init__(self) -> None:
        if self.radius <= 0:
            raise UserInputError(f"'radius' must be positive, got {self.radius}")


@dataclass(frozen=True, kw_only=True)
class Car:
    name: str
    seats: int = 4
    open: bool = False
    colour: Colour = Colour.RED
    gear: Literal["park", "drive"] = "park"
    size: tuple[float, float] = (1.0, 2.0)
    wheels: tuple[Wheel, ...] = ()
    weights: dict[str, float] | None = None
    load: float | tuple[float, ...] = 0.0


@pytest.fixture
def parse(tmp_path: Path):
    """Read a YAML text strictly as a Car."""

    def parser(text: str) -> Car:
        path = tmp_path / "car.yaml"
        path.write_text(text)
        return from_dict(Car, read_yaml(path), "car.yaml")

    return parser


def test_every_kind_of_field_is_converted(parse):
    car = parse(
        "{name: a, seats: 2, open: true, colour: blue, gear: drive, size: [3, 4.5], "
        "wheels: [{radius: 0.3}, {radius: 1, width: 0.1}], weights: {front: 1}}"
    )
    assert car == Car(
        name="a",
        seats=2,
        open=True,
        colour=Colour.BLUE,
        gear="drive",
        size=(3.0, 4.5),
        wheels=(Wheel(radius=0.3), Wheel(radius=1.0, width=0.1)),
        weights={"front": 1.0},
    )
    assert type(car.size[0]) is float


@pytest.mark.parametrize(
    ("text", "load"), [("2", 2.0), ("2.5", 2.5), ("[1, 2.5]", (1.0, 2.5)), ("[]", ())]
)
def test_a_field_can_be_a_number_or_a_list(parse, text, load):
    assert parse(f"{{name: a, load: {text}}}").load == load


def test_a_missing_key_has_its_default(parse):
    assert parse("name: a") == Car(name="a")


@pytest.mark.parametrize("number", ["1e-3", "1.0e-3", "1E-3", "0.001", ".1e-2", "+1e-3"])
def test_numbers_with_an_exponent_need_no_decimal_point(parse, number):
    assert parse(f"{{name: a, size: [{number}, 2]}}").size[0] == 0.001


@pytest.mark.parametrize("text", ["1e3x", "e3", "1_0e", "v1e3"])
def test_names_that_resemble_numbers_remain_strings(parse, text):
    assert parse(f"name: {text}").name == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "{name: a, seets: 3}",
            "car.yaml: key 'seets' not found (did you mean 'seats'?); there are",
        ),
        ("{name: a, wheels: [{radius: 1}, {radios: 1}]}", "car.yaml.wheels[1]: key 'radios' not"),
        ("{name: a, zzz: 1}", "key 'zzz' not found; there are: name, seats, open, colour"),
        ("{name: a, 3: 1}", "car.yaml: key '3' not found"),
        ("seats: 3", "car.yaml: key 'name' is missing"),
        ("{name: a, wheels: [{width: 1}]}", "car.yaml.wheels[0]: key 'radius' is missing"),
        ("name: 3", "car.yaml.name: expected a text, got 3 (int); write it in quotes"),
        ("name: yes", "car.yaml.name: expected a text, got True (bool); write it in quotes"),
        ("name: 2024-01-01", "car.yaml.name: expected a text, got datetime.date"),
        ("name:", "car.yaml.name: expected a text, got None"),
        ("{name: a, seats: 2.0}", "car.yaml.seats: expected an integer, got 2.0 (float)"),
        ("{name: a, seats: true}", "car.yaml.seats: expected an integer, got True (bool)"),
        ("{name: a, open: 1}", "car.yaml.open: expected true or false, got 1 (int)"),
        ("{name: a, size: [true, 1]}", "car.yaml.size[0]: expected a number, got True (bool)"),
        ("{name: a, size: [.nan, 1]}", "car.yaml.size[0]: expected a finite number, got nan"),
        ("{name: a, size: [1, -.inf]}", "car.yaml.size[1]: expected a finite number, got -inf"),
        ("{name: a, size: [1]}", "car.yaml.size: expected 2 values, got 1"),
        ("{name: a, load: a}", "car.yaml.load: expected a number, a list; got 'a' (str)"),
        ("{name: a, load: [a]}", "car.yaml.load[0]: expected a number, got 'a' (str)"),
        ("{name: a, size: 3}", "car.yaml.size: expected a list, got 3 (int)"),
        ("{name: a, wheels: {radius: 1}}", "car.yaml.wheels: expected a list, got {'radius': 1}"),
        ("{name: a, wheels: [1]}", "car.yaml.wheels[0]: expected a mapping, got 1 (int)"),
        ("{name: a, wheels: [{radius: -1}]}", "wheels[0]: 'radius' must be positive, got -1.0"),
        ("{name: a, colour: rad}", "car.yaml.colour: 'rad' (str) is not one of red, blue"),
        ("{name: a, gear: [park]}", "car.yaml.gear: ['park'] (list) is not one of park, drive"),
        ("{name: a, weights: [1]}", "car.yaml.weights: expected a mapping, got [1] (list)"),
        ("{name: a, weights: {front: x}}", "car.yaml.weights.front: expected a number, got 'x'"),
        ("[1, 2]", "car.yaml: expected a mapping, got [1, 2] (list)"),
        ("", "car.yaml: expected a mapping, got None"),
    ],
)
def test_an_error_has_its_location_and_the_valid_values(parse, text, message):
    with pytest.raises(UserInputError) as caught:
        parse(text)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.timeout(120)  # where time grows with the square of the length at most
@pytest.mark.parametrize(
    "integer", ["9" * 20, f"1{'0' * 400}", f"0x{'f' * 100_000}", ":".join(["59"] * 50_000)]
)
def test_an_integer_of_more_than_64_bits_is_refused(parse, integer):
    with pytest.raises(UserInputError, match=r"line 2: the integer \w[\w:]* has more than 64 bits"):
        parse(f"name: a\nseats: {integer}")
    with pytest.raises(UserInputError, match="more than 64 bits"):
        parse(f"name: a\nsize: [{integer}, 1]")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"name: a\nname: b", "line 2: key 'name' is given twice"),
        (b"name: a\nwheels: [{radius: 1,\n radius: 2}]", "key 'radius' is given twice"),
        (b"name: a\n\tseats: 1", "not valid YAML: line 2: "),
        (b"name: [a", "not valid YAML: line 1: "),
        (b"a: 1\n---\nb: 2", "not valid YAML: line 2: expected a single document"),
        (b"a: *b", "not valid YAML: line 1: found undefined alias 'b'"),
        (b"a: &a [*a]", "line 1: a value contains itself"),
        (b"a: !!python/name:os.system", "not valid YAML: line 1: could not determine a constr"),
        (b"? [a]\n: 1", "not valid YAML: line 1: "),
        (b"a: 2024-13-41", "not valid YAML: month must be in 1..12"),
        (b"a: " + b"[" * 5000, "not valid YAML: "),
        (b"a: \x07", "not valid YAML: unacceptable character"),
        (b"a: \xe4", "cannot be read: it is not UTF-8 text"),
        (bytes(range(128, 256)), "cannot be read: it is not UTF-8 text"),
    ],
)
def test_an_invalid_file_is_an_error_of_one_line_with_file_and_location(tmp_path, content, message):
    path = tmp_path / "broken.yaml"
    path.write_bytes(content)
    with pytest.raises(UserInputError) as caught:
        read_yaml(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_merge_key_is_followed(tmp_path):
    path = tmp_path / "merge.yaml"
    path.write_text("a: &a {x: 1, y: 2}\nb: {<<: *a, y: 3}")
    assert read_yaml(path)["b"] == {"x": 1, "y": 3}


def test_errors_for_a_missing_file_and_a_folder_differ(tmp_path):
    with pytest.raises(UserInputError, match=r"no\.yaml' does not exist"):
        read_text(tmp_path / "no.yaml")
    with pytest.raises(UserInputError, match="is a folder; only regular files are read"):
        read_text(tmp_path)


def test_the_error_for_an_unknown_name_has_the_closest_and_lists_all():
    error = unknown("joint", "elbo", ["shoulder", "elbow"], where="arm.yaml")
    assert str(error) == (
        "arm.yaml: joint 'elbo' not found (did you mean 'elbow'?); there are: shoulder, elbow"
    )
    assert str(unknown("joint", "elbow", [])) == "joint 'elbow' not found; there are none"


def test_changes_of_a_configuration_are_checked_as_strictly_as_a_file():
    @dataclass(frozen=True, kw_only=True)
    class Motion:
        speed: float = 1.0
        goal: tuple[float, float] = (0.0, 0.0)

        def __post_init__(self):
            if self.speed < 0.0:
                raise UserInputError("it goes backwards")

    before = Motion(speed=2.0)
    assert updated(before, {"goal": [1, 2]}, "MOVE") == Motion(speed=2.0, goal=(1.0, 2.0))
    assert updated(before, {}, "MOVE") == before
    for changes, message in (
        ({"sped": 1.0}, r"MOVE: key 'sped' not found \(did you mean 'speed'\?\)"),
        ({"speed": "fast"}, "MOVE.speed: expected a number, got 'fast'"),
        ({"goal": [1.0]}, "MOVE.goal: expected 2 values, got 1"),
        ({"speed": -1.0}, "MOVE: it goes backwards"),
    ):
        with pytest.raises(UserInputError, match=message):
            updated(before, changes, "MOVE")


BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{y}: &{y} [{','.join([f'*{x}'] * 9)}]\n" for x, y in zip("abcdefgh", "bcdefghi", strict=True)
)
MERGE_BOMB = "a: &a {k: 1}\n" + "".join(
    f"{y}: &{y} {{<<: [{','.join([f'*{x}'] * 30)}]}}\n"
    for x, y in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.timeout(120)
@pytest.mark.parametrize(
    ("text", "why"),
    [
        (BOMB, "too large: more than 100000 values, aliases included; limit 100000"),
        (MERGE_BOMB, "too large: more than 100000 values"),
        ("[" + "0," * 100_000 + "]", "too large: more than 100000 values"),
        ("#" * ((1 << 20) + 1), "too large: 1048577 characters of YAML, limit 1048576"),
        ("[" * 100_000, "not valid YAML"),
    ],
    ids=["aliases", "merged keys", "values", "characters", "depth"],
)
def test_a_yaml_text_that_asks_for_too_much_is_rejected(text: str, why: str) -> None:
    with pytest.raises(UserInputError, match=f"it: {why}"):
        parse_yaml(text, "it")


@pytest.mark.timeout(120)
def test_many_keys_take_time_proportional_to_their_number() -> None:
    text = "\n".join(f"k{number}: {number}" for number in range(30_000))
    assert len(parse_yaml(text, "it")) == 30_000
