"use strict";
(() => {
  const root = document.documentElement;
  const byId = (name) => document.getElementById(name);
  const charts = JSON.parse(byId("charts").textContent);
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const narrow = matchMedia("(max-width: 40rem)");
  const touch = matchMedia("(pointer: coarse)").matches;
  const say = (words) => { byId("spoken").textContent = words; };

  // Colours come from the style sheet: {"$": "ink"} in a figure is the page's --ink, {"$": "scale"} its sequential scale,
  // {"$": "scale-diverging"} that of differences.
  const color = (name) => getComputedStyle(root).getPropertyValue("--" + name).trim();
  const steps = (name) => [0, 1, 2, 3, 4, 5, 6].map((i) => [i / 6, name(i)]);
  const scales = { "scale": (i) => color("s" + i), "scale-reversed": (i) => color("s" + (6 - i)), "scale-diverging": (i) => color("d" + i) };
  const resolve = (value) => {
    if (Array.isArray(value)) return value.map(resolve);
    if (value === null || typeof value !== "object") return value;
    if ("$" in value) return Object.hasOwn(scales, value.$) ? steps(scales[value.$]) : color(value.$);
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, resolve(part)]));
  };

  const base = () => ({
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", showlegend: false, autosize: true,
    font: { family: getComputedStyle(document.body).fontFamily, size: 12, color: color("muted") },
    margin: { l: 52, r: 14, t: 14, b: 46 }, hovermode: "closest", dragmode: touch ? false : "zoom",
    hoverlabel: { bgcolor: color("hover"), bordercolor: color("hover"), font: { color: color("hover-ink"), size: 13 }, align: "left", namelength: -1 },
  });
  const axis = (own) => ({
    gridcolor: color("grid"), zeroline: false, linecolor: color("line"), tickcolor: color("line"), automargin: true, ...own,
  });
  // No button may send a figure anywhere; under a finger, zooming the page does what the other buttons would.
  const config = { responsive: true, displaylogo: false, showSendToCloud: false, plotlyServerURL: "", displayModeBar: touch ? false : "hover",
    modeBarButtonsToRemove: ["lasso2d", "select2d", "autoScale2d"], doubleClick: "reset" };

  const state = new Map();  // chart id -> {spec, hidden traces, variant}
  const variantOf = (entry) => (entry.spec.variants ? entry.spec.variants[entry.variant] : entry.spec);

  const figure = (entry) => {
    const view = variantOf(entry);
    const traces = resolve(view.traces).map((trace, i) => ({ ...trace, visible: !entry.hidden.has(i) }));
    const own = resolve(view.layout || entry.spec.layout);
    const layout = { ...base(), ...own, xaxis: axis(own.xaxis), yaxis: axis(own.yaxis) };
    layout.margin = { ...base().margin, ...own.margin };
    if (entry.spec.grid && narrow.matches) {  // short names, as many as there is room for; hovering tells all
      const { names, short } = entry.spec.grid;
      const shown = names.map((_, i) => i).filter((i) => i % Math.ceil(names.length / 24) === 0);
      const ticks = { tickvals: shown, ticktext: shown.map((i) => short[i]), tickfont: { size: 9 } };
      Object.assign(layout.xaxis, ticks, { tickangle: -90 });
      Object.assign(layout.yaxis, ticks);
      traces.forEach((trace) => { trace.colorbar = { ...trace.colorbar, orientation: "h", y: 1, yanchor: "bottom", title: { text: "distance", side: "top" } }; });
      layout.margin = { l: 12, r: 12, t: 12, b: 12 };
    }
    if (narrow.matches) traces.forEach((trace) => { if (trace.meta && trace.meta.short) trace.text = trace.meta.short; });
    return { traces, layout };
  };

  // Names beside points. Each takes the place, near its point or further out, that costs least: what it covers of points, of
  // other names and of the thin lines that lead to them, and what its own line crosses. The freest points choose first.
  const NAME_SIZES = [11, 9], NAME_HEIGHT = 15, MARK = 8, CROSSED = 90, BEYOND = 40, MANY = 16;
  const pen = document.createElement("canvas").getContext("2d");
  const offsets = (width) => {
    const near = [[0, -1], [0, 1], [1, 0], [-1, 0]].map(([x, y]) => ({ dx: x * (width / 2 + MARK + 2), dy: y * (NAME_HEIGHT / 2 + MARK), away: 0 }));
    const far = [22, 32, 44, 58, 74, 92, 112].flatMap((away) => [...Array(16).keys()].map((i) => {
      const angle = (i * Math.PI) / 8;
      return { dx: Math.cos(angle) * (away + width / 2), dy: Math.sin(angle) * away, away };
    }));
    return [...near, ...far];
  };
  const boxAt = (x, y, width, height) => [x - width / 2, y - height / 2, x + width / 2, y + height / 2];
  const common = (a, b) => Math.max(0, Math.min(a[2], b[2]) - Math.max(a[0], b[0])) * Math.max(0, Math.min(a[3], b[3]) - Math.max(a[1], b[1]));
  // Whether a line, followed in twelve steps, comes into a box.
  const crosses = ([x, y, toX, toY], box) => [...Array(11).keys()].some((i) => {
    const share = (i + 1) / 12, px = x + share * (toX - x), py = y + share * (toY - y);
    return px > box[0] && px < box[2] && py > box[1] && py < box[3];
  });
  const told = (plot) => {  // the points that have names, in pixels
    const { xaxis, yaxis } = plot._fullLayout;
    const points = plot.calcdata.flatMap((trace) => {
      const names = trace[0] && trace[0].trace.visible === true && trace[0].trace.meta && trace[0].trace.meta.names;
      return names ? trace.map((point, i) => ({ at: [point.x, point.y], x: xaxis.l2p(point.x), y: yaxis.l2p(point.y), name: names[i] })) : [];
    }).filter(({ x, y }) => x >= 0 && x <= xaxis._length && y >= 0 && y <= yaxis._length);
    const room = (one) => Math.min(...points.map((other) => (other === one ? Infinity : Math.hypot(one.x - other.x, one.y - other.y))));
    return points.map((point) => ({ ...point, room: room(point) })).sort((one, other) => other.room - one.room);
  };
  const names = (plot) => {
    const { xaxis, yaxis } = plot._fullLayout;
    const points = told(plot);
    const size = NAME_SIZES[Number(narrow.matches && points.length > MANY)];
    pen.font = size + "px " + getComputedStyle(document.body).fontFamily;
    const marks = points.map(({ x, y }) => boxAt(x, y, 2 * MARK, 2 * MARK));
    const boxes = [], lines = [];
    return points.map(({ at, x, y, name }, own) => {
      const plain = new DOMParser().parseFromString(name, "text/html").body.textContent;
      const width = pen.measureText(plain).width + 4;
      const cost = ({ dx, dy, away }) => {
        const box = boxAt(x + dx, y + dy, width, NAME_HEIGHT), line = [x, y, x + dx, y + dy];
        const beyond = Math.max(0, -box[0], -box[1], box[2] - xaxis._length, box[3] - yaxis._length);
        const covered = [...marks, ...boxes].reduce((sum, other) => sum + common(box, other), 0);
        const crossed = lines.filter((other) => crosses(other, box)).length
          + (away ? [...boxes, ...marks.filter((_, i) => i !== own)].filter((other) => crosses(line, other)).length : 0);
        return covered + BEYOND * beyond + CROSSED * crossed + away;
      };
      const best = offsets(width).reduce((least, place) => {
        const found = cost(place);
        return !least || found < least.found ? { ...place, found } : least;
      }, null);
      boxes.push(boxAt(x + best.dx, y + best.dy, width, NAME_HEIGHT));
      if (best.away) lines.push([x, y, x + best.dx, y + best.dy]);
      return { x: at[0], y: at[1], ax: best.dx, ay: best.dy, text: name, showarrow: true, arrowhead: 0, arrowwidth: 1, standoff: MARK - 2,
        arrowcolor: best.away ? color("muted") : "rgba(0,0,0,0)", font: { size, color: color("ink") }, captureevents: false };
    });
  };
  const named = (entry) => variantOf(entry).traces.some((trace) => trace.meta && trace.meta.names);
  const nameAll = (entry, plot) => (named(entry) ? Plotly.relayout(plot, { annotations: names(plot) }) : plot);
  const renameWhenMoved = (entry, plot) => {
    if (!named(entry)) return;
    plot.on("plotly_relayout", (change) => {  // zoomed, or of another size
      if (!("annotations" in change)) nameAll(entry, plot);
    });
  };
  const draw = (entry) => {
    const { traces, layout } = figure(entry);
    return Plotly.react(byId(entry.spec.id), traces, layout, config).then((plot) => nameAll(entry, plot)).then((plot) => {
      plot.querySelectorAll(".modebar-btn").forEach((button) => button.setAttribute("tabindex", "-1"));
      plot.dataset.drawn = "true";
    });
  };

  // A legend of real buttons: one switches the same trace, or traces, in all the charts it serves.
  const SYMBOLS = {
    circle: "M6 0a6 6 0 1 0 .01 0Z", square: "M1 1h10v10H1Z", diamond: "M6-.5 12.5 6 6 12.5-.5 6Z", "triangle-up": "M6 0l6 11H0Z",
    cross: "M4 0h4v4h4v4H8v4H4V8H0V4h4Z", line: "M0 5h12v2H0Z", ellipse: "M6 2.5a6 3.5 0 1 0 .01 0Z", area: "M0 1h12v10H0Z",
  };
  const icon = (item) => {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("viewBox", "0 0 12 12");
    svg.setAttribute("aria-hidden", "true");
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    path.setAttribute("d", SYMBOLS[item.symbol] || SYMBOLS.circle);
    path.style.fill = item.hollow ? "none" : "var(--" + item.color + ")";
    path.style.stroke = "var(--" + item.color + ")";
    path.style.strokeWidth = item.hollow ? "1.5" : "0";
    svg.append(path);
    return svg;
  };
  const legend = (place) => {
    const served = place.dataset.serves.split(" ").map((name) => state.get(name)).filter(Boolean);
    if (!served.length) return;
    const items = variantOf(served[0]).legend || [];
    place.replaceChildren(...items.map((item) => {
      const row = document.createElement("li");
      const button = document.createElement("button");
      const switched = [item.trace].flat();
      button.type = "button";
      button.setAttribute("aria-pressed", String(!served[0].hidden.has(switched[0])));
      button.append(icon(item), item.name);
      button.addEventListener("click", () => {
        const hide = !served[0].hidden.has(switched[0]);
        served.forEach((entry) => {
          switched.forEach((trace) => { hide ? entry.hidden.add(trace) : entry.hidden.delete(trace); });
          draw(entry);
        });
        button.setAttribute("aria-pressed", String(!hide));
        say(item.name + (hide ? " hidden" : " shown"));
      });
      row.append(button);
      return row;
    }));
    place.hidden = !items.length;
    const bar = place.parentElement.querySelector(".scalebar");
    if (!bar) return;
    const range = variantOf(served[0]).range;
    bar.hidden = !range;
    if (!range) return;
    const strip = document.createElement("i");
    strip.style.background = "linear-gradient(90deg, var(--s1), var(--s2), var(--s3), var(--s4), var(--s5), var(--s6))";
    bar.replaceChildren(range[0], strip, range[1]);
  };

  // Arrow keys walk through the points of a chart; what is shown is also said.
  const walk = (entry, plot) => {
    let at = -1;
    const stops = () => (variantOf(entry).walk || []).filter((stop) => !entry.hidden.has(stop[0]));
    const go = (index) => {
      const all = stops();
      if (!all.length) return;
      at = (index + all.length) % all.length;
      const [trace, point, words] = all[at];
      Plotly.Fx.hover(plot, [{ curveNumber: trace, pointNumber: point }]);
      say(words);
    };
    const grid = entry.spec.grid;
    let row = 0, column = 0;
    const goTo = (r, c) => {
      const n = grid.names.length;
      row = Math.max(0, Math.min(n - 1, r));
      column = Math.max(0, Math.min(n - 1, c));
      Plotly.Fx.hover(plot, { xval: column, yval: row }, "xy");
      say(grid.names[row] + " and " + grid.names[column]);
    };
    plot.addEventListener("keydown", (event) => {
      const step = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] }[event.key];
      if (event.key === "Escape") {
        Plotly.Fx.unhover(plot);
        at = -1;
      } else if (step && grid) {
        goTo(row + step[0], column + step[1]);
      } else if (step && stops().length) {
        go(at < 0 ? 0 : at + step[0] + step[1]);
      } else if (event.key === "Home" && stops().length) {
        go(0);
      } else if (event.key === "End" && stops().length) {
        go(-1);
      } else return;
      event.preventDefault();
    });
    plot.addEventListener("blur", () => Plotly.Fx.unhover(plot));
  };

  const legends = [...document.querySelectorAll(".legend[data-serves]")];
  charts.forEach((spec) => {
    const variant = spec.variants ? spec.first : null;
    const entry = { spec, variant, hidden: new Set() };
    (variantOf(entry).hidden || []).forEach((trace) => entry.hidden.add(trace));
    state.set(spec.id, entry);
  });
  legends.forEach(legend);
  const drawAll = async () => {
    for (const entry of state.values()) {
      await draw(entry);
      await new Promise((done) => setTimeout(done));  // the page answers between two figures
    }
  };
  // Plotly comes packed; the page's policy names the hash of what is unpacked, and runs nothing else.
  const unpack = async () => {
    const packed = byId("plotly");
    if (!packed) return;
    const bytes = Uint8Array.from(atob(packed.textContent), (letter) => letter.charCodeAt(0));
    const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    const script = document.createElement("script");
    script.textContent = await new Response(plain).text();
    document.head.append(script);
    script.remove();
  };
  unpack().then(async () => {
    await drawAll();
    state.forEach((entry) => walk(entry, byId(entry.spec.id)));
    state.forEach((entry) => renameWhenMoved(entry, byId(entry.spec.id)));
    dark.addEventListener("change", drawAll);
    narrow.addEventListener("change", drawAll);
  }).catch(() => {
    byId("without").hidden = false;
  }).finally(() => {
    root.dataset.ready = "true";
  });

  document.querySelectorAll("select[data-varies]").forEach((select) => {
    select.addEventListener("change", () => {
      const entry = state.get(select.dataset.varies);
      entry.variant = select.value;
      entry.hidden.clear();
      draw(entry);
      legends.filter((place) => place.dataset.serves.split(" ").includes(entry.spec.id)).forEach(legend);
    });
  });

  document.querySelectorAll("button[data-copies]").forEach((button) => {
    button.addEventListener("click", async () => {
      const words = byId(button.dataset.copies);
      try {
        await navigator.clipboard.writeText(words.textContent);
        button.textContent = "Copied";
      } catch {  // no clipboard: select it, so that the user's own copy key does it
        getSelection().selectAllChildren(words);
        button.textContent = "Selected";
      }
      say(button.textContent);
    });
  });

  document.querySelectorAll("input[data-filters]").forEach((box) => {
    const rows = [...byId(box.dataset.filters).querySelectorAll("tbody tr")];
    box.addEventListener("input", () => {
      const wanted = box.value.trim().toLowerCase();
      rows.forEach((row) => { row.hidden = !row.textContent.toLowerCase().includes(wanted); });
      say(rows.filter((row) => !row.hidden).length + " rows");
    });
  });

  // The two halves of an image, and one segment at a time.
  const wipe = document.querySelector(".wipe");
  if (wipe) {
    const slider = byId("wipe-at");
    const over = wipe.querySelector(".over");
    wipe.querySelectorAll("img[data-same]").forEach((image) => {  // one copy of each picture in the file
      image.src = byId(image.dataset.same).src;
    });
    const move = () => {
      wipe.style.setProperty("--at", slider.value + "%");
      slider.setAttribute("aria-valuetext", slider.value + " % original");
    };
    slider.addEventListener("input", move);
    move();
    document.querySelectorAll("input[name=over]").forEach((choice) => {
      choice.addEventListener("change", () => {
        const shown = byId(choice.value);
        over.src = shown.src;
        over.alt = shown.alt;
      });
    });
    const canvas = wipe.querySelector("canvas");
    const numbers = byId("labels");
    const buttons = [...document.querySelectorAll(".modes button")];
    const labels = () => {
      const sheet = document.createElement("canvas");
      sheet.width = canvas.width = numbers.naturalWidth;
      sheet.height = canvas.height = numbers.naturalHeight;
      const pen = sheet.getContext("2d", { willReadFrequently: true });
      pen.drawImage(numbers, 0, 0);
      return pen.getImageData(0, 0, sheet.width, sheet.height).data;
    };
    const highlight = async (wanted) => {
      const pen = canvas.getContext("2d", { willReadFrequently: true });
      await numbers.decode();
      const pixels = labels();
      pen.clearRect(0, 0, canvas.width, canvas.height);
      if (wanted === null) return;
      const veil = pen.createImageData(canvas.width, canvas.height);
      for (let i = 0; i < pixels.length; i += 4) {
        const label = pixels[i] + 256 * pixels[i + 1] + 65536 * pixels[i + 2];
        veil.data[i + 3] = label === wanted ? 0 : 190;
      }
      pen.putImageData(veil, 0, 0);
    };
    buttons.forEach((button) => {
      button.addEventListener("click", () => {
        const on = button.getAttribute("aria-pressed") !== "true";
        buttons.forEach((other) => other.setAttribute("aria-pressed", String(on && other === button)));
        highlight(on ? Number(button.dataset.label) : null);
        say(on ? button.textContent.trim() + " shown alone" : "all segments shown");
      });
    });
  }
})();
