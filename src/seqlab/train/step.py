"""The training step: a pure function (state, batch, hyper) -> (state, metrics)."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import optax

from seqlab.models.base import Model
from seqlab.train.devices.rows import Rows
from seqlab.train.gradient_norms import gradient_norms
from seqlab.train.hyper import Hyper
from seqlab.train.loss import correct, cross_entropy
from seqlab.train.optimizer import optimizer
from seqlab.train.schedule import schedule
from seqlab.train.state import TrainState
from seqlab.types import Batch

Metrics = dict[str, jax.Array]


@dataclasses.dataclass(frozen=True)
class Recipe:
    """What changes the compiled program of a step, besides the model and the shapes."""

    optimizer: Mapping[str, Any]
    schedule: str
    accumulate: int = 1
    ema: bool = False
    rows: Rows = Rows()

    def optimizer_for(self, hyper: Hyper) -> optax.GradientTransformation:
        """The optimizer with the numbers of `hyper`."""
        return optimizer(self.optimizer, schedule(self.schedule), hyper)


def forward(
    model: Model, params: Any, batch: Batch, dropout: jax.Array | None = None, key: Any = None
) -> jax.Array:
    """Logits [B, T, V] of a batch."""
    logits, _ = model.apply(
        {"params": params},
        batch.inputs,
        batch.mask,
        source=batch.source,
        source_mask=batch.source_mask,
        dropout=dropout,
        rngs=None if dropout is None else {"dropout": key},
    )
    return logits


def sums(model: Model, params: Any, batch: Batch, smoothing: Any, dropout: Any, key: Any):
    """Summed loss, and the summed loss without smoothing, correct tokens and tokens."""
    logits = forward(model, params, batch, dropout, key)
    loss = cross_entropy(logits, batch.targets, batch.weights, smoothing)
    nll = cross_entropy(logits, batch.targets, batch.weights)
    right = correct(logits, batch.targets, batch.weights)
    return loss, jnp.stack([loss, nll, right, jnp.sum(batch.weights)])


def row_sums(model: Model, params: Any, batch: Batch) -> jax.Array:
    """Summed loss without smoothing (nats), correct tokens and tokens of each row: [B, 3]."""

    def one(*row: jax.Array) -> jax.Array:
        logits, targets, weights = (array[None] for array in row)
        nll = cross_entropy(logits, targets, weights)
        return jnp.stack([nll, correct(logits, targets, weights), jnp.sum(weights)])

    return jax.vmap(one)(forward(model, params, batch), batch.targets, batch.weights)


def accumulated(
    model: Model, recipe: Recipe, state: TrainState, batch: Batch, hyper: Hyper
) -> tuple[Any, jax.Array]:
    """Gradient of the summed loss and the sums, over `accumulate` micro-batches and all devices.

    Row r belongs to micro-batch r mod accumulate, so that each keeps its share on every device.
    """
    gradient = jax.grad(
        lambda params, part, key: sums(
            model, params, part, hyper.label_smoothing, hyper.dropout, key
        ),
        has_aux=True,
    )
    count, key = recipe.accumulate, recipe.rows.key(state.step_key())
    if count == 1:
        return recipe.rows.total(gradient(state.params, batch, key))

    def split(rows: jax.Array) -> jax.Array:
        missing = -rows.shape[0] % count  # filled up with rows of weight 0
        rows = jnp.pad(rows, [(0, missing), *[(0, 0)] * (rows.ndim - 1)])
        return rows.reshape(rows.shape[0] // count, count, *rows.shape[1:]).swapaxes(0, 1)

    parts = jax.tree.map(split, batch)

    def add(total: Any, part: tuple) -> tuple[Any, None]:
        index, micro = part
        new = gradient(state.params, micro, jax.random.fold_in(key, index))
        return jax.tree.map(jnp.add, total, new), None

    zero = (jax.tree.map(jnp.zeros_like, state.params), jnp.zeros(4))
    return recipe.rows.total(jax.lax.scan(add, zero, (jnp.arange(count), parts))[0])


def train_step(
    model: Model, recipe: Recipe, state: TrainState, batch: Batch, hyper: Hyper
) -> tuple[TrainState, Metrics]:
    """One update from the gradient of the mean loss a target token.

    A step whose loss or gradient is not finite changes nothing but `finite` in the metrics.
    """
    gradients, totals = accumulated(model, recipe, state, batch, hyper)
    loss, nll, right, tokens = totals
    tokens = jnp.maximum(tokens, 1.0)
    gradients = jax.tree.map(lambda g: g / tokens, gradients)
    norm = optax.tree.norm(gradients)
    updates, opt_state = recipe.optimizer_for(hyper).update(
        gradients, state.opt_state, state.params
    )
    params = optax.apply_updates(state.params, updates)
    ema = state.ema
    if recipe.ema:
        # Bias-corrected by a shorter memory at the start, as in Polyak averaging.
        decay = jnp.minimum(hyper.ema, (state.step + 1.0) / (state.step + 10.0))
        ema = jax.tree.map(lambda old, new: decay * old + (1 - decay) * new, ema, params)
    finite = jnp.isfinite(loss) & jnp.isfinite(norm)
    new = TrainState(state.step + 1, params, opt_state, ema, state.key)
    state = jax.tree.map(lambda a, b: jnp.where(finite, a, b), new, state)
    metrics = {
        "loss": nll / tokens,
        "objective": loss / tokens,
        "accuracy": right / tokens,
        "gradient_norm": norm,
        "lr": schedule(recipe.schedule)(jnp.float32(state.step), hyper),
        "tokens": tokens,
        "finite": finite,
        **gradient_norms(gradients),
    }
    return state, metrics


def train_steps(
    step: Callable[[TrainState, Batch, Hyper], tuple[TrainState, Metrics]],
    state: TrainState,
    batches: Batch,
    count: jax.Array,
    hyper: Hyper,
) -> tuple[TrainState, Metrics]:
    """The first `count` of N stacked batches, in one dispatch; metrics have N rows.

    `count` is an input, so that a dispatch cut short (a bucket change, an evaluation) needs no
    program of its own. A step that is not finite ends the dispatch.
    """

    def at(index: jax.Array) -> Batch:
        return jax.tree.map(lambda a: a[index], batches)

    size = batches.inputs.shape[0]
    shapes = jax.eval_shape(step, state, jax.eval_shape(at, jnp.int32(0)), hyper)[1]
    rows = jax.tree.map(lambda s: jnp.zeros((size, *s.shape), s.dtype), shapes)

    def go_on(loop: tuple) -> jax.Array:
        return (loop[0] < count) & loop[3]

    def body(loop: tuple) -> tuple:
        index, state, rows, _ = loop
        state, metrics = step(state, at(index), hyper)
        rows = jax.tree.map(lambda r, m: r.at[index].set(m), rows, metrics)
        return index + 1, state, rows, metrics["finite"]

    start = (jnp.int32(0), state, rows, jnp.bool_(True))
    _, state, rows, _ = jax.lax.while_loop(go_on, body, start)
    return state, rows
