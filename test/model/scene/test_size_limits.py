import pytest

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.parts import load_spec, part_from_text

TOO_LARGE = {
    "height field": (
        "<hfield name='alps' nrow='8001' ncol='8000' size='1 1 1 1'/>",
        "64008000 cells of hfield 'alps' are too many; at most 64000000 are allowed",
    ),
    "more than an integer holds": (
        "<hfield name='alps' nrow='2000000000' ncol='2000000000' size='1 1 1 1'/>",
        "4000000000000000000 cells of hfield 'alps'",
    ),
    "texture": (
        "<texture name='sky' type='2d' builtin='flat' width='30000' height='30000'/>",
        "900000000 texels of texture 'sky'",
    ),
    "cube": (
        "<texture name='sky' type='skybox' builtin='flat' width='4000' height='1'/>",
        "96000000 texels of texture 'sky'",
    ),
}


def model(asset: str) -> str:
    return f"<mujoco><asset>{asset}</asset></mujoco>"


@pytest.mark.parametrize(("asset", "why"), TOO_LARGE.values(), ids=TOO_LARGE)
def test_a_model_that_is_too_large_is_refused_in_a_text(asset: str, why: str) -> None:
    with pytest.raises(UserInputError, match=f"the text of 'x': {why}"):
        part_from_text(model(asset), name="x")


@pytest.mark.parametrize(("asset", "why"), TOO_LARGE.values(), ids=TOO_LARGE)
def test_a_model_that_is_too_large_is_refused_in_a_file(tmp_path, asset: str, why: str) -> None:
    path = tmp_path / "x.xml"
    path.write_text(model(asset))
    with pytest.raises(UserInputError, match=f"{path}: {why}"):
        load_spec(path, "x")


def test_a_model_that_is_too_large_is_refused_in_an_included_file(tmp_path) -> None:
    (tmp_path / "alps.xml").write_text(model(TOO_LARGE["height field"][0]))
    path = tmp_path / "x.xml"
    path.write_text("<mujoco><include file='alps.xml'/></mujoco>")
    with pytest.raises(UserInputError, match="64008000 cells of hfield 'alps'"):
        load_spec(path, "x")


@pytest.mark.parametrize(
    "asset",
    [
        "<!-- <hfield name='alps' nrow='9000' ncol='9000' size='1 1 1 1'/> -->",
        "<hfield name='alps' nrow='8000' ncol='8000' size='1 1 1 1'/>",
        "<texture name='sky' type='2d' builtin='flat' width='8000' height='8000'/>",
    ],
)
def test_a_large_model_is_accepted(tmp_path, asset: str) -> None:
    path = tmp_path / "x.xml"
    path.write_text(model(asset))
    load_spec(path, "x")


@pytest.mark.timeout(120)  # where time grows with the square of their number at most
@pytest.mark.parametrize(("parent", "count"), [("0", 5000), ("{}", 1000)], ids=["star", "chain"])
def test_a_urdf_of_many_links_is_accepted(parent: str, count: int) -> None:
    links = "".join(f"<link name='l{i}'/>" for i in range(count))
    joints = "".join(
        f"<joint name='j{i}' type='fixed'><parent link='l{parent.format(i - 1)}'/>"
        f"<child link='l{i}'/></joint>"
        for i in range(1, count)
    )
    part = part_from_text(f"<robot name='many'>{links}{joints}</robot>", name="many")
    assert len(part.spec.bodies) == count + 1
