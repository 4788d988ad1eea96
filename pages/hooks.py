"""What MkDocs calls while it builds the site."""

from __future__ import annotations

import gzip
import logging
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

sys.path.insert(0, str(Path(__file__).parent.parent))

from pages import diagram, drawn, figures, formulas, gallery, method, variants, wording

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
    "many-coordinates",
    "first-answer",
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
    filled: dict[str, list[Any]] = {
        "Gallery": gallery.navigation(),
        "Evidence": _evidence(written),
    }
    for entry in config.nav or []:
        for name in set(entry) & set(filled):
            entry[name] = filled[name]
    return config


def _evidence(written: list[Path]) -> list[dict[str, Any]]:
    """The pages in their order; those of parts, ``paper-meanshift.md``, below ``paper.md``."""
    stems = {path.stem for path in written}
    whole = {path: path.stem for path in written}
    for path in written:
        head = path.stem.partition("-")[0]
        whole[path] = head if head in stems else path.stem
    order = sorted(set(whole.values()), key=lambda s: EVIDENCE.index(s) if s in EVIDENCE else 99)
    entries: list[dict[str, Any]] = []
    for stem in order:
        mine = sorted(
            (p for p in written if whole[p] == stem), key=lambda p: (p.stem != whole[p], _title(p))
        )
        listed = [{_title(path): path.name} for path in mine]
        if len(mine) > 1:
            listed[0] = {"Summary": mine[0].name}
            entries.append({_title(mine[0]): listed})
        else:
            entries += listed
    return entries


def _title(path: Path) -> str:
    """The first heading of a page."""
    return next(
        (line[2:] for line in path.read_text().splitlines() if line.startswith("# ")), path.stem
    )


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Run the examples and add their pages; pictures beside results come along."""
    for place, source in figures.pictures_elsewhere():
        files.append(File.generated(config, place, abs_src_path=str(source)))
    for place, source in (
        ("javascripts/plotly.min.js", _plotly()),
        ("javascripts/method-data.js", method.script()),
    ):
        files.append(File.generated(config, place, abs_src_path=str(source)))
    with ThreadPoolExecutor(2) as pool:
        for drawings in pool.map(drawn.results, drawn.guides()):
            for place, source in drawings:
                files.append(File.generated(config, place, abs_src_path=str(source)))
    for made in gallery.pages():
        if made.text is not None:
            files.append(File.generated(config, made.path, content=made.text))
        else:
            files.append(File.generated(config, made.path, abs_src_path=str(made.source)))
    return files


def _plotly() -> Path:
    """The part of Plotly's script that comes with the package for its reports, unpacked."""
    from kernelmean.pictures.html.page import PLOTLY, plotly_packed

    script = method.CACHE / PLOTLY.removesuffix(".gz")
    script.parent.mkdir(parents=True, exist_ok=True)
    script.write_bytes(gzip.decompress(plotly_packed()))
    return script


def on_page_markdown(markdown: str, page: Page, files: Files, **_: Any) -> str:
    """Figures quoted from generated pages, pictures in two variants, the table of the layers."""
    try:
        markdown = figures.fill_in(markdown)
    except LookupError as error:
        LOGGER.warning("%s: %s", page.file.src_uri, error)
    if "/" not in page.file.src_uri:
        markdown = figures.moved_pictures(markdown)
    places = {
        Path(file.src_uri).name: Path(file.abs_src_path or "") for file in files.media_files()
    }
    if page.file.src_uri.startswith("guides/"):
        markdown = drawn.with_code(markdown)
    markdown = variants.doubled(markdown, places)
    return wording.lists_apart(markdown).replace("[[layers-table]]", diagram.table())


def on_page_content(content: str, page: Page, **_: Any) -> str:
    """The diagram of the layers, and formulas as MathML."""
    try:
        return formulas.typeset(content.replace("<p>[[layers]]</p>", diagram.svg()))
    except formulas.UnknownCommandError as error:
        LOGGER.warning("%s: %s", page.file.src_uri, error)
        return content
