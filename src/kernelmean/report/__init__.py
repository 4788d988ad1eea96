"""Results as pages and pictures: one HTML file each, to be opened anywhere, without a network.

page = kernelmean.report.fit_page(mean, X, certificate=mean.certificate(X), command="kernelmean fit data.csv ...")
Path("fit.html").write_text(page, encoding="utf-8")
"""

from kernelmean.report.embedding import embedding_page
from kernelmean.report.fit import fit_page
from kernelmean.report.segmentation import segmentation_page

__all__ = ["embedding_page", "fit_page", "segmentation_page"]
