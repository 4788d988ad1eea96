"""The page of an embedding of distributions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kernelmean.estimators.embedding import DistributionEmbedding
from kernelmean.report import facts, page


def embedding_page(
    embedding: DistributionEmbedding,
    *,
    names: Sequence[object] | None = None,
    metadata: Mapping[str, Sequence[object]] | None = None,
    color: str | None = None,
    settings: Mapping[str, object] | None = None,
    command: str | Sequence[str] = "",
    title: str = "",
) -> str:
    """Samples as points of a plane, as one self-contained HTML page.

    Parameters
    ----------
    embedding : fitted; with ``error_bars=True`` the page shows each sample's error.
    names : of the N samples; by default those of the fit.
    metadata : columns to colour by, name to N values; numbers give a scale, anything else groups.
    color : the column to begin with; by default the first.
    settings : more rows for the table of settings, name to value.
    command : that reproduces the page, as a line or as a list of arguments.
    title : heading of the page.
    """
    heading = title or f"{facts.number(len(embedding.names_))} samples compared"
    sections = [facts.settings_section({}, settings), facts.reproduce_section(command)]
    return page.render(page.Page("embed", heading, "", sections))
