"""What MkDocs calls while it builds the site."""

from __future__ import annotations

import logging
import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

sys.path.insert(0, str(Path(__file__).parent.parent))

from pages import diagram, figures, formulas, gallery, wording

LOGGER = logging.getLogger("mkdocs.plugins.pages.hooks")
EVIDENCE = [
    "benchmarks",
    "selection",
    "paper",
    "density",
    "embedding",
    "meanshift",
    "proportions",
    "difference",
    "monitor",
    "questions",
    "domains",
    "speed",
    "performance",
    "gpu",
    "scaling",
]


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """The gallery's part of the navigation follows the examples.

    Pages that a script has written are the evidence.
    """
    listed = set(re.findall(r"[\w/.-]+\.md", str(config.nav)))
    written = [
        path for path in sorted(Path(config.docs_dir).glob("*.md")) if path.name not in listed
    ]
    written.sort(
        key=lambda path: EVIDENCE.index(path.stem) if path.stem in EVIDENCE else len(EVIDENCE)
    )
    filled: dict[str, list[Any]] = {
        "Gallery": gallery.navigation(),
        "Evidence": [{_title(p): p.name} for p in written],
    }
    for entry in config.nav or []:
        for name in set(entry) & set(filled):
            entry[name] = filled[name]
    return config


def _title(path: Path) -> str:
    """The first heading of a page."""
    return next(
        (line[2:] for line in path.read_text().splitlines() if line.startswith("# ")), path.stem
    )


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Run the examples and add their pages; pictures beside results come along."""
    for place, source in figures.pictures_elsewhere():
        files.append(File.generated(config, place, abs_src_path=str(source)))
    for made in gallery.pages():
        if made.text is not None:
            files.append(File.generated(config, made.path, content=made.text))
        else:
            files.append(File.generated(config, made.path, abs_src_path=str(made.source)))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Figures quoted from generated pages, and the table of the layers."""
    try:
        markdown = figures.fill_in(markdown)
    except LookupError as error:
        LOGGER.warning("%s: %s", page.file.src_uri, error)
    if "/" not in page.file.src_uri:
        markdown = figures.moved_pictures(markdown)
    return wording.lists_apart(markdown).replace("[[layers-table]]", diagram.table())


def on_page_content(content: str, page: Page, **_: Any) -> str:
    """The diagram of the layers, and formulas as MathML."""
    try:
        return formulas.typeset(content.replace("<p>[[layers]]</p>", diagram.svg()))
    except formulas.UnknownCommandError as error:
        LOGGER.warning("%s: %s", page.file.src_uri, error)
        return content
