"""The architecture as a drawing, from the import contracts that the build enforces."""

from __future__ import annotations

import tomllib
from html import escape
from pathlib import Path

PYPROJECT = Path(__file__).parent.parent / "pyproject.toml"
WIDTH = 760  # of the drawing; these four are in units of its view box
ROW = 46  # height of a layer
BOX = 32  # height of the boxes in it
GAP = 10  # between two boxes
WORDS = {  # what each layer is for, in a few words; a new layer without words fails the build
    "__main__": "python -m kernelmean",
    "cli": "read a file, call one function, write a file",
    "plot": "public: Matplotlib displays",
    "report": "public: HTML pages",
    "pictures": "what pictures show, computed once; Matplotlib and HTML draw it",
    "integrations": "doors to AnnData, xarray, river, QuaPy, torch and CuPy",
    "monitoring": "streams: when they change, since when and in what",
    "density": "density estimates, classifier, outliers",
    "meanshift": "clusters and image segments by climbing a density",
    "embedding": "many samples as points of a plane",
    "proportions": "how much of each class a sample holds",
    "comparison": "two samples: mmd, two-sample test, KL divergence",
    "fitting": "from a sample to a mean; merging, streaming",
    "mean": "the values SparseKernelMean and DomainMean: sums, questions, errors, files",
    "mixtures": "mixtures by likelihood, of Gaussians or of products on a domain",
    "selection": "which points become centres",
    "bandwidth": "rules for the scale",
    "coefficients": "weights, number of centres, centres off the data",
    "linalg": "one Cholesky factor for every k, simplex weights, conjugate gradients",
    "samples": "where points lie: in memory, in files, on a cluster",
    "engines": "point clouds that hold the n points: naive, cpu, gpu, parts, cluster",
    "compiled": "compiled helpers: elementary functions, tables, threads",
    "kernels": "the formulas, once",
    "files": "readers and writers",
    "datasets": "small sets of data for examples",
    "domains": "where values of columns can lie: bounds, periods, spheres, categories",
    "_checks": "what users pass is checked here",
    "_types": "names of shapes",
    "_lazy": "values computed once",
    "_progress": "how far work has come",
    "_blas": "one thread for BLAS, and back",
    "_work": "how much work is worth compiling for",
    "_frames": "tables with named dimensions as frames",
    "_shown": "numbers in few digits",
    "_random": "a stream of chance for every purpose",
}


def contracts() -> tuple[list[list[str]], list[str]]:
    """(layers from the top, each a list of modules side by side; packages kept apart)."""
    settings = tomllib.loads(PYPROJECT.read_text())["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in settings if contract["type"] == "layers")
    kept = [
        name
        for contract in settings
        if contract["type"] == "forbidden"
        for name in contract["forbidden_modules"]
    ]
    rows = [[module.strip(" ()") for module in layer.split("|")] for layer in layers]
    return rows, sorted({name for name in kept if not name.startswith("kernelmean")})


def svg() -> str:
    """Rows of boxes; what is above may import what is below, never the reverse, never sideways."""
    layers, kept = contracts()
    height = ROW * len(layers) + 30
    parts = [_layer(i, modules) for i, modules in enumerate(layers)]
    foot = f"{', '.join(kept)}: imported inside their own folders only"
    parts.append(
        f'<text x="{WIDTH / 2}" y="{height - 8}" text-anchor="middle" font-size="13">'
        f"{escape(foot)}</text>"
    )
    label = "Layers of the package, from the command line at the top to types at the bottom"
    return (
        f'<svg class="layers" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{label}" '
        f'xmlns="http://www.w3.org/2000/svg" fill="currentColor">{"".join(parts)}</svg>'
    )


def table() -> str:
    """The same for narrow screens and screen readers: a row per module, from the top."""
    rows = [f"| `{module}` | {WORDS[module]} |" for layer in contracts()[0] for module in layer]
    return "\n".join(["| module | what it owns |", "| --- | --- |", *rows])


def _layer(i: int, modules: list[str]) -> str:
    width = (WIDTH - GAP * (len(modules) - 1)) / len(modules)
    return "".join(
        _box(j * (width + GAP), i * ROW + 2, width, module) for j, module in enumerate(modules)
    )


def _box(x: float, y: float, width: float, module: str) -> str:
    if module not in WORDS:
        raise LookupError(
            f"layer {module!r} of pyproject.toml has no words in pages/diagram.py: say what it "
            "owns."
        )
    words = (
        ""
        if width < 240
        else f'<tspan dx="10" font-size="12" opacity="0.75">{escape(WORDS[module])}</tspan>'
    )
    text = (
        f'<text x="{x + width / 2:.0f}" y="{y + 21:.0f}" text-anchor="middle" font-size="14">'
        '<tspan font-weight="600">'
    )
    frame = (
        f'<rect x="{x + 1:.0f}" y="{y:.0f}" width="{width - 2:.0f}" height="{BOX}" rx="5" '
        'fill="none" stroke="currentColor"/>'
    )
    return f"{frame}{text}{escape(module)}</tspan>{words}</text>"
