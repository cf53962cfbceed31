"""Four tokens ask with one matrix and answer with another (chapter 05)."""

import numpy as np
import traitlets

from attention_lib.explorables._base import Explorable, Real
from attention_lib.scores import attention_scores
from attention_lib.weights import attention_weights


class TwoQuestions(Explorable):
    """Turn and scale W_q and W_k in the plane: who scores whom, and who attends to whom.

    Both matrices turn each row by an angle in degrees, against the clock, and scale it.
    ``tokens`` has the four tokens, one a row, and ``query`` the number of the one looked at, from 1.
    """

    turn_q = Real(60, min=-180, max=180).tag(sync=True)
    scale_q = Real(1, min=0.1, max=1.5).tag(sync=True)
    turn_k = Real(0, min=-180, max=180).tag(sync=True)
    scale_k = Real(1, min=0.1, max=1.5).tag(sync=True)
    query = traitlets.Int(1, min=1, max=4).tag(sync=True)
    tokens = np.array([[1.4, 0.6], [-0.6, 1.6], [-1.5, -0.5], [0.7, -1.5]])
    height = (905, 1695)

    @property
    def W_q(self):
        return _turned(self.turn_q, self.scale_q)

    @property
    def W_k(self):
        return _turned(self.turn_k, self.scale_k)

    @property
    def product(self):
        """W_q W_kᵀ, all that the scores know of the two."""
        return self.W_q @ self.W_k.T

    @property
    def Q(self):
        return self.tokens @ self.W_q

    @property
    def K(self):
        return self.tokens @ self.W_k

    @property
    def scores(self):
        return attention_scores(self.Q, self.K, scale=1.0)

    @property
    def weights(self):
        return attention_weights(self.Q, self.K, scale=1.0)

    def text(self):
        parts = [
            f"{name} turns by {turn:g}° and scales by {scale:g}".replace("-", "−")
            for name, turn, scale in (("W_q", self.turn_q, self.scale_q), ("W_k", self.turn_k, self.scale_k))
        ]
        return f"Four tokens of two features. {', '.join(parts)}. On the book's pages and in Jupyter you can turn both."

    def tables(self):
        return [
            ("Scores S = X W_q W_kᵀ Xᵀ", X, X, self.scores),
            ("Weights A = softmax(S)", X, X, self.weights),
        ]


def _turned(degrees, scale):
    """Return the matrix that turns and scales each row: x @ W."""
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return scale * np.array([[c, s], [-s, c]])


X = tuple(f"x{index}" for index in "₁₂₃₄")
