"""Attention in loops over plain numbers: slow, and written without NumPy's matrix product, as a second opinion."""

import math

import numpy as np


def attention_in_loops(Q, K, V, *, mask=None, bias=None, scale=None):
    """Return output and weights, one query of one batch entry at a time."""
    N, M, d_k, d_v = Q.shape[-2], K.shape[-2], Q.shape[-1], V.shape[-1]
    mask = np.ones((N, M), bool) if mask is None else mask
    bias = np.zeros((N, M)) if bias is None else bias
    scale = d_k**-0.5 if scale is None and d_k else scale or 1.0
    lead = np.broadcast_shapes(Q.shape[:-2], K.shape[:-2], mask.shape[:-2], bias.shape[:-2])
    mask, bias = np.broadcast_to(mask, (*lead, N, M)), np.broadcast_to(bias, (*lead, N, M))
    Q, K = np.broadcast_to(Q, (*lead, N, d_k)), np.broadcast_to(K, (*lead, M, d_k))
    weights = np.zeros((*lead, N, M))
    for place in np.ndindex(*lead, N):
        batch, i = place[:-1], place[-1]
        scores = {}
        for j in range(M):
            if mask[place][j]:
                dot = math.fsum(float(Q[place][f]) * float(K[batch][j][f]) for f in range(d_k))
                scores[j] = scale * dot + float(bias[place][j])
        top = max(scores.values(), default=0.0)
        total = math.fsum(math.exp(score - top) for score in scores.values())
        for j, score in scores.items():
            weights[place][j] = math.exp(score - top) / total

    lead = np.broadcast_shapes(lead, V.shape[:-2])
    shares, V = np.broadcast_to(weights, (*lead, N, M)), np.broadcast_to(V, (*lead, M, d_v))
    output = np.zeros((*lead, N, d_v))
    for place in np.ndindex(*lead, N, d_v):
        *batch, i, f = place
        output[place] = math.fsum(float(shares[(*batch, i)][j]) * float(V[(*batch, j)][f]) for j in range(M))
    return output, weights
