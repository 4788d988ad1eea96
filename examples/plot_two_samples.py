"""Do two samples differ?

[`mmd_test`][kernelmean.mmd_test] compares kernel means and permutes bins instead of points: its
cost is linear in the number of points. It looks at three bandwidths with five regularisations each,
and corrects for that by the same permutations: its level is exact. On the left one test, on the
right how often it rejects as the difference grows. Where samples differ is another question, which
[another page](plot_difference.md) answers.
"""

import matplotlib.pyplot as plt
import numpy as np

import kernelmean as km

rng = np.random.default_rng(0)
A, B = rng.normal(size=(4000, 3)), rng.normal((0.08, 0.0, 0.0), 1.0, (4000, 3))
test = km.mmd_test(A, B, random_state=0)
print(f"evidence {test.statistic:.2f}, p = {test.p_value:.3f}")

# %%
# Each dot is 100 tests at level 5 %. With no shift, the share that rejects estimates the level,
# within four percent or so.
shifts = np.array([0.0, 0.1, 0.2, 0.3])
power = []
for shift in shifts:
    p = [
        km.mmd_test(
            rng.normal(size=(400, 3)),
            rng.normal((shift, 0, 0), 1.0, (400, 3)),
            k=64,
            permutations=199,
            random_state=s,
        ).p_value
        for s in range(100)
    ]
    power.append(np.mean(np.array(p) <= 0.05))
print(
    "rejected: "
    + ", ".join(
        f"{share:.0%} at shift {shift:g}" for shift, share in zip(shifts, power, strict=True)
    )
)
figure, axes = plt.subplots(1, 2, figsize=(10, 3.4), layout="constrained")
axes[0].hist(test.null, bins=40, color="lightgrey")
axes[0].axvline(test.statistic, color="tab:red", label="observed")
axes[0].axvline(test.threshold(0.05), color="grey", linestyle="--", label="5 % threshold")
axes[0].set(xlabel="largest evidence under permutations")
axes[0].legend()
axes[1].plot(shifts, power, "o-")
axes[1].axhline(0.05, color="grey", linestyle="--")
axes[1].set(xlabel="shift of one coordinate", ylabel="share of tests that reject")
plt.show()
