/* The two pictures of docs/method.md. Every position of the sliders was computed when the site was built (METHOD, by
   pages/method.py), so that nothing is fetched and nothing is estimated here. */
(() => {
  const dark = () => document.body.dataset.mdColorScheme === "slate";
  const tones = () => dark()
    ? { ink: "#d8dae2", grid: "#3a3f4b", full: "#a9adba", sparse: "#4dd0c4", atom: "rgba(77,208,196,0.55)", off: "#ff9e80" }
    : { ink: "#2b2d33", grid: "#e3e5ea", full: "#70747d", sparse: "#00796b", atom: "rgba(0,121,107,0.5)", off: "#d84315" };
  const percent = (share) => `${(100 * share).toPrecision(share < 0.0995 ? 2 : 3)} %`;
  const options = { displayModeBar: false, responsive: true };

  const axis = (tone, title, extra = {}) => ({
    title: { text: title, font: { size: 13 } }, gridcolor: tone.grid, linecolor: tone.grid, zerolinecolor: tone.grid,
    tickfont: { size: 12 }, fixedrange: true, ...extra,
  });
  const layout = (tone, extra) => ({
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: { color: tone.ink, family: "inherit" },
    margin: { l: 56, r: 12, t: 28, b: 44 }, hovermode: false, ...extra,
  });

  function line(box) {
    const data = METHOD.line, plot = box.querySelector(".plot"), said = box.querySelector("output");
    const at = (name) => box.querySelector(`[name=${name}]`);
    const draw = () => {
      const narrow = plot.clientWidth < 560, tone = tones(), k = +at("k").value, h = +at("bandwidth").value, wide = +at("spread").checked;
      const state = data.states[(h * 2 + wide) * data.sizes.length + k], full = data.full[h];
      const atoms = state.centers.map((c, a) => ({
        x: data.x, line: { color: tone.atom, width: 1 }, mode: "lines", showlegend: a === 0, name: "atoms, with their weights",
        y: data.x.map((x) => state.weights[a] * Math.exp(-0.5 * ((x - c) / state.widths[a]) ** 2) / (state.widths[a] * Math.sqrt(2 * Math.PI))),
      }));
      const rest = { x: data.x, y: state.y.map((y, i) => y - full[i]), xaxis: "x", yaxis: "y2", mode: "lines", name: "their difference", line: { color: tone.off, width: 1.5 }, fill: "tozeroy" };
      Plotly.react(plot, [
        ...atoms,
        { x: data.x, y: full, mode: "lines", name: "full density, 2000 terms", line: { color: tone.full, width: 5 } },
        { x: data.x, y: state.y, mode: "lines", name: "sparse density", line: { color: tone.sparse, width: 2 } },
        rest,
      ], layout(tone, {
        height: narrow ? 470 : 440, margin: { l: 56, r: 12, t: narrow ? 96 : 48, b: 44 },
        legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom", font: { size: 12 } },
        xaxis: axis(tone, "hour of departure", { range: [2, 26], anchor: "y2", dtick: 4 }),
        yaxis: axis(tone, "density", { domain: [0.36, 1], range: [0, 1.18 * Math.max(...full)] }),
        yaxis2: axis(tone, "difference", { domain: [0, 0.26], range: [-0.025, 0.025] }),
      }), options);
      at("k").nextElementSibling.textContent = data.sizes[k];
      at("bandwidth").nextElementSibling.textContent = `${data.bandwidths[h]} h`;
      said.textContent = `Relative error in L2: ${percent(state.error)}`;
    };
    box.querySelectorAll("input").forEach((input) => input.addEventListener("input", draw));
    return draw;
  }

  function plane(box) {
    const data = METHOD.plane, plot = box.querySelector(".plot"), said = box.querySelector("output"), k = box.querySelector("[name=k]");
    const draw = () => {
      const tone = tones(), state = data.states[+k.value], narrow = plot.clientWidth < 560;
      const limit = 0.4, bottom = dark() ? "#1e2129" : "#ffffff";
      const second = { xaxis: "x2", yaxis: "y2" };
      const spots = { x: state.centers[0], y: state.centers[1], mode: "markers", showlegend: false,
        marker: { color: "rgba(0,0,0,0)", line: { color: tone.off, width: 1.2 }, size: state.weights.map((w) => Math.max(3, 40 * Math.sqrt(w))) } };
      Plotly.react(plot, [
        { type: "heatmap", x: data.u, y: data.v, z: state.z, zmin: 0, zmax: 1, showscale: false, colorscale: [[0, bottom], [1, tone.sparse]] },
        spots,
        { type: "heatmap", x: data.u, y: data.v, z: state.off, zmin: -limit, zmax: limit, showscale: false, colorscale: [[0, "#3d6fd6"], [0.5, bottom], [1, tone.off]], ...second },
      ], layout(tone, {
        height: narrow ? 560 : 380,
        xaxis: axis(tone, narrow ? "" : "hour of departure", { domain: narrow ? [0, 1] : [0, 0.48], showgrid: false }),
        yaxis: axis(tone, "delay, minutes", { domain: narrow ? [0.56, 1] : [0, 1], showgrid: false }),
        xaxis2: axis(tone, "hour of departure", { domain: narrow ? [0, 1] : [0.52, 1], anchor: "y2", showgrid: false }),
        yaxis2: axis(tone, narrow ? "delay, minutes" : "", { domain: narrow ? [0, 0.44] : [0, 1], anchor: "x2", showticklabels: narrow, showgrid: false }),
        annotations: [["sparse density, its centres", "x", "y"], ["its difference to the full density", "x2", "y2"]].map(([text, x, y]) => ({
          text, xref: `${x} domain`, yref: `${y} domain`, x: 0, y: 1, xanchor: "left", yanchor: "bottom", showarrow: false, font: { size: 13 } })),
      }), options);
      k.nextElementSibling.textContent = data.sizes[+k.value];
      said.textContent = `Relative error in L2: ${percent(state.error)}`;
    };
    k.addEventListener("input", draw);
    return draw;
  }

  const start = () => {
    const draws = [...document.querySelectorAll("[data-play]")].map((box) => ({ line, plane })[box.dataset.play](box));
    const all = () => draws.forEach((draw) => draw());
    all();
    new MutationObserver(all).observe(document.body, { attributes: true, attributeFilter: ["data-md-color-scheme"] });
    addEventListener("resize", all);
    document.documentElement.dataset.played = draws.length;
  };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start); else start();
})();
