"""The page's colours tell things apart for people who do not see all of them.

Colour vision is simulated as in G. M. Machado, M. M. Oliveira, L. A. F. Fernandes, A
Physiologically-based Model for Simulation of Color Vision Deficiency, 2009 (dichromats), and
distances are those of CIE 1976 L*a*b*, in which some 2 are just seen.
"""

import itertools
import re
from importlib.resources import files

import numpy
import pytest

from sibyl.profile.heat_map import LEVELS, _colour

VISION = {
    "usual": numpy.eye(3),
    "protanopia": numpy.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
         [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": numpy.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
         [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": numpy.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
         [0.004733, 0.691367, 0.303900]]
    ),
}  # fmt: skip
TO_XYZ = numpy.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
PARTS = ("waiting", "moving", "bound", "computing", "messages", "unsplit")


def lab(colour: tuple[int, int, int], vision: numpy.ndarray) -> numpy.ndarray:
    """L*a*b* of what is seen of an sRGB colour."""
    share = numpy.array(colour) / 255
    linear = numpy.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    seen = numpy.clip(vision @ linear, 0, 1)
    x, y, z = numpy.cbrt((TO_XYZ @ seen) / TO_XYZ.sum(axis=1) + 1e-9)
    return numpy.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def colours_of_the_page() -> dict[str, tuple[int, int, int]]:
    text = (files("sibyl") / "data" / "pages" / "profile.html").read_text()
    found = dict(re.findall(r"--(\w+): (#[0-9a-fA-F]{6});", text))
    return {part: tuple(bytes.fromhex(found[part][1:])) for part in PARTS}


def test_red_and_green_are_alike_to_who_lacks_the_one() -> None:
    red, green = (185, 75, 40), (100, 110, 30)
    far = numpy.linalg.norm(lab(red, VISION["usual"]) - lab(green, VISION["usual"]))
    near = numpy.linalg.norm(lab(red, VISION["deuteranopia"]) - lab(green, VISION["deuteranopia"]))
    assert far > 3 * near


@pytest.mark.parametrize("vision", VISION)
def test_parts_of_a_bar_are_told_apart(vision: str) -> None:
    for one, other in itertools.combinations(colours_of_the_page().items(), 2):
        distance = numpy.linalg.norm(lab(one[1], VISION[vision]) - lab(other[1], VISION[vision]))
        assert distance > 15, (one[0], other[0], distance)


@pytest.mark.parametrize("vision", VISION)
def test_later_is_darker_in_the_heat_map(vision: str) -> None:
    light = [lab(_colour(level / (LEVELS - 1)), VISION[vision])[0] for level in range(LEVELS)]
    assert all(before > after for before, after in itertools.pairwise(light))
    assert light[0] - light[-1] > 40
