"""Features of rows that arrive: normal scores of their columns, linear combinations and products.

Every row is computed alone, in the same order of operations: a row has the same features, to the
last bit, in whatever batch it comes.
"""

from __future__ import annotations

import numpy as np

from kernelmean.compiled.compiling import ORDERED_MATH, entry

TOGETHER = 8  # rows that share a look at the directions


@entry(ORDERED_MATH)
def column_scores(X, knots, counts, scores, below, above, rounding, out):
    """The score of every value of a table: that of its knot, or in between by a straight line.

    Column j has ``counts[j]`` ascending knots. A value that equals one, up to this part of itself,
    has its score; values beyond the first or the last have ``below[j]`` and ``above[j]``.
    """
    n, d = X.shape
    for i in range(n):
        for j in range(d):
            x = X[i, j]
            low = 0
            high = counts[j]
            while low < high:
                middle = (low + high) // 2
                if knots[j, middle] < x:
                    low = middle + 1
                else:
                    high = middle
            near = rounding * abs(x)
            if low < counts[j] and knots[j, low] - x <= near:
                out[i, j] = scores[j, low]
            elif low > 0 and x - knots[j, low - 1] <= near:
                out[i, j] = scores[j, low - 1]
            elif low == counts[j]:
                out[i, j] = above[j]
            elif low == 0:
                out[i, j] = below[j]
            else:
                gap = knots[j, low] - knots[j, low - 1]
                share = (x - knots[j, low - 1]) / gap
                out[i, j] = scores[j, low - 1] + share * (scores[j, low] - scores[j, low - 1])


@entry(ORDERED_MATH)
def plain_features(S, center, directions, limit, first, second, shift, factor, out):
    """Linear combinations of scores, products of these, and each score and its square.

    t = (s − center)·directions, bounded by ±limit. ``out`` gets the first d of t, the products
    t_a·t_b of the pairs (first, second), and s_j, s_j² column by column, each less ``shift`` and
    times ``factor``. A direction is read once for several rows.
    """
    n, d = S.shape
    m = directions.shape[1]
    p = len(first)
    t = np.empty((TOGETHER, m))
    for start in range(0, n, TOGETHER):
        rows = min(TOGETHER, n - start)
        for r in range(rows):
            for c in range(m):
                t[r, c] = 0.0
        for j in range(d):
            for r in range(rows):
                s = S[start + r, j] - center[j]
                for c in range(m):
                    t[r, c] += s * directions[j, c]
        for r in range(rows):
            i = start + r
            for c in range(m):
                t[r, c] = min(max(t[r, c], -limit), limit)
            for c in range(d):
                out[i, c] = (t[r, c] - shift[c]) * factor[c]
            for c in range(p):
                out[i, d + c] = (t[r, first[c]] * t[r, second[c]] - shift[d + c]) * factor[d + c]
            for j in range(d):
                c = d + p + 2 * j
                s = S[i, j]
                out[i, c] = (s - shift[c]) * factor[c]
                out[i, c + 1] = (s * s - shift[c + 1]) * factor[c + 1]
