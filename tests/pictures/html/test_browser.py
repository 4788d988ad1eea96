"""The pages in a real browser: quiet, usable with mouse, finger and keyboard, light and dark."""

from __future__ import annotations

import re

import pytest

from tests import chromium
from tests.pictures.html.conftest import EVIL

sync_api = pytest.importorskip(
    "playwright.sync_api", reason="Playwright is not installed: pip install playwright"
)

NAMES = [
    "fit",
    "domain",
    "embed",
    "segment",
    "clusters",
    "compare",
    "monitor",
    "score",
    "proportions",
    "query",
]
CHARTS = {
    "fit": 7,
    "domain": 7,
    "embed": 2,
    "segment": 0,
    "clusters": 3,
    "compare": 8,
    "monitor": 7,
    "score": 1,
    "proportions": 1,
    "query": 1,
}
DESKTOP = {"width": 1280, "height": 900}
PHONE = {"width": 390, "height": 844}
# A phone is a narrow screen with fingers. The first two are those that most tests look at.
SCREENS = {"desktop": "light", "phone": "dark", "desktop at night": "dark", "phone by day": "light"}
PATIENCE = 120_000  # milliseconds, for machines that have much else to do


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright, chromium.started(playwright) as running:
        yield running


@pytest.fixture(scope="module")
def files(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    for name in NAMES:
        (folder / f"{name}.html").write_text(
            request.getfixturevalue(f"{name}_html"), encoding="utf-8"
        )
    return folder


@pytest.fixture(scope="module")
def visit(browser, files):
    """Open a page once for each screen; what it asked for and complained of is kept with it."""
    opened = {}

    def go(name, screen="desktop"):
        if (name, screen) not in opened:
            phone = {"viewport": PHONE, "has_touch": True, "is_mobile": True}
            device = phone if screen.startswith("phone") else {"viewport": DESKTOP}
            context = browser.new_context(**device, color_scheme=SCREENS[screen])
            context.set_default_timeout(PATIENCE)
            tab = context.new_page()
            tab.noise = []
            tab.on("console", lambda message: tab.noise.append(message.text))
            tab.on("pageerror", lambda error: tab.noise.append(str(error)))
            tab.on("dialog", lambda dialog: (tab.noise.append(dialog.message), dialog.dismiss()))
            tab.on(
                "request",
                lambda made: (
                    tab.noise.append(made.url)
                    if not made.url.startswith(("file:", "data:"))
                    else None
                ),
            )
            tab.goto((files / f"{name}.html").as_uri())
            tab.wait_for_selector("html[data-ready]")
            opened[name, screen] = tab
        return opened[name, screen]

    return go


@pytest.mark.parametrize("screen", list(SCREENS))
@pytest.mark.parametrize("name", NAMES)
def test_a_page_opens_quietly_and_fits_the_screen(visit, name, screen):
    tab = visit(name, screen)
    assert tab.noise == []
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
    drawn = tab.evaluate(
        "[...document.querySelectorAll('.chart')].map(c => "
        "c.querySelectorAll('.main-svg').length > 0)"
    )
    assert drawn == [True] * CHARTS[name]


@pytest.mark.parametrize(
    "name", ["fit", "embed", "clusters", "compare", "monitor", "score", "proportions"]
)
def test_dark_mode_reaches_the_figures(visit, name):
    tab = visit(name)
    colors = """() => [getComputedStyle(document.body).backgroundColor,
                       getComputedStyle(document.querySelector('.chart .xtick text')).fill]"""
    light = tab.evaluate(colors)
    tab.emulate_media(color_scheme="dark")
    until(tab, f"({colors})()[1] !== {light[1]!r}")
    dark = tab.evaluate(colors)
    tab.emulate_media(color_scheme="light")
    until(tab, f"({colors})()[1] === {light[1]!r}")
    brightness = [
        [sum(map(int, re.findall(r"\d+", color)[:3])) for color in pair] for pair in (light, dark)
    ]
    assert brightness[0][0] > 600 > brightness[0][1]  # dark ink on light paper
    assert brightness[1][0] < 150 < 400 < brightness[1][1]  # and the other way round
    assert tab.noise == []


@pytest.mark.parametrize(("screen", "buttons"), [("desktop", True), ("phone", False)])
def test_no_button_sends_a_figure_anywhere(visit, screen, buttons):
    """Plotly has one that uploads the chart; and under a finger the bar would hide what the figure
    shows.
    """
    titles = visit("fit", screen).evaluate(
        "[...document.querySelectorAll('.modebar-btn')].map(b => b.dataset.title)"
    )
    assert bool(titles) == buttons
    assert not [
        title for title in titles if re.search("share|cloud|edit", title, flags=re.IGNORECASE)
    ]


def until(tab, condition):
    """Wait for an expression to hold; asked from outside, since the page itself may not evaluate
    strings.
    """
    for _ in range(PATIENCE // 50):
        if tab.evaluate(condition):
            return
        tab.wait_for_timeout(50)
    pytest.fail(f"never true: {condition}")


def hover(tab, selector, index=0):
    mark = tab.locator(selector).nth(index)
    mark.scroll_into_view_if_needed()
    box = mark.bounding_box()
    tab.mouse.move(1, 1)
    tab.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=3)
    tab.wait_for_selector(".hoverlayer .hovertext text")
    return " ".join(tab.locator(".hoverlayer .hovertext text").all_text_contents())


def test_hovering_tells_of_a_sample(visit):
    tab = visit("embed")
    said = " ".join(hover(tab, "#scatter .scatterlayer .point", i) for i in range(3))
    for word in ("n 50", "k ", "error "):
        assert word in said
    assert tab.noise == []


def test_harmful_names_are_shown_as_they_are(visit):
    tab = visit("embed")
    assert EVIL in tab.locator("#neighbours").inner_text()
    ticks = " ".join(tab.locator("#heat-map .ytick text").all_text_contents())
    assert "<script>a…" in ticks
    assert tab.locator("script").count() == 3
    assert "<script>" in " ".join(
        visit("fit").locator(".chart .xtitle, .chart .ytitle").all_text_contents()
    )


def test_hovering_tells_of_a_pair_and_of_a_centre(visit):
    assert "distance" in hover(visit("embed"), "#heat-map .hm image")
    said = hover(visit("fit"), "#density-0 .scatterlayer .point")
    assert "centre" in said
    assert "weight" in said


def test_hovering_tells_the_density_and_the_indicator(visit):
    tab = visit("fit")
    tab.locator("#density-0 .nsewdrag").scroll_into_view_if_needed()
    box = tab.locator("#density-0 .nsewdrag").bounding_box()
    tab.mouse.move(box["x"] + box["width"] * 0.97, box["y"] + box["height"] * 0.97, steps=3)
    until(tab, "document.querySelector('.hoverlayer').textContent.includes('density')")
    assert re.search(r"density [\d.]+", tab.locator("#density-0 .hoverlayer").text_content())
    tab.locator("#indicator").scroll_into_view_if_needed()
    tab.locator("#indicator").focus()
    tab.keyboard.press("Home")
    assert tab.locator("#spoken").text_content() == "1 centre, 100 % left"
    assert tab.noise == []


def test_hovering_tells_of_a_peak_and_buttons_hide_it_in_both_pictures(visit):
    tab = visit("clusters")
    assert "z " in hover(tab, "#diagram .scatterlayer .point")
    tab.get_by_role("button", name="no cluster").click()
    for name in ("diagram", "tree"):
        hidden = f"document.querySelectorAll('#{name} .scatterlayer .trace').length === 2"
        until(tab, hidden)
    assert tab.noise == []


def test_regions_are_told_and_another_plane_is_chosen(visit):
    tab = visit("compare")
    tab.locator("#map").focus()
    tab.keyboard.press("ArrowRight")
    assert tab.locator("#spoken").text_content().startswith("region ")
    tab.wait_for_selector("#map .hoverlayer .hovertext")
    tab.keyboard.press("Escape")
    assert "<script>" in tab.locator("#map .ytitle").text_content()
    labels = tab.locator("#map .textpoint")
    assert labels.count() == 2
    tab.locator(".legend button", has_text="region, more in <script>").click()
    until(tab, "document.querySelectorAll('#map .textpoint').length === 1")
    tab.get_by_label("Columns", exact=True).select_option(index=1)
    until(tab, "document.querySelector('#map .xtitle').textContent === 'height'")
    assert tab.locator(".lede").inner_text().count("percentage points") == 3
    assert tab.noise == []


def test_alarms_are_told_and_the_bands_are_hidden(visit):
    tab = visit("monitor")
    tab.locator("#course").focus()
    tab.keyboard.press("ArrowRight")
    assert tab.locator("#spoken").text_content().startswith("alarm 1 at row ")
    tab.wait_for_selector("#course .hoverlayer .hovertext")
    tab.keyboard.press("Escape")
    assert tab.locator("#course .textpoint").all_text_contents() == ["1", "2"]
    bands = "document.querySelectorAll('#course .scatterlayer .js-fill').length"
    tab.get_by_role("button", name="nothing tested").click()
    until(tab, f"{bands} === 0")
    assert tab.noise == []


@pytest.mark.parametrize("name", NAMES)
def test_no_word_of_a_table_is_broken_on_a_phone(visit, name):
    """Every word of every cell has one box: a broken word has two. Marks end words."""
    broken = """[...document.querySelectorAll('td, th')].flatMap((cell) => {
        const nodes = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
        const found = [];
        while (nodes.nextNode()) {
            const node = nodes.currentNode;
            for (const word of node.data.matchAll(/[\\p{L}\\p{N}]+/gu)) {
                const range = document.createRange();
                range.setStart(node, word.index);
                range.setEnd(node, word.index + word[0].length);
                if (range.getClientRects().length > 1) found.push(word[0]);
            }
        }
        return found;
    })"""
    tab = visit(name, "phone")
    tab.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    assert tab.locator("tbody tr").count() > 5
    assert tab.evaluate(broken) == []
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")


OVERLAPS = """() => {
    const boxes = [...document.querySelectorAll('#scatter .annotation-text')]
        .map((name) => name.getBoundingClientRect());
    return boxes.flatMap((a, i) => boxes.slice(i + 1).filter((b) =>
        Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
        && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1)).length;
}"""


def test_names_follow_their_samples(visit):
    """They are placed anew where the map is zoomed, and go with a group that is hidden."""
    tab = visit("embed")
    names = "document.querySelectorAll('#scatter .annotation-text').length"
    assert tab.evaluate(names) == 14
    assert tab.evaluate(OVERLAPS) == 0
    before = tab.locator("#scatter .annotation-text").first.bounding_box()
    tab.set_viewport_size({"width": 700, "height": 900})
    until(tab, "document.querySelector('#scatter .main-svg').getBoundingClientRect().width < 700")
    until(tab, f"({OVERLAPS})() === 0")
    assert tab.locator("#scatter .annotation-text").first.bounding_box() != before
    tab.set_viewport_size({"width": 1280, "height": 900})
    tab.locator(".legend button").first.click()
    until(tab, f"{names} < 14")
    tab.locator(".legend button").first.click()
    until(tab, f"{names} === 14")
    assert tab.noise == []


def test_names_stand_beside_the_samples_and_the_distances_on_a_phone(visit):
    tab = visit("embed", "phone")
    beside = tab.locator("#scatter .annotation-text").all_text_contents()
    assert len(beside) == 14
    assert "sample 11" in beside
    assert tab.evaluate(OVERLAPS) == 0
    ticks = tab.locator("#heat-map .ytick text").all_text_contents()
    assert "sample 11" in ticks
    assert len(ticks) == 14
    assert "samples differ" in tab.locator("#differ ~ p").first.inner_text() or (
        "may all have one distribution" in tab.locator("#differ ~ p").first.inner_text()
    )


def test_shares_are_told_with_their_intervals(visit):
    tab = visit("proportions")
    tab.locator("#shares").focus()
    tab.keyboard.press("ArrowRight")
    assert "between " in tab.locator("#spoken").text_content()
    assert tab.locator("#shares .errorbars .xerror").count() or (
        tab.locator("#shares .xerror").count() == 3
    )
    tab.keyboard.press("Escape")
    assert tab.noise == []


def test_the_histogram_of_scores_is_told_and_the_rarest_row_listed(visit):
    tab = visit("score")
    tab.locator("#scores").focus()
    tab.keyboard.press("ArrowRight")
    assert "% of the rows" in tab.locator("#spoken").text_content()
    tab.keyboard.press("Escape")
    first = tab.locator("#rarest ~ * tbody tr").first.inner_text()
    assert first.split()[0] == "200"
    assert "none" in first
    assert tab.noise == []


def test_axes_of_a_domain_are_told_and_categories_switched(visit):
    tab = visit("domain")
    hours = "[...document.querySelectorAll('#density-4 .xtick text')].map(t => t.textContent)"
    assert tab.evaluate(hours) == ["0", "6", "12", "18", "24"]
    east = "[...document.querySelectorAll('#density-0 .xtick text')].map(t => t.textContent)"
    assert set(tab.evaluate(east)) & {"180°", "−170°", "−160°"}
    curves = "document.querySelectorAll('#density-2 .scatterlayer .trace').length"
    assert tab.evaluate(curves) == 3
    tab.get_by_role("button", name="Gentoo").click()
    until(tab, f"{curves} === 2")
    tab.locator("#density-2").focus()
    tab.keyboard.press("ArrowRight")
    assert tab.locator("#spoken").text_content().startswith("Adélie: highest at size ")
    tab.get_by_role("button", name="Gentoo").click()
    until(tab, f"{curves} === 3")
    names = " ".join(tab.locator("#density-6 .ytick text").all_text_contents())
    assert "Torgersen" in names
    assert "<" in names
    assert tab.noise == []


def test_the_legend_switches_traces(visit):
    tab = visit("fit")
    button = tab.get_by_role("button", name="centres, sized by weight")
    points = tab.locator("#density-1 .scatterlayer .point")
    assert points.count() == 430  # with 400 rows
    button.click()
    assert button.get_attribute("aria-pressed") == "false"
    until(tab, "document.querySelectorAll('#density-1 .scatterlayer .point').length === 400")
    button.focus()
    tab.keyboard.press("Enter")
    assert button.get_attribute("aria-pressed") == "true"
    until(tab, "document.querySelectorAll('#density-1 .scatterlayer .point').length === 430")


def test_colours_follow_the_column_that_is_chosen(visit):
    tab = visit("embed")
    assert tab.locator(".legend button").count() == 3
    tab.get_by_label("Colour by").select_option("age")
    assert tab.locator(".legend button").count() == 0
    assert tab.locator(".scalebar").inner_text().split() == ["20.5", "32.5"]
    until(
        tab,
        "new Set([...document.querySelectorAll('#scatter .point')].map(p => p.style.fill)).size"
        " > 6",
    )
    tab.get_by_label("Colour by").select_option("site")
    assert tab.locator(".legend button").count() == 3
    assert tab.noise == []


def test_arrow_keys_walk_through_a_figure(visit):
    tab = visit("embed")
    tab.locator("#scatter").focus()
    tab.keyboard.press("ArrowRight")
    first = tab.locator("#spoken").text_content()
    tab.keyboard.press("ArrowRight")
    assert first != tab.locator("#spoken").text_content()
    assert "n 50" in first
    tab.wait_for_selector("#scatter .hoverlayer .hovertext")
    tab.keyboard.press("Escape")
    until(tab, "!document.querySelector('#scatter .hoverlayer .hovertext')")
    tab.locator("#heat-map").focus()
    tab.keyboard.press("ArrowDown")
    assert " and " in tab.locator("#spoken").text_content()
    tab.wait_for_selector("#heat-map .hoverlayer .hovertext")
    assert tab.noise == []


def test_tab_goes_everywhere_and_is_seen(visit):
    tab = visit("segment")
    tab.locator("body").click(position={"x": 2, "y": 2})
    reached = []
    for _ in range(14):
        tab.keyboard.press("Tab")
        reached.append(
            tab.evaluate("""() => { const e = document.activeElement, s = getComputedStyle(e);
                return [e.tagName + (e.type ? ':' + e.type : ''),
                    s.outlineStyle !== 'none' || s.outlineWidth !== '0px']; }""")
        )
    kinds = {kind for kind, _ in reached}
    assert {"A", "INPUT:radio", "INPUT:range", "BUTTON:button"} <= kinds
    assert all(seen for kind, seen in reached if kind != "BODY")


def test_the_slider_wipes_and_a_colour_stands_alone(visit):
    tab = visit("segment")
    slider = tab.get_by_label("How much of the original is shown")
    slider.focus()
    tab.keyboard.press("Home")
    assert tab.evaluate("document.querySelector('.wipe').style.getPropertyValue('--at')") == "0%"
    tab.keyboard.press("ArrowRight")
    assert slider.get_attribute("aria-valuetext") == "1 % original"
    before = tab.locator(".wipe .over").get_attribute("src")
    tab.get_by_label("segments", exact=True).check()
    assert tab.locator(".wipe .over").get_attribute("src") != before
    button = tab.locator(".modes button").nth(2)  # the blue corner
    button.click()
    assert button.get_attribute("aria-pressed") == "true"
    veil = (
        "(([x, y]) => document.querySelector('.wipe canvas').getContext('2d').getImageData(x, "
        "y, 1, 1).data[3])"
    )
    until(tab, f"{veil}([2, 2]) > 100")
    assert tab.evaluate(f"{veil}([30, 20])") == 0
    button.click()
    until(tab, f"{veil}([2, 2]) === 0")
    assert tab.noise == []


def test_the_table_is_searched_and_the_command_copied(visit):
    tab = visit("embed")
    tab.get_by_label("Find").fill("sample 11")
    rows = tab.locator("#neighbours tbody tr")
    shown = [i for i in range(rows.count()) if rows.nth(i).is_visible()]
    assert 1 <= len(shown) < rows.count()
    tab.get_by_label("Find").fill("")
    tab.get_by_role("button", name="Copy").click()
    until(tab, "/Copied|Selected/.test(document.querySelector('[data-copies]').textContent)")


def test_a_finger_can_scroll_past_a_figure(visit):
    tab = visit("fit", "phone")
    assert tab.evaluate("document.getElementById('density-0')._fullLayout.dragmode") is False
    widths = tab.evaluate(
        "[...document.querySelectorAll('.chart')].map(c => c.getBoundingClientRect().right)"
    )
    assert max(widths) <= PHONE["width"]
