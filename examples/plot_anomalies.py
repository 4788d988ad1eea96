"""Points where the density is low.

[`SparseKDEOutlierDetector`][kernelmean.SparseKDEOutlierDetector] marks the points whose log-density
is below that of most training points, each scored without itself: of new normal points it marks the
share that ``contamination`` says. On the right the log-density of new normal points and of uniform
noise. Its own bandwidth is made for many columns and rows of all kinds; two curves in the plane
have a shape that 5000 rows resolve, so that here the bandwidth that fits best also ranks best.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.metrics import roc_auc_score

import kernelmean as km

rng = np.random.default_rng(0)
X, new = (
    make_moons(5000, noise=0.1, random_state=0)[0],
    make_moons(1000, noise=0.1, random_state=1)[0],
)
noise = rng.uniform((-2, -1.5), (3, 2), (1000, 2))
detector = km.SparseKDEOutlierDetector(contamination=0.02, bandwidth="likelihood", random_state=0)
detector.fit(X)
scores = detector.score_samples(np.concatenate([new, noise]))
marked = {
    name: np.mean(detector.predict(points) == -1)
    for name, points in (("new", new), ("noise", noise))
}
print(f"marked: {marked['new']:.1%} of new normal points, {marked['noise']:.1%} of the noise")
print(
    f"area under the ROC curve {roc_auc_score(np.repeat([1, 0], 1000), scores):.3f} with "
    f"{detector.density_.mean_.k} centres"
)

# %%
figure, axes = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
u, v = np.linspace(-2, 3, 160), np.linspace(-1.5, 2, 120)
Q = np.stack(np.meshgrid(u, v), axis=-1).reshape(-1, 2)
axes[0].contourf(
    u,
    v,
    detector.decision_function(Q).reshape(len(v), len(u)),
    levels=[-1e3, 0, 1e3],
    colors=["mistyrose", "white"],
)
axes[0].scatter(*new.T, s=3, c=np.where(detector.predict(new) < 0, "tab:red", "grey"))
axes[0].set_title("new normal points; the shaded region is marked")
axes[1].hist([scores[:1000], np.maximum(scores[1000:], -30)], bins=50, label=["normal", "noise"])
axes[1].axvline(detector.offset_, color="black", linestyle="--", label="threshold")
axes[1].set(xlabel="log-density, cut at −30")
axes[1].legend()
plt.show()
