"""Three tokens on a plane attend to one another (chapters 02 and 04)."""

import numpy as np
import traitlets

from attention_lib.explorables._base import Explorable, Numbers, Real
from attention_lib.output import attention
from attention_lib.scores import attention_scores


class AttentionPlane(Explorable):
    """Three tokens with two features: drag them, and their scores, weights and outputs follow.

    ``points`` has the tokens, one a row, and ``query`` the number of the one that asks, from 1.
    ``shows`` is "scores" (with lengths and angles) or "outputs" (softmax(XXᵀ/τ)X with ``temperature`` τ).
    """

    points = Numbers([[2, 1], [1, 4], [-1, 2]], shape=(3, 2), limit=4).tag(sync=True)
    query = traitlets.Int(1, min=1, max=3).tag(sync=True)
    shows = traitlets.Enum(["scores", "outputs"], "scores").tag(sync=True)
    temperature = Real(1, min=0.1, max=100).tag(sync=True)

    @property
    def height(self):
        return {"scores": (545, 1010), "outputs": (695, 1225)}[self.shows]

    @property
    def scores(self):
        return attention_scores(self.points, self.points, scale=1.0)

    @property
    def lengths(self):
        return np.hypot(*np.array(self.points).T)

    @property
    def angles(self):
        """Degrees between two tokens; NaN where one has no length."""
        x, y = np.array(self.points).T
        angles = np.degrees(np.arctan2(np.abs(np.outer(x, y) - np.outer(y, x)), self.scores))
        return np.where(np.outer(self.lengths, self.lengths) > 0, angles, np.nan)

    @property
    def cosines(self):
        products = np.outer(self.lengths, self.lengths)
        return np.divide(self.scores, products, out=np.full((3, 3), np.nan), where=products > 0)

    @property
    def weights(self):
        return self._attend()[1]

    @property
    def outputs(self):
        return self._attend()[0]

    def _attend(self):
        return attention(self.points, self.points, self.points, scale=1 / self.temperature, return_weights=True)

    def text(self):
        tokens = [f"{name} = ({x:g}, {y:g})" for name, (x, y) in zip(X, self.points, strict=True)]
        return f"Three tokens, {', '.join(tokens).replace('-', '−')}. On the book's pages and in Jupyter you can drag them."

    def tables(self):
        scores = ("Scores S = X Xᵀ", X, X, self.scores)
        if self.shows == "scores":
            row = self.query - 1
            angles = [f"{angle:.1f}°" for angle in self.angles[row]]
            parts = list(zip(self.lengths, angles, self.cosines[row], self.scores[row], strict=True))
            asked = f"The query is {X[row]}, of length {self.lengths[row]:.2f}"
            return [scores, (asked, X, ["length", "angle", "cosine", "score"], parts)]
        return [
            scores,
            (f"Weights A = softmax(S / {self.temperature:g})", X, X, self.weights),
            ("Outputs O = A X", O, ["feature 1", "feature 2"], self.outputs),
        ]


X, O = (tuple(f"{name}{index}" for index in "₁₂₃") for name in "xo")
