"""The paper's class proportions, in small.

Digits 0 to 4 are learnt from equal shares. New samples hold them in other shares, which are to be
estimated without labels. Error is the sum of absolute differences, over twenty mixtures. "Blind"
answers with the shares of the training data.
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

# %%
# The paper compares kernel means of the images, full or sparse, by a linear system.
paper = {"representation": "raw", "solver": "paper", "bandwidth": "median", "random_state": 0}
methods = {
    "full means of images": km.ClassProportions(**paper, sparse=False),
    "sparse means of images": km.ClassProportions(**paper),
}

# %%
# Pixels are a poor measure of likeness; a classifier says what matters. The means may be over the
# posteriors of one of your own. By default there is nothing to choose: a calibrated classifier is
# pooled out of several, and the shares are read from the likelihood of the classes.
methods["sparse means of posteriors"] = km.ClassProportions(
    representation=LogisticRegression(max_iter=2000), bandwidth="median", random_state=0
)
methods["default"] = km.ClassProportions(random_state=0)
fitted = {name: method.fit(train, y_train) for name, method in methods.items()}

# %%
# All twenty mixtures are counted in one call.
rng = np.random.default_rng(0)
drawn = [
    np.concatenate([rng.choice(np.flatnonzero(y_test == c), n) for c, n in enumerate(counts)])
    for counts in rng.multinomial(300, rng.dirichlet(np.ones(5), 20))
]
truth = np.stack([np.bincount(y_test[rows], minlength=5) / len(rows) for rows in drawn])
answers = {"blind": np.bincount(y_train) / len(y_train)}
answers |= {name: method.predict([test[rows] for rows in drawn]) for name, method in fitted.items()}
errors = {name: np.abs(answer - truth).sum(axis=1) for name, answer in answers.items()}
for name, values in errors.items():
    print(f"{name:28} median error {np.median(values):.4f}")
figure, axes = plt.subplots(figsize=(7, 3.2), layout="constrained")
axes.boxplot(list(errors.values()), orientation="horizontal", tick_labels=list(errors))
axes.invert_yaxis()
axes.set(xlabel="sum of absolute errors", xscale="log")
axes.grid(axis="x", alpha=0.3)
plt.show()
