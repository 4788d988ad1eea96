"""The display of samples as points of a plane."""

from __future__ import annotations

import numpy as np
import pytest

import kernelmean as km


def test_samples_by_name_group_and_number(named_embedding, drawn):
    plain = drawn(km.plot.EmbeddingDisplay.from_estimator(named_embedding))
    assert [text.get_text() for text in plain.texts_][:2] == [r"\$plain\$", "<script>"]
    groups = drawn(
        km.plot.EmbeddingDisplay.from_estimator(
            named_embedding, color=list("aabbccab"), label=False
        )
    )
    assert [text.get_text() for text in groups.ax_.get_legend().get_texts()] == ["a", "b", "c"]
    assert groups.texts_ == []
    numbers = drawn(km.plot.EmbeddingDisplay.from_estimator(named_embedding, color=np.arange(8.0)))
    np.testing.assert_array_equal(numbers.points_[0].get_array(), np.arange(8.0))
    with pytest.raises(ValueError, match="one value per sample"):
        km.plot.EmbeddingDisplay.from_estimator(named_embedding, color=[1, 2])


def test_distances_only_have_no_map(drawn):
    samples = [np.random.default_rng(i).normal(size=(30, 1)) for i in range(3)]
    bare = km.DistributionEmbedding(embedding=None, random_state=0, engine="naive").fit(samples)
    with pytest.raises(ValueError, match="DistancesDisplay"):
        km.plot.EmbeddingDisplay.from_estimator(bare)
    drawn(km.plot.DistancesDisplay.from_estimator(bare))
