"""Pictures from Python: palladion.draw, draw_time and draw_layout."""

import pytest

from palladion.report.drawing import Picture


def test_a_picture_is_saved_by_the_ending_of_the_path(tmp_path):
    picture = Picture("<svg/>", "<html></html>", "a picture")
    picture.save(tmp_path / "one.svg")
    picture.save(str(tmp_path / "one.HTML"))
    assert (tmp_path / "one.svg").read_text() == "<svg/>"
    assert (tmp_path / "one.HTML").read_text() == "<html></html>"
    with pytest.raises(ValueError, match=r"\.svg or as a page, \.html.*one\.png"):
        picture.save(tmp_path / "one.png")
    assert "<svg/>" in picture._repr_html_() and repr(picture) == str(picture) == "a picture"
