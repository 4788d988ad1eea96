"""The paper's class proportions, in small.

A classifier is trained on digits 0 to 4 in equal shares. New samples hold them in other shares,
which are to be estimated without labels. Error is the sum of absolute differences, over twenty
mixtures. "Blind" answers with the shares of the training data.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

import kernelmean as km

X, y = load_digits(n_class=5, return_X_y=True)
train, test, y_train, y_test = train_test_split(
    X / 16.0, y, train_size=450, stratify=y, random_state=0
)
classifier = LogisticRegression(max_iter=2000)
methods = {
    "full means": km.ClassProportions(bandwidth="median", sparse=False, random_state=0),
    "sparse means": km.ClassProportions(bandwidth="median", random_state=0),
    "sparse means of posteriors": km.ClassProportions(
        representation=classifier, bandwidth="median", random_state=0
    ),
}
fitted = {name: method.fit(train, y_train) for name, method in methods.items()}

# %%
# Over a classifier's posteriors the means are far better than over pixels: the classifier says what
# matters.
rng = np.random.default_rng(0)
errors = {name: [] for name in [*fitted, "blind"]}
for _ in range(20):
    shares = rng.dirichlet(np.ones(5))
    rows = np.concatenate(
        [
            rng.choice(np.flatnonzero(y_test == c), n)
            for c, n in enumerate(rng.multinomial(300, shares))
        ]
    )
    truth = np.bincount(y_test[rows], minlength=5) / len(rows)
    for name, method in fitted.items():
        errors[name].append(np.abs(method.predict(test[rows]) - truth).sum())
    errors["blind"].append(np.abs(np.bincount(y_train) / len(y_train) - truth).sum())
for name, values in errors.items():
    print(f"{name:28} median error {np.median(values):.3f}")
figure, axes = plt.subplots(figsize=(7, 3.2), layout="constrained")
axes.boxplot(list(errors.values()), orientation="horizontal", tick_labels=list(errors))
axes.set(xlabel="sum of absolute errors", xscale="log")
plt.show()
