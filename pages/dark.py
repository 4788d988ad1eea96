"""A figure of Matplotlib in the colours of the site's dark mode."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAPER, INK = "#1e2129", "#d8dae2"  # the background of the dark site, and its text
SHADE = "#4a4f5c"  # an area in light grey, which stands back behind what is drawn on it
PALE, TINT = 0.75, 0.03  # least luminance of a light grey, and less colour than it may have
DARK, LIGHT, GREY = 0.3, 0.9, 0.15  # luminance below and above which a grey is ink or paper


def darken(figure: Figure) -> None:
    """Exchange ink and paper: backgrounds, words, axes and lines in black; colours stay."""
    from matplotlib.collections import Collection
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch
    from matplotlib.text import Text

    backgrounds = [figure.patch, *(part.patch for part in figure.axes)]
    for axes in figure.axes:
        axes.tick_params(which="both", color=INK, labelcolor=INK)
        legend = axes.get_legend()
        backgrounds += [legend.get_frame()] if legend else []
    for legend in figure.legends:
        backgrounds.append(legend.get_frame())
    for artist in figure.findobj():
        if isinstance(artist, Text):
            artist.set_color(_exchanged(artist.get_color()))
            if artist.get_bbox_patch() is not None:
                backgrounds.append(artist.get_bbox_patch())
        elif isinstance(artist, Line2D):
            artist.set_color(_exchanged(artist.get_color()))
            artist.set_markeredgecolor(_exchanged(artist.get_markeredgecolor()))
            artist.set_markerfacecolor(_exchanged(artist.get_markerfacecolor()))
        elif isinstance(artist, Patch) and artist not in backgrounds:
            artist.set_edgecolor(_exchanged(artist.get_edgecolor()))
            artist.set_facecolor(_shaded(_exchanged(artist.get_facecolor())))
        elif isinstance(artist, Collection) and artist.get_array() is None:
            artist.set_edgecolor([_exchanged(color) for color in artist.get_edgecolor()])
            artist.set_facecolor([_exchanged(color) for color in artist.get_facecolor()])
    for patch in backgrounds:
        *color, opacity = patch.get_facecolor()
        if opacity and min(color) > LIGHT:
            patch.set_facecolor((*_rgb(PAPER), opacity))


def _exchanged(color: Any) -> Any:
    """INK in the place of black and dark greys, with its opacity; anything else as it is."""
    from matplotlib.colors import to_rgba

    if isinstance(color, str) and color in ("none", "auto", "inherit"):
        return color
    *rgb, opacity = to_rgba(color)
    if np.mean(rgb) > DARK or np.ptp(rgb) > GREY:
        return color
    return (*_rgb(INK), opacity)


def _shaded(color: Any) -> Any:
    """SHADE in the place of light greys, which would shine in the dark; anything else as it is."""
    from matplotlib.colors import to_rgba

    *rgb, opacity = to_rgba(color)
    pale = np.mean(rgb) >= PALE and np.ptp(rgb) < TINT
    return (*_rgb(SHADE), opacity) if pale else color


def _rgb(color: str) -> tuple[float, float, float]:
    from matplotlib.colors import to_rgb

    return to_rgb(color)
