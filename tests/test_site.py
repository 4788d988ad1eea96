"""Every page of the built site in a real browser, from its folder: quiet, narrow, legible, found.

``make docs`` builds the site; without it, or without a browser, these tests skip and say so.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests import chromium

sync_api = pytest.importorskip(
    "playwright.sync_api", reason="Playwright is not installed: pip install playwright"
)

SITE = Path(__file__).parent.parent / "site"
# The page of a lost address has addresses from the root of a server.
PAGES = sorted(set(SITE.rglob("*.html")) - {SITE / "404.html"})
PHONE = {"width": 390, "height": 844}
DESKTOP = {"width": 1280, "height": 900}
PATIENCE = 120_000  # milliseconds, for machines that have much else to do
LONG = 6000  # pixels
SHORT = 40  # characters that parameters may share
SOME = ["index.html", "method.html", "quickstart.html", "benchmarks.html", "guides/density.html"]
SOME += ["choosing.html", "paper.html", "guides/clusters.html", "development/architecture.html"]
SOME += ["gallery/index.html", "gallery/plot_why.html", "reference/estimators.html"]

pytestmark = pytest.mark.skipif(not PAGES, reason="no site here; make docs builds it")

# Contrast of the words of a page with what is behind them, as WCAG defines it; the least of all.
CONTRAST = """() => {
  const parse = (color) => (color.match(/[\\d.]+/g) || []).map(Number);
  const light = (rgb) => {
    const [r, g, b] = rgb.slice(0, 3).map((c) => c / 255).map(
      (c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const over = (top, below) => {
    const a = top.length > 3 ? top[3] : 1;
    return [0, 1, 2].map((i) => a * top[i] + (1 - a) * below[i]);
  };
  const behind = (element) => {
    const layers = [];
    for (let e = element; e; e = e.parentElement) {
      layers.push(parse(getComputedStyle(e).backgroundColor));
    }
    return layers.reverse().reduce((below, top) => over(top, below), [255, 255, 255]);
  };
  let worst = [99, ""];
  const words = "article :is(p, li, td, th, h1, h2, h3, label, pre > code)";
  for (const e of document.querySelectorAll(words)) {
    if (!e.innerText.trim() || !e.offsetParent) continue;
    const back = behind(e), ink = over(parse(getComputedStyle(e).color), back);
    const [a, b] = [light(back), light(ink)].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < worst[0]) worst = [ratio, e.tagName + ": " + e.innerText.slice(0, 60)];
  }
  return worst;
}"""


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright, chromium.started(playwright) as running:
        yield running


def opened(browser, screen, scheme="light"):
    """A tab that notes what it asks for beyond files, and what it complains of."""
    phone = {"has_touch": True, "is_mobile": True} if screen == PHONE else {}
    context = browser.new_context(viewport=screen, color_scheme=scheme, **phone)
    context.set_default_timeout(PATIENCE)
    tab = context.new_page()
    tab.noise = []
    tab.on("console", lambda message: tab.noise.append(message.text))
    tab.on("pageerror", lambda error: tab.noise.append(str(error)))
    tab.on(
        "requestfailed",
        lambda request: (  # what is under way when the next page is opened is given up
            None
            if request.failure == "net::ERR_ABORTED"
            else tab.noise.append(f"{request.failure}: {request.url}")
        ),
    )
    tab.on(
        "request",
        lambda made: (
            None
            if made.url.startswith(("file:", "data:", "blob:", "about:"))
            else tab.noise.append(made.url)
        ),
    )
    return tab


def visit(tab, name):
    tab.noise.clear()
    tab.goto((SITE / name).as_uri(), wait_until="load")


def test_every_page_is_quiet_and_fits_a_phone(browser):
    tab, wrong = opened(browser, PHONE, "dark"), {}
    for page in PAGES:
        name = page.relative_to(SITE).as_posix()
        visit(tab, name)
        wide = tab.evaluate("document.documentElement.scrollWidth - innerWidth")
        found = [*tab.noise, *([f"{wide} pixels too wide"] if wide > 0 else [])]
        if found:
            wrong[name] = found
    assert wrong == {}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_stand_out_from_what_is_behind_them(browser, scheme):
    tab = opened(browser, DESKTOP, scheme)
    for name in SOME:
        visit(tab, name)
        if name == "index.html":
            shown = tab.evaluate("document.body.dataset.mdColorScheme")
            assert shown == {"light": "default", "dark": "slate"}[scheme]
        ratio, words = tab.evaluate(CONTRAST)
        assert ratio >= 4.5, (name, words)


@pytest.mark.parametrize("screen", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_the_search_finds_bandwidth(browser, screen):
    tab = opened(browser, screen)
    visit(tab, "index.html")
    if screen == PHONE:
        tab.click("label.md-header__button[for=__search]")
    tab.click("input.md-search__input")
    tab.type("input.md-search__input", "bandwidth")
    tab.wait_for_selector(".md-search-result__item a", state="visible")
    first = tab.inner_text(".md-search-result__list")
    assert "bandwidth" in first.lower()
    for letter in "abcdefghijklmnopqrstuvwxyz_":  # all words of the index are looked at
        tab.fill("input.md-search__input", "")
        tab.type("input.md-search__input", letter)
        tab.wait_for_timeout(100)
    assert tab.noise == []


def test_no_page_shows_what_a_build_should_have_filled_in():
    for page in PAGES:
        text = page.read_text()
        assert not re.search(r"\{\{ [\w-]+\.md|\[\[layers", text), page.name


def test_signatures_have_a_line_for_each_parameter_and_no_private_ones(browser):
    tab = opened(browser, PHONE)
    for page in sorted((SITE / "reference").glob("*.html")):
        visit(tab, page.relative_to(SITE).as_posix())
        for text in tab.evaluate(
            "[...document.querySelectorAll('.doc-signature code')].map((e) => e.innerText)"
        ):
            assert not re.search(r"[(,]\s*\*{0,2}_\w", text), (page.name, text)
            for line in text.splitlines():
                named = re.findall(r"(?:^|[(,] ?)\*{0,2}\w+: ", line.strip())
                assert len(named) <= 1 or len(line) <= SHORT, (page.name, text)


def test_code_fits_into_its_column(browser):
    tab, wide = opened(browser, DESKTOP), {}
    for page in [SITE / "index.html", *SITE.glob("guides/*.html"), *SITE.glob("gallery/*.html")]:
        visit(tab, page.relative_to(SITE).as_posix())
        found = tab.evaluate(
            "[...document.querySelectorAll('.language-python pre > code')]"
            ".filter((e) => e.scrollWidth > e.clientWidth).map((e) => e.innerText)"
        )
        if found:
            wide[page.name] = found
    assert wide == {}


def test_every_picture_of_a_guide_is_there_and_has_words(browser):
    tab = opened(browser, DESKTOP)
    for page in sorted((SITE / "guides").glob("*.html")):
        visit(tab, page.relative_to(SITE).as_posix())
        broken = tab.evaluate(
            "async () => { const all = [...document.querySelectorAll('article img')];"
            " for (const i of all) { i.loading = 'eager'; await i.decode().catch(() => 0); }"
            " return all.filter((i) => !i.naturalWidth || !i.alt).map((i) => i.src); }"
        )
        assert broken == [], page.name


def test_pictures_of_the_method_move(browser):
    tab = opened(browser, DESKTOP)
    visit(tab, "method.html")
    tab.wait_for_selector("html[data-played='2']")
    for box, slider in (("line", "k"), ("line", "bandwidth"), ("plane", "k")):
        said = f"[data-play={box}] output"
        before = tab.inner_text(said)
        moved = tab.locator(f"[data-play={box}] [name={slider}]")
        moved.focus()
        moved.press("ArrowRight")
        assert tab.inner_text(said) != before
    assert tab.locator("[data-play] .main-svg").count() >= 2
    assert tab.noise == []


def test_figures_are_sharp_on_screens_of_double_density(browser):
    tab = opened(browser, DESKTOP)
    visit(tab, "gallery/plot_why.html")
    sizes = tab.evaluate(
        "[...document.querySelectorAll('article img')].filter((i) => i.offsetParent)"
        ".map((i) => { i.loading = 'eager'; return [i.naturalWidth, i.width, i.src]; })"
    )
    assert sizes
    assert all(natural >= 1.9 * width for natural, width, _ in sizes if natural), sizes


def test_no_page_of_evidence_is_endless(browser):
    tab, long = opened(browser, DESKTOP), {}
    for page in SITE.glob("*.html"):
        if page.stem.startswith(("paper", "benchmarks")):
            visit(tab, page.name)
            height = tab.evaluate("document.querySelector('article').scrollHeight")
            if height > LONG:
                long[page.name] = height
    assert long == {}
