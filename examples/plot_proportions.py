"""How much of each class?

Labelled digits to learn from, and a pile of unlabelled ones with other shares. No label is asked
for, only the shares, and how sure they are.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import kernelmean as km

X, y = load_digits(n_class=5, return_X_y=True)
train, test, y_train, y_test = train_test_split(
    X / 16.0, y, train_size=450, stratify=y, random_state=0
)
counter = km.ClassProportions(random_state=0).fit(train, y_train)

rng = np.random.default_rng(0)
shares = np.array([0.5, 0.3, 0.1, 0.1, 0.0])
pile = np.concatenate(
    [rng.choice(np.flatnonzero(y_test == c), int(300 * s)) for c, s in enumerate(shares)]
)
found = counter.predict_interval(test[pile])
print("shares found:", found.proportions.round(3))

# %%
# Bars are the shares of the training rows, crosses those of the pile; dots are what is found, with
# intervals of 95 %.
figure, ax = plt.subplots(figsize=(7, 3.4), layout="constrained")
ax.bar(counter.classes_, np.bincount(y_train) / len(y_train), color="tab:grey", alpha=0.4)
spread = np.abs(np.array([found.lower, found.upper]) - found.proportions)
ax.errorbar(counter.classes_, found.proportions, spread, fmt="o", capsize=5, label="found")
ax.plot(counter.classes_, shares, "kx", ms=9, label="truth")
ax.set(xlabel="digit", ylabel="share", xticks=counter.classes_)
ax.legend()
plt.show()
