"""Densities and embeddings of cells, written back where scverse expects them."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from kernelmean.density.estimator import SparseKDE
from kernelmean.embedding.estimator import DistributionEmbedding
from kernelmean.files.optional_imports import need

USUAL = "X_pca"  # what scanpy takes where nothing is named


def log_density(
    adata: Any,
    estimator: Any = None,
    *,
    use_rep: str | None = None,
    key_added: str = "log_density",
) -> Any:
    """Score every cell by the density of cells, in an embedding.

    ``adata.obs[key_added]`` holds the log-density of each cell, and ``adata.uns[key_added]`` what
    it was made with. Cells of low density are rare or odd ones.

    Parameters
    ----------
    adata : AnnData
        The cells, which are changed in place.
    estimator : SparseKDE or None, default=None
        A fitted estimator scores the cells; one that is not fitted is copied and fitted to them.
        None is ``SparseKDE(random_state=0)``. Anything else with ``score_samples`` does as well.
    use_rep : str or None, default=None
        The representation: a key of ``adata.obsm``, or "X" for the matrix itself. None takes
        "X_pca", or else the only one, or "X" where there is none.
    key_added : str, default='log_density'
        The name of the results.

    Returns
    -------
    SparseKDE
        The fitted estimator, which scores other cells as well. Time O(n·k·d + k³), memory
        O(n·d + k²) for a copy; a density by likelihood costs what :class:`SparseKDE` says.

    See Also
    --------
    embed_samples : Donors or batches in the place of cells.

    Examples
    --------
    >>> import anndata, numpy as np
    >>> import kernelmean.integrations.anndata as km_ad
    >>> cells = anndata.AnnData(obsm={"X_pca": np.random.default_rng(0).normal(size=(500, 3))})
    >>> density = km_ad.log_density(cells)
    >>> cells.obs["log_density"].shape, density.n_features_in_
    ((500,), 3)
    """
    name, table = _representation(adata, use_rep)
    model = SparseKDE(random_state=0) if estimator is None else estimator
    if not _is_fitted(model):
        model = clone(model).fit(table)
    adata.obs[key_added] = model.score_samples(table)
    facts = {"use_rep": name, "estimator": type(model).__name__}
    adata.uns[key_added] = {"params": facts | _found(model, ("bandwidth_", "target_"))}
    return model


def embed_samples(
    adata: Any,
    groupby: str,
    estimator: DistributionEmbedding | None = None,
    *,
    use_rep: str | None = None,
    key_added: str = "sample_embedding",
) -> DistributionEmbedding:
    """Compare donors, batches or conditions by the distributions of their cells.

    ``adata.uns[key_added]`` holds the ``names`` of the samples, their ``distances``, and their
    ``coordinates``; ``adata.obsm["X_" + key_added]`` repeats the coordinates of a sample for each
    of its cells, so that plots of embeddings take them. Cells whose group is missing are left out.

    Parameters
    ----------
    adata : AnnData
        The cells, which are changed in place.
    groupby : str
        The column of ``adata.obs`` that tells samples apart.
    estimator : DistributionEmbedding or None, default=None
        What compares; it is copied. None is ``DistributionEmbedding(random_state=0)``, with as
        many neighbours as there can be up to five.
    use_rep : str or None, default=None
        The representation, as :func:`log_density` takes it.
    key_added : str, default='sample_embedding'
        The name of the results.

    Returns
    -------
    DistributionEmbedding
        The fitted estimator. Time O(N·n·k·d + N²k²·d) for N samples of n cells, memory
        O(n·d + N·k·d + N²).

    Raises
    ------
    KeyError
        If there is no such column or representation.

    See Also
    --------
    log_density : Cells in the place of samples.

    Examples
    --------
    >>> import anndata, numpy as np, pandas as pd
    >>> import kernelmean.integrations.anndata as km_ad
    >>> donors = np.repeat(["anna", "bert", "carl"], 100)
    >>> points = np.random.default_rng(0).normal(size=(300, 2)) + (donors == "carl")[:, None]
    >>> obs = pd.DataFrame({"donor": donors}, index=[f"cell{i}" for i in range(300)])
    >>> cells = anndata.AnnData(obs=obs, obsm={"X_pca": points})
    >>> embedding = km_ad.embed_samples(cells, "donor")
    >>> cells.uns["sample_embedding"]["names"].tolist(), cells.obsm["X_sample_embedding"].shape
    (['anna', 'bert', 'carl'], (300, 2))
    """
    if groupby not in adata.obs:
        raise KeyError(f"obs has no column {groupby!r}; it has {', '.join(map(repr, adata.obs))}.")
    name, table = _representation(adata, use_rep)
    groups = adata.obs[groupby]
    known = groups.notna().to_numpy()
    labels = groups[known].astype(str).to_numpy()
    neighbors = min(5, max(1, len(set(labels)) - 1))
    model = (
        DistributionEmbedding(n_neighbors=neighbors, random_state=0)
        if estimator is None
        else clone(estimator)
    )
    model.fit({group: table[known][labels == group] for group in sorted(set(labels))})
    facts = {"use_rep": name, "groupby": groupby, "metric": model.metric}
    results = {"names": np.array(model.names_), "distances": model.distances_}
    if model.embedding_ is not None:
        results["coordinates"] = model.embedding_
        adata.obsm[f"X_{key_added}"] = _of_cells(model, known, labels)
    params = facts | _found(model, ("bandwidth_", "n_neighbors_"))
    adata.uns[key_added] = results | {"params": params}
    return model


def _of_cells(model: DistributionEmbedding, known: Any, labels: Any) -> Any:
    """The coordinates of each cell's sample; NaN for cells of none."""
    assert model.embedding_ is not None
    places = {name: i for i, name in enumerate(model.names_)}
    found = np.full((len(known), model.embedding_.shape[1]), np.nan)
    found[known] = model.embedding_[[places[label] for label in labels]]
    return found


def _representation(adata: Any, use_rep: str | None) -> tuple[str, Any]:
    """A representation as a frame whose columns are called as those of a .h5ad file."""
    pandas = need("pandas", "kernelmean.integrations.anndata", "anndata")
    name = _default(adata) if use_rep is None else use_rep
    if name == "X":
        values = adata.X.toarray() if hasattr(adata.X, "toarray") else np.asarray(adata.X)
        return name, pandas.DataFrame(values, index=adata.obs_names, columns=adata.var_names)
    if name not in adata.obsm:
        raise KeyError(f"obsm has no {name!r}; it has {', '.join(map(repr, adata.obsm))}.")
    values = adata.obsm[name]
    columns = values.columns if hasattr(values, "columns") else range(values.shape[1])
    table = values.toarray() if hasattr(values, "toarray") else np.asarray(values)
    names = [f"{name}-{column}" for column in columns]
    return name, pandas.DataFrame(table, index=adata.obs_names, columns=names)


def _default(adata: Any) -> str:
    keys = list(adata.obsm)
    if USUAL in keys:
        return USUAL
    if len(keys) > 1:
        raise ValueError(f"which representation? Say use_rep=; obsm has {', '.join(keys)}.")
    return keys[0] if keys else "X"


def _is_fitted(model: Any) -> bool:
    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    return True


def _found(model: Any, names: tuple[str, ...]) -> dict[str, Any]:
    """What a fit has found, as far as there is any: files hold no None."""
    known = {name.rstrip("_"): getattr(model, name, None) for name in names}
    return {name: value for name, value in known.items() if value is not None}
