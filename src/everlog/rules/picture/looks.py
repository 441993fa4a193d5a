"""Which sizes and colours do pictures of rules have?"""

from __future__ import annotations

from dataclasses import dataclass

CHARACTER, LEADING, PADDING, MARGIN = 7.2, 17.0, 10.0, 24.0  # pixels: 12 px monospace
LINES = "#555"  # arrows


@dataclass(frozen=True)
class Looks:
    """The colours of a box."""

    fill: str
    stroke: str


# Orange and yellow differ in lightness too, for those who do not see the colours.
COLOURS = {
    "plain": Looks("#fafafa", "#888888"),
    "recursive": Looks("#eef4fb", "#3b76b8"),
    "directly": Looks("#ffcc99", "#b35300"),
    "indirectly": Looks("#fff4c2", "#a08600"),
    "gone": Looks("#f4f4f4", "#bbbbbb"),
}
TEXT = {"stays": "#000000", "added": "#116329", "removed": "#8f2018", "note": "#666666"}
