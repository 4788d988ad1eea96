"""A density as an ONNX graph: log f(x) = log Σ_a exp(l_a − ‖F_a(A(x − o) − c_a)‖²).

Distances come from differences, not from products, so that narrow components keep their digits; a
batch of n rows takes O(n·k·d) memory for them. The kernel's own formula, which serves every engine,
also writes its nodes here.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kernelmean import _checks
from kernelmean.files.atomic import atomic_write
from kernelmean.files.optional_imports import need
from kernelmean.kernels import atoms
from kernelmean.mean.expansion import KernelMean

INPUT = "X"
OUTPUT = "log_density"
OPSET = 17  # of 2022: what most runtimes read
IR_VERSION = 8  # of the same release
DTYPES = ("float64", "float32")
LARGEST_FILE = 1 << 31  # bytes: what a file of protocol buffers can hold

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Value:
    """What a node of the graph gives; arithmetic with it adds nodes."""

    graph: Graph
    name: str

    def __neg__(self) -> Value:
        return self.graph.node("Neg", self)

    def __add__(self, other: Any) -> Value:
        return self.graph.node("Add", self, other)

    def __sub__(self, other: Any) -> Value:
        return self.graph.node("Sub", self, other)

    def __mul__(self, other: Any) -> Value:
        return self.graph.node("Mul", self, other)

    __radd__ = __add__
    __rmul__ = __mul__


@dataclass
class Graph:
    """Nodes in the order in which they are made, with their constants."""

    onnx: Any
    dtype: np.dtype[Any]
    nodes: list[Any] = field(default_factory=list)
    constants: list[Any] = field(default_factory=list)

    def node(self, kind: str, *inputs: Any, **attributes: Any) -> Value:
        """The value of one operation; arrays and numbers become constants."""
        names = [x.name if isinstance(x, Value) else self.constant(x) for x in inputs]
        value = Value(self, f"v{len(self.nodes)}")
        made = self.onnx.helper.make_node(kind, names, [value.name], **attributes)
        self.nodes.append(made)
        return value

    def constant(self, array: Any) -> str:
        """The name of a constant: whole numbers as they are, others in the type of the graph."""
        given = np.asarray(array)
        kept = given if given.dtype.kind == "i" else given.astype(self.dtype)
        name = f"c{len(self.constants)}"
        self.constants.append(self.onnx.numpy_helper.from_array(np.ascontiguousarray(kept), name))
        return name

    def less(self, value: Value, array: Array) -> Value:
        """Value − array; in single precision the array is taken off in two parts."""
        high = array.astype(self.dtype).astype(np.float64)
        rest = array - high
        found = value - high
        return found - rest if rest.any() else found

    def sqrt(self, value: Value) -> Value:
        """√value."""
        return self.node("Sqrt", value)

    def log1p(self, value: Value) -> Value:
        """log(1 + value)."""
        return self.node("Log", value + 1.0)


def write_density(
    mean: KernelMean,
    path: str | os.PathLike[str],
    dtype: str,
    properties: dict[str, Any],
) -> None:
    """Write the log-density of a mean to a file, which is whole or absent."""
    _checks.choice(dtype, "dtype", DTYPES)
    if not mean.is_density:
        raise ValueError(
            "to_onnx writes log-densities: fit in space='l2' with nonnegative weights "
            "(constraint='simplex')."
        )
    if mean.kernel.formula(mean.dimension).factor is not None:
        raise ValueError(
            f"to_onnx knows the package's own kernels, and {mean.kernel.name!r} is none of them."
        )
    onnx = need("onnx", "to_onnx", "onnx")
    model = _model(Graph(onnx, np.dtype(dtype)), mean, properties)
    if model.ByteSize() >= LARGEST_FILE:
        raise ValueError(
            f"the graph of {mean.k} components in {mean.dimension} dimensions is larger than the "
            "2 GiB that a file can hold: fit with fewer centres, or with spread='scalar'."
        )
    with atomic_write(path) as beside:
        onnx.save(model, str(beside))


def _model(graph: Graph, mean: KernelMean, properties: dict[str, Any]) -> Any:
    """The graph with its input and output, as a model."""
    helper = graph.onnx.helper
    kind = helper.np_dtype_to_tensor_dtype(graph.dtype)
    rows = helper.make_tensor_value_info(INPUT, kind, ["rows", mean.dimension])
    found = helper.make_tensor_value_info(OUTPUT, kind, ["rows"])
    _log_density(graph, mean)
    body = helper.make_graph(graph.nodes, "density", [rows], [found], graph.constants)
    model = helper.make_model(
        body,
        producer_name="kernelmean",
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
        doc_string="The log-density at each row of X.",
    )
    helper.set_model_props(model, {name: json.dumps(value) for name, value in properties.items()})
    return model


def _log_density(graph: Graph, mean: KernelMean) -> None:
    """log f = m + log Σ_a exp(t_a − m), m = max_a t_a, and −∞ where all t_a are."""
    terms = _terms(graph, mean, np.flatnonzero(mean.weights))
    largest = graph.node("ReduceMax", terms, axes=[0], keepdims=1)
    largest = graph.node("Max", largest, np.finfo(graph.dtype).min)
    total = graph.node("ReduceSum", graph.node("Exp", terms - largest), np.array([0]), keepdims=0)
    summed = graph.node("Log", total) + graph.node("Squeeze", largest, np.array([0]))
    graph.nodes.append(graph.onnx.helper.make_node("Identity", [summed.name], [OUTPUT]))


def _terms(graph: Graph, mean: KernelMean, live: Array) -> Value:
    """(k, n): t_a = log α_a + log φ_a(x)."""
    # y = A(x − o), with o amid the centres
    origin = np.median(mean.centers[live], axis=0)
    centers = mean.centers[live] - origin
    y = graph.less(Value(graph, INPUT), origin)
    if mean.scale is not None:
        centers = centers @ mean.scale.T
        y = graph.node("MatMul", y, mean.scale.T)
    lifted = graph.node("Unsqueeze", y, np.array([0]))
    apart = graph.less(lifted, centers[:, None, :])  # (k, n, d)
    levels = np.log(mean.weights[live]) + mean.log_constant
    formula = mean.kernel.formula(mean.dimension)
    if mean.spreads is None:
        s = _squared(graph, apart) * formula.rate
        logs: Value = formula.log_value(s, formula.shape, graph.sqrt, graph.log1p)
        return logs + levels[:, None]
    own = atoms.Atoms(centers, mean.spreads[live]).blurred(atoms.variance(formula))
    levels = (levels + own.log_heights)[:, None]
    if own.factors.ndim == 1:
        return -(_squared(graph, apart) * own.factors[:, None]) + levels
    turned = graph.node("MatMul", apart, np.swapaxes(own.factors, 1, 2))
    return -_squared(graph, turned) + levels


def _squared(graph: Graph, apart: Value) -> Value:
    """(k, n): the squared lengths of (k, n, d) vectors."""
    return graph.node("ReduceSum", apart * apart, np.array([2]), keepdims=0)
