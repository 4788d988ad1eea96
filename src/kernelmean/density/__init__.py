"""Kernel density estimates on few centres: estimator, classifier, outlier detector."""
