"""Numbers that sum attention weights up: entropy, distance, how much one column takes.

Weights are NumPy arrays [..., T, S] whose rows sum to 1, or to 0 where nothing was seen. Such a row
counts with 0. A weight says where a layer read, not why a token was written: Jain & Wallace 2019,
"Attention is not Explanation"; Wiegreffe & Pinter 2019, "Attention is not not Explanation".
"""

import numpy as np
from jaxtyping import Float


def entropy(weights: Float[np.ndarray, "*H T S"]) -> Float[np.ndarray, "*H"]:
    """Mean over rows t of -sum_s w[t, s] ln w[t, s], in nats: 0 for one column, ln S for all
    alike."""
    safe = np.where(weights > 0, weights, 1.0)
    return np.asarray(-(weights * np.log(safe)).sum(-1).mean(-1))


def relative_entropy(weights: Float[np.ndarray, "*H T S"]) -> Float[np.ndarray, "*H"]:
    """Entropy / ln S, from 0 to 1; 0 for a single column."""
    S = weights.shape[-1]
    return np.asarray(entropy(weights) / (np.log(S) if S > 1 else 1.0))


def distance(weights: Float[np.ndarray, "*H T S"], scaled: bool = False) -> Float[np.ndarray, "*H"]:
    """Mean over rows t of sum_s w[t, s] |t - s|, in tokens.

    scaled: of |t / (T - 1) - s / (S - 1)| instead, so that the corners of the map meet: 0 on its
    diagonal, for texts of different lengths.
    """
    T, S = weights.shape[-2:]
    rows, columns = np.arange(T), np.arange(S)
    if scaled:
        rows, columns = rows / max(T - 1, 1), columns / max(S - 1, 1)
    return np.asarray((weights * np.abs(rows[:, None] - columns)).sum(-1).mean(-1))


def share(weights: Float[np.ndarray, "*H T S"], column: int) -> Float[np.ndarray, "*H"]:
    """Mean over rows t of w[t, column]: how much of the attention one column takes."""
    return np.asarray(weights[..., column].mean(-1))


def without(weights: Float[np.ndarray, "*H T S"], column: int) -> Float[np.ndarray, "*H T R"]:
    """The other columns, rows made to sum to 1 again: w[t, s] / (1 - w[t, column]).

    A row with all of its weight on that column has nothing left and is 0.
    """
    rest = np.delete(weights, column, axis=-1)
    left = rest.sum(-1, keepdims=True)
    return np.divide(rest, left, out=np.zeros_like(rest), where=left > 0)
