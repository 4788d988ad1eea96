"""Class proportions: the mixture of class means that is nearest to the mean of an unlabelled sample."""

from kernelmean.applications.proportions.fitting import ClassMeans, Settings, fit_class_means
from kernelmean.applications.proportions.intervals import ProportionIntervals
from kernelmean.applications.proportions.representing import Representation, represent

__all__ = ["ClassMeans", "ProportionIntervals", "Representation", "Settings", "fit_class_means", "represent"]
