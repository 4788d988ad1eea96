"""Many samples: where they lie, who is near whom, and an order that puts the near ones side by
side.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.cluster.hierarchy import leaves_list, linkage, optimal_leaf_ordering
from scipy.spatial.distance import squareform
from sklearn.utils.validation import check_is_fitted

from kernelmean._types import IntVector, Matrix, Points, Vector
from kernelmean.embedding.estimator import DistributionEmbedding

# samples up to which the leaves are ordered optimally, O(N³); beyond it as the clustering left them
ORDERED = 600


class Collection(NamedTuple):
    """N samples as an embedding compared them."""

    names: list[str]
    sizes: Vector  # (N,) points of each
    counts: IntVector  # (N,) centres of each
    errors: Vector | None  # (N,) certified errors of the means, where they were measured
    distances: Matrix  # (N, N)
    coordinates: Points | None  # (N, n_components)
    order: IntVector  # (N,) near samples side by side
    metric: str

    def nearest(self, m: int) -> IntVector:
        """(N, m) the nearest other samples of each, the nearest first."""
        D = self.distances.copy()
        np.fill_diagonal(D, np.inf)
        found: IntVector = np.argsort(D, axis=1, kind="stable")[:, : min(m, len(D) - 1)]
        return found


def collection(
    embedding: DistributionEmbedding, names: Sequence[object] | None = None
) -> Collection:
    """The samples of a fitted embedding, by their own names or others."""
    if not isinstance(embedding, DistributionEmbedding):
        raise TypeError(
            f"a fitted DistributionEmbedding is needed, got {type(embedding).__name__}."
        )
    check_is_fitted(embedding)
    given = embedding.names_ if names is None else names
    if len(given) != len(embedding.names_):
        raise ValueError(
            f"names has {len(given)} entries, but {len(embedding.names_)} samples were fitted."
        )
    means = [mean.expansion for mean in embedding.means_]
    return Collection(
        [str(name) for name in given],
        np.array([float(mean.n_points) for mean in means]),
        np.array([mean.k for mean in means]),
        embedding.sample_errors_,
        embedding.distances_,
        embedding.embedding_,
        clustered_order(embedding.distances_),
        embedding.metric,
    )


def clustered_order(D: Matrix) -> IntVector:
    """Leaves of average linkage, turned so that neighbours are near (Bar-Joseph et al. 2001).  Time
    O(N³), memory O(N²).
    """
    if len(D) < 3:
        return np.arange(len(D))
    condensed = squareform(D, checks=False)
    tree = linkage(condensed, method="average")
    if len(D) <= ORDERED:
        tree = optimal_leaf_ordering(tree, condensed)
    order: IntVector = leaves_list(tree).astype(np.intp)
    return order
