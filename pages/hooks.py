"""What MkDocs calls while it builds the site."""

from __future__ import annotations

import html
import logging
import re
import sys
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

sys.path.insert(0, str(Path(__file__).parent.parent))

from pages import diagram, figures, gallery

LOGGER = logging.getLogger("mkdocs.plugins.pages.hooks")
INLINE = re.compile(r'<span class="arithmatex">\\\((.*?)\\\)</span>', flags=re.DOTALL)
DISPLAY = re.compile(r'<div class="arithmatex">\s*\\\[(.*?)\\\]\s*</div>', flags=re.DOTALL)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """The gallery's part of the navigation follows the examples; pages that a script has written join the evidence."""
    listed = set(re.findall(r"[\w/.-]+\.md", str(config.nav)))
    found = [path for path in sorted(Path(config.docs_dir).glob("*.md")) if path.name not in listed]
    added = {"Gallery": gallery.navigation(), "Evidence": [{_title(path): path.name} for path in found]}
    for entry in config.nav or []:
        for name in set(entry) & set(added):
            entry[name] = [*(entry[name] if isinstance(entry[name], list) else []), *added[name]]
    return config


def _title(path: Path) -> str:
    """The first heading of a page."""
    return next((line[2:] for line in path.read_text().splitlines() if line.startswith("# ")), path.stem)


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
    return figures.moved_pictures(markdown).replace("[[layers-table]]", diagram.table())


def on_page_content(content: str, **_: Any) -> str:
    """The diagram of the layers, and formulas as MathML: the page needs no script and no network to show them."""
    content = content.replace("<p>[[layers]]</p>", diagram.svg())
    content = DISPLAY.sub(lambda match: f'<div class="formula">{_mathml(match[1], "block")}</div>', content)
    return INLINE.sub(lambda match: _mathml(match[1], "inline"), content)


def _mathml(formula: str, display: str) -> str:
    made = convert(html.unescape(formula).strip(), display=display)
    if "\\" in re.sub(r"<[^>]+>", "", made):
        LOGGER.warning("a command in this formula is not known to latex2mathml: %s", formula)
    return made
