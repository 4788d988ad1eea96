"""Results as pages: one HTML file each, to be opened anywhere, without a network.

They show the same pictures as the Matplotlib displays of :mod:`kernelmean.plot`. A page is a
string, which is written to a file in UTF-8.

Examples
--------
>>> import numpy as np, kernelmean as km
>>> X = np.random.default_rng(0).normal(size=(300, 2))
>>> page = km.report.fit_page(km.sparse_kernel_mean(X, k=30, random_state=0), X)
>>> page.startswith("<!"), "<script src" in page
(True, False)
"""

from kernelmean.pictures.html import (
    clusters_page,
    difference_page,
    embedding_page,
    fit_page,
    monitor_page,
    proportions_page,
    scores_page,
    segmentation_page,
)

__all__ = [
    "clusters_page",
    "difference_page",
    "embedding_page",
    "fit_page",
    "monitor_page",
    "proportions_page",
    "scores_page",
    "segmentation_page",
]
