from mujoco_ros.viewer.printable_text import printable


def test_characters_that_cannot_be_displayed_are_replaced_one_by_one():
    assert printable("Größe 1 µm") == "Größe 1 µm"
    assert printable("a\nb\x1b[0m\u202e") == "a�b�[0m�"
    assert printable("a\nb\t", keep="\n") == "a\nb�"
