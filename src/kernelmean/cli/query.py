"""``kernelmean query``: what a saved density says of its columns."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from kernelmean.cli import conditions, declare, results, streams
from kernelmean.cli import options as o
from kernelmean.cli.asked import Answer, AskedDensity
from kernelmean.cli.domains import load_either

if TYPE_CHECKING:
    from kernelmean.mean.value import SparseKernelMean

QUANTILES = "0.05,0.25,0.5,0.75,0.95"
MAX_PEAKS = 20  # that a table shows; JSON has them all

Model = Annotated[
    Path, declare.Argument(metavar="MODEL.km", help="A density that fit has written.")
]
Given = Annotated[
    list[str] | None,
    declare.Option(
        metavar="x=1.2,...",
        help="Known values: what is asked is asked of the other columns, given these.",
    ),
]
Columns = Annotated[
    str | None,
    declare.Option(metavar="A,B,...", help="Ask of these columns alone, whatever the others are."),
]
Quantiles = Annotated[
    str | None,
    declare.Option(metavar="P,...", help=f"Quantiles of every column; {QUANTILES} by default."),
]
Cdf = Annotated[
    list[str] | None,
    declare.Option(metavar="x=1.5,...", help="The probability that x is at most 1.5."),
]
Probability = Annotated[
    list[str] | None,
    declare.Option(
        metavar="'0<x<2,y>1'",
        help="The probability that all of these hold, categories as species=setosa; may be "
        "repeated.",
    ),
]
Entropy = Annotated[bool, declare.Option("--entropy", help="The differential entropy, in nats.")]
Hdr = Annotated[
    float | None,
    declare.Option(
        metavar="LEVEL", help="The smallest region that holds this probability, such as 0.9."
    ),
]
Modes = Annotated[bool, declare.Option("--modes", help="The peaks, the highest first.")]
Sample = Annotated[
    int | None,
    declare.Option(
        min=1,
        metavar="N",
        help="Draw so many rows, and write them to -o, with the values of --given.",
    ),
]
Output = Annotated[
    Path | None,
    declare.Option(
        "-o",
        "--output",
        metavar="ROWS",
        help="parquet, feather, arrow, jsonl, csv or tsv (also .gz); - is standard output.",
    ),
]
Save = Annotated[
    Path | None,
    declare.Option(
        metavar="PART.km", help="Write the density of --given and --columns as a model."
    ),
]


def command(
    model: Model,
    given: Given = None,
    columns: Columns = None,
    quantiles: Quantiles = None,
    cdf: Cdf = None,
    probability: Probability = None,
    entropy: Entropy = False,
    hdr: Hdr = None,
    modes: Modes = False,
    sample: Sample = None,
    output: Output = None,
    form: streams.Format = streams.Form.csv,
    save: Save = None,
    report: o.Report = None,
    seed: o.Seed = 0,
    as_json: o.AsJson = False,
    quiet: o.Quiet = False,
    debug: o.Debug = False,
) -> None:
    """Ask a density: quantiles, probabilities, conditionals, regions, peaks, rows drawn from it.

    Without a question: mean, standard deviation and quantiles of every column. Columns go by name,
    or by their position in the model from 0, in --probability only where there are no names. <, <=,
    > and >= may be chained, and a comma means "and". Values are in the units of the file that was
    fitted; means, deviations, entropy and densities are those after the transform of the model, if
    it has one.

    \b
    Examples:
      kernelmean query model.km
      kernelmean query model.km --given x=1.2 --quantiles 0.025,0.5,0.975
      kernelmean query model.km --probability "0<x<2,y>1" --cdf x=1.5 --json
      kernelmean query model.km --columns x --hdr 0.9 --entropy --modes
      kernelmean query model.km --given x=1.2 --sample 1000 -o rows.csv
      kernelmean query model.km --columns y --save part.km
    """
    _refuse_half_questions(given, columns, sample, output, save)
    o.ready_for_table(output)
    o.ready(save)
    o.ready(report)
    o.keep_apart([output, save, report], [str(model)])
    asks = any((cdf, probability, entropy, hdr is not None, modes, sample, save))
    levels = _levels(quantiles, by_default=not asks)
    mean = _density(model)
    _refuse_other_kernels(mean, given, columns, quantiles, cdf, probability, bool(levels))
    asked = AskedDensity.of(mean, seed)
    if given:
        asked = asked.where(given)
    if columns is not None:
        asked = asked.only(columns)
    with results.working(quiet):
        found = _answers(asked, levels, cdf, probability, entropy, hdr, modes)
        written = _written(asked, sample, output, form, save)
        written |= _paged(report, asked, str(model), found)
    facts = {"model": str(model), **asked.facts()}
    aside = streams.is_standard(output)
    if as_json:
        results.show(facts | found | written, as_json, aside=aside)
    else:
        results.show(_lines(facts, found) | written, as_json, aside=aside, **_tables(found))


def _refuse_half_questions(
    given: list[str] | None,
    columns: str | None,
    sample: int | None,
    output: Path | None,
    save: Path | None,
) -> None:
    """A ValueError for an option that means nothing without another."""
    if sample is not None and output is None:
        raise ValueError("--sample needs a file for its rows: -o rows.csv.")
    if output is not None and sample is None:
        raise ValueError(f"-o {output} is for rows that are drawn: say how many by --sample.")
    if save is not None and not given and columns is None:
        raise ValueError(
            f"--save {save} would be a copy of the model: name a part by --given or --columns."
        )


def _levels(quantiles: str | None, by_default: bool) -> list[float]:
    """The quantiles to show; none where other questions were asked instead."""
    if quantiles is None and not by_default:
        return []
    return conditions.probabilities("--quantiles", QUANTILES if quantiles is None else quantiles)


def _density(model: Path) -> SparseKernelMean:
    mean = load_either(model)
    if not mean.is_density:
        raise ValueError(
            f"{model} holds a kernel mean that is no density, which answers no questions; fit "
            "without --signed."
        )
    density: SparseKernelMean = mean  # or a DomainMean, with the same names
    return density


def _refuse_other_kernels(
    mean: SparseKernelMean,
    given: list[str] | None,
    columns: str | None,
    quantiles: str | None,
    cdf: list[str] | None,
    probability: list[str] | None,
    summary: bool,
) -> None:
    """A ValueError for questions that only mixtures of Gaussians answer."""
    needed = {
        "--given": given,
        "--columns": columns,
        "--quantiles": quantiles,
        "--cdf": cdf,
        "--probability": probability,
        "the summary, which is shown where nothing is asked,": summary,
    }
    option = next((name for name, value in needed.items() if value), None)
    if option is not None and not mean.kernel.traits.spreads:
        raise ValueError(
            f"{option} needs a Gaussian kernel, not {mean.kernel}: fit with --kernel gaussian, or "
            "ask for --entropy, --hdr, --modes or --sample."
        )


def _answers(
    asked: AskedDensity,
    levels: list[float],
    cdf: list[str] | None,
    probability: list[str] | None,
    entropy: bool,
    hdr: float | None,
    modes: bool,
) -> Answer:
    """The answers to what was asked, by question."""
    found: Answer = {}
    if levels:
        found |= {"columns": asked.summary(levels)} | asked.shares()
    if cdf:
        found["cdf"] = asked.cdf(cdf)
    if probability:
        found["probability"] = asked.probability(probability)
    if entropy:
        found["entropy"] = asked.entropy()
    if hdr is not None:
        found["hdr"] = asked.hdr(hdr)
    if modes:
        found["modes"] = asked.modes()
    return found


def _written(
    asked: AskedDensity,
    sample: int | None,
    output: Path | None,
    form: streams.Form,
    save: Path | None,
) -> Answer:
    """Write the files that are asked for, and name them."""
    found: Answer = {}
    if sample is not None and output is not None:
        rows = asked.rows(sample)
        with streams.table_to(output, form) as write:
            write(rows)
        found |= {"rows": sample, "sample": str(output)}
    if save is not None:
        asked.mean.save(save)
        found["saved"] = str(save)
    return found


def _paged(report: Path | None, asked: AskedDensity, model: str, found: Answer) -> Answer:
    """The answers and the density that was asked, as a page where one is wanted."""
    if report is None:
        return {}
    from kernelmean.pictures.html.answers import answers_section
    from kernelmean.pictures.html.fit import page_of_density

    given = {asked.labels[t]: value for t, value in asked.given.items()}
    settings = {"model": model, **{f"given {name}": value for name, value in given.items()}}
    columns = [asked.labels[t] for t in asked.kept]
    command = results.command_line()
    title = f"Given {_point(given)}" if given else ""
    answers = [answers_section(_lines({}, found), _tables(found))] if found else []
    page = page_of_density(
        "query",
        asked.mean,
        columns=columns,
        answers=answers,
        settings=settings,
        command=command,
        title=title,
    )
    return dict(results.written(report, page))


def _lines(facts: Answer, found: Answer) -> Answer:
    """What is said in lines: the facts, and answers that are a number or two."""
    shown = dict(facts)
    if "given" in facts:
        shown["given"] = _point(facts["given"])
    if "transform" in facts:
        shown["units"] = (
            "those of the file; means, deviations, entropy and densities are of values after "
            f"{facts['transform']}"
        )
    if "entropy" in found:
        shown["entropy"] = _with_error(found["entropy"]["value"], found["entropy"])
    if "hdr" in found:
        region = found["hdr"]
        shown["region_holds"] = _with_error(region["level"], region)
        shown["log_density_at_least"] = region["log_threshold"]
        if "intervals" in region:
            shown["region"] = ", ".join(f"{a:.6g} to {b:.6g}" for a, b in region["intervals"])
    if len(found.get("modes", [])) > MAX_PEAKS:
        shown["peaks"] = f"{len(found['modes'])}, of which the {MAX_PEAKS} highest are shown"
    return shown


def _tables(found: Answer) -> dict[str, list[Answer]]:
    """What is said in tables: one row per column, condition or peak."""
    tables: dict[str, list[Answer]] = {}
    if "columns" in found:
        tables["columns"] = [
            {name: value for name, value in row.items() if name != "quantiles"}
            | {f"{100.0 * one['p']:.12g}%": one["value"] for one in row["quantiles"]}
            for row in found["columns"]
        ]
        if not found["columns"]:
            del tables["columns"]
    tables |= {name: found[name] for name in ("categories", "cdf", "probability") if name in found}
    if "modes" in found:
        tables["modes"] = [
            {"peak": i + 1, "log_density": row["log_density"], "at": _point(row["at"])}
            for i, row in enumerate(found["modes"][:MAX_PEAKS])
        ]
    return tables


def _point(values: dict[str, Any]) -> str:
    return ", ".join(
        f"{name} = {f'{value:.6g}' if isinstance(value, float) else value}"
        for name, value in values.items()
    )


def _with_error(value: float, estimate: Answer) -> str:
    error = estimate["standard_error"]
    return f"{value:.6g}" if error == 0.0 else f"{value:.6g} ± {error:.2g}"
