"""What one attention layer takes, in operations and in bytes, and where pairs of tokens outweigh the rest (chapter 07)."""

import bisect

import traitlets

from attention_lib.cost import attention_cost
from attention_lib.explorables._base import Explorable


class CostLines(Explorable):
    """Choose a layer, drag its number of tokens, and see which part of it takes more: pairs of tokens, or the rest.

    The layer is self-attention of ``tokens`` tokens with ``features`` features (the model's, d) in ``heads`` heads,
    which must divide them. A number takes ``itemsize`` bytes: 2, 4 or 8. ``causal`` counts the allowed pairs alone.

    The layers to choose from have the sizes of GPT-2 small (A. Karpathy, nanoGPT, ``transformer_sizing.ipynb``), of T5
    small (Raffel et al. 2020) and of GPT-3's dense layers (Brown et al. 2020, table 2.1); the last is no model in particular.
    An H100 GPU has 80 GB in its first two forms (https://docs.nvidia.com/launchpad/ai/h100-mig/latest/h100-mig-gpu.html).
    """

    tokens = traitlets.Int(1024, min=16, max=2**20).tag(sync=True)
    features = traitlets.Int(768, min=16, max=2**14).tag(sync=True)
    heads = traitlets.Int(12, min=1, max=128).tag(sync=True)
    itemsize = traitlets.Enum([2, 4, 8], 4).tag(sync=True)
    causal = traitlets.Bool(False).tag(sync=True)
    height = (800, 1435)

    @traitlets.validate("features", "heads")
    def _heads_divide_features(self, proposal):
        layer = {"features": self.features, "heads": self.heads} | {proposal["trait"].name: proposal["value"]}
        if layer["features"] % layer["heads"]:
            raise traitlets.TraitError("heads = {heads} does not divide features = {features}".format(**layer))
        return proposal["value"]

    @property
    def flops(self):
        """FLOPs of Q, K, V, scores, mixture and output."""
        return list(self._cost().flops.values())

    @property
    def exponentials(self):
        return self._cost().exponentials

    @property
    def sizes(self):
        """Bytes of Q, K, V, scores, weights, mixture and output, in all heads."""
        return list(self._cost().bytes.values())

    @property
    def all_flops(self):
        return self._cost().total_flops

    @property
    def pair_flops(self):
        return self._cost().pair_flops

    @property
    def all_bytes(self):
        return self._cost().total_bytes

    @property
    def pair_bytes(self):
        return pair_bytes(self._cost())

    @property
    def crossings(self):
        """The fewest tokens with which pairs take half of the FLOPs or more, and half of the bytes."""
        most = range(1, 4 * self.features + 1)

        def first(enough):
            return most[bisect.bisect_left(most, True, key=lambda n: enough(self._cost(n)))]

        return [
            first(lambda cost: cost.pair_flops >= cost.projection_flops),
            first(lambda cost: 2 * pair_bytes(cost) >= cost.total_bytes),
        ]

    def _cost(self, tokens=None):
        layer = {"d_model": self.features, "n_heads": self.heads, "causal": self.causal, "itemsize": self.itemsize}
        return attention_cost(tokens or self.tokens, **layer)

    def text(self):
        flops, size = self.crossings
        return (
            f"An attention layer of {self.tokens:,} tokens with {self.features:,} features in {self.heads} {'head' if self.heads == 1 else 'heads'} takes "
            f"{prefixed(self.all_flops)}FLOP and {prefixed(self.all_bytes)}B: scores and mixing "
            f"{share(self.pair_flops, self.all_flops)} of the operations, N×N arrays {share(self.pair_bytes, self.all_bytes)} "
            f"of the memory. They take half or more from {flops:,} and from {size:,} tokens on."
        )

    def tables(self):
        cost = self._cost()
        names = {"Q": "Q, K, V", "scores": "scores", "weights": "weights", "mixture": "mixture", "output": "output"}
        rows = []
        for name in names:
            times = 3 if name == "Q" else 1
            flops, size = times * cost.flops.get(name, 0), times * cost.bytes[name]
            work = [prefixed(flops), share(flops, cost.total_flops)] if flops else [f"{prefixed(cost.exponentials)} eˣ", "–"]
            rows.append([*work, f"{prefixed(size)}B", share(size, cost.total_bytes)])
        return [(CAPTION, [*names.values()], ["FLOPs", "share", "memory", "share"], rows)]


CAPTION = "Each step (M, G, T, P: 10⁶, 10⁹, 10¹², 10¹⁵; eˣ: exponentials)"


def pair_bytes(cost):
    return cost.bytes["scores"] + cost.bytes["weights"]


def prefixed(value):
    """Return a number of at least 1 with three digits and a prefix: 50331648 is "50.3 M"."""
    digits, power = f"{value:.2e}".split("e")
    group, places = divmod(int(power), 3)
    return f"{float(digits) * 10**places:.{2 - places}f} {['', 'k', 'M', 'G', 'T', 'P'][group]}"


def share(part, whole):
    """Return a share in percent, with no 0% or 100% for what is not quite so."""
    percent = 100 * part / whole
    return "<1%" if 0 < percent < 1 else "over 99%" if 99 < percent < 100 else f"{percent:.0f}%"
