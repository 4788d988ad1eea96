"""Results as pages and pictures: one HTML file each, to be opened anywhere, without a network.

page = kernelmean.pictures.html.fit_page(mean, X, certificate=mean.certificate(X),
command="kernelmean fit data.csv ...") Path("fit.html").write_text(page, encoding="utf-8")

Examples
--------
>>> import numpy as np, kernelmean as km
>>> X = np.random.default_rng(0).normal(size=(300, 2))
>>> page = km.report.fit_page(km.sparse_kernel_mean(X, k=30, random_state=0), X)
>>> page.startswith("<!"), "<script src" in page
(True, False)
"""

from kernelmean.pictures.html.embedding import embedding_page
from kernelmean.pictures.html.fit import fit_page
from kernelmean.pictures.html.segmentation import segmentation_page

__all__ = ["embedding_page", "fit_page", "segmentation_page"]
