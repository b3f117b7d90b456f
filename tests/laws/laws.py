"""The laws: each takes a system and raises AssertionError where it is broken."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np

from laws.system import CHUNK, ROWS, TIME, WIDTH, System, example

TOLERANCE = {"rtol": 0, "atol": 2e-5}
RAGGED = ((9, 5, 2, 1), (0, 2, 7, 4))  # lengths and offsets: padding on either side


def chunks_equal_whole(system: System) -> None:
    """Any split into chunks, with any padding inside them, gives what the whole gives."""
    data = two_segments(example(3))
    expected, _ = system.whole(system.params, data)
    for sizes in ([4, 4, 1], [1] * TIME, [1, 3, 0, 2, 3]):
        carry, start, outputs = system.init_carry(ROWS, TIME), 0, []
        for number, size in enumerate(sizes):
            x, mask, segments, columns = chunk_of(data, start, size, number)
            memory = data.memory if number == 0 else None
            y, carry = system.chunk(system.params, x, mask, segments, memory, carry)
            outputs.append(np.asarray(y)[np.arange(ROWS)[:, None], columns])
            start += size
        np.testing.assert_allclose(np.concatenate(outputs, axis=1), expected, **TOLERANCE)
        assert carry.seen.tolist() == [TIME - 4, TIME, TIME - 4, TIME]


def chunk_of(data, start, size, number):
    """`size` tokens from `start`, laid into CHUNK columns at places that differ from row to row."""
    random = np.random.default_rng(number)
    columns = np.stack([np.sort(random.permutation(CHUNK)[:size]) for _ in range(ROWS)])
    columns = columns.reshape(ROWS, size).astype(int)
    rows = np.arange(ROWS)[:, None]
    x = random.normal(size=(ROWS, CHUNK, WIDTH)).astype(np.float32)
    x[rows, columns] = data.x[:, start : start + size]
    mask = np.zeros((ROWS, CHUNK), bool)
    mask[rows, columns] = True
    segments = np.full((ROWS, CHUNK), 7, np.int32)
    segments[rows, columns] = data.segments[:, start : start + size]
    return jnp.asarray(x), jnp.asarray(mask), jnp.asarray(segments), columns


def two_segments(data):
    """Rows 0 and 2 hold two packed sequences, of 4 and 5 tokens."""
    packed = np.zeros((ROWS, TIME), np.int32)
    packed[::2, 4:] = 1
    source = np.zeros(data.memory.view.segments.shape, np.int32)
    source[::2, 2:] = 1
    view = dataclasses.replace(data.memory.view, segments=jnp.asarray(source))
    memory = dataclasses.replace(data.memory, view=view)
    return dataclasses.replace(data, segments=jnp.asarray(packed), memory=memory)


def carry_has_batch_first(system: System) -> None:
    """Reordering the rows of a carry by one tree_map reorders what the model goes on to say."""
    data = example(4)
    x, mask, segments, _ = chunk_of(data, 0, 3, 0)
    _, carry = system.chunk(
        system.params, x, mask, segments, data.memory, system.init_carry(ROWS, TIME)
    )
    assert all(leaf.shape[0] == ROWS for leaf in jax.tree.leaves(carry))
    order = np.array([2, 0, 3, 1])
    x, mask, segments, _ = chunk_of(data, 3, 4, 1)
    straight, _ = system.chunk(system.params, x, mask, segments, None, carry)
    moved, _ = system.chunk(
        system.params,
        x[order],
        mask[order],
        segments[order],
        None,
        jax.tree.map(lambda leaf: leaf[order], carry),
    )
    np.testing.assert_allclose(moved, straight[order], **TOLERANCE)


def causal(system: System) -> None:
    """The gradient of the output at t to the input after t is exactly 0, and not 0 to that at t."""
    data = example(5)
    random = np.random.default_rng(6)
    # Weighted channels: the plain sum over a normalised vector has no gradient at all.
    channels = jnp.asarray(random.normal(size=WIDTH).astype(np.float32))
    reach = []
    for t in range(TIME):
        cotangent = jnp.zeros((ROWS, TIME, WIDTH)).at[:, t].set(channels)
        _, gradient, _ = system.pulled(system.params, data, cotangent)
        reach.append(np.abs(gradient).max(axis=(0, 2)))
    reach = np.stack(reach)  # [output, input]
    assert np.all(np.triu(reach, 1) == 0.0), "an output depends on a later input"
    assert np.all(np.diag(reach) > 0.0), "an output does not depend on its own input"


def mixes(system: System) -> None:
    """The output depends on other tokens (a mixer that mixes nothing breaks no other law)."""
    data, other = example(5), example(5)
    if system.template.cross:
        memory = dataclasses.replace(data.memory, x=-data.memory.x, summary=-data.memory.summary)
        other = dataclasses.replace(other, memory=memory)
    else:
        # Both ends: a recurrence may come from either.
        other = dataclasses.replace(other, x=other.x.at[:, (0, -1)].multiply(-1.0))
    change = system.whole(system.params, other)[0] - system.whole(system.params, data)[0]
    assert np.abs(change[:, TIME // 2]).max() > 1e-4


def padding_changes_nothing(system: System) -> None:
    """Rows padded left and right with noise equal the same rows packed to the left."""
    data = example(7, *RAGGED)
    lengths, offsets = RAGGED
    packed = example(8, lengths)
    x = np.array(packed.x)
    for row, (length, offset) in enumerate(zip(lengths, offsets, strict=True)):
        x[row, :length] = data.x[row, offset : offset + length]
    packed = dataclasses.replace(packed, x=jnp.asarray(x), memory=noisy_padding(data.memory))
    y, _ = system.whole(system.params, data)
    z, _ = system.whole(system.params, packed)
    for row, (length, offset) in enumerate(zip(lengths, offsets, strict=True)):
        np.testing.assert_allclose(y[row, offset : offset + length], z[row, :length], **TOLERANCE)


def noisy_padding(memory):
    """The memory with other values where its mask is off."""
    noise = np.random.default_rng(9).normal(size=memory.x.shape).astype(np.float32) * 100
    return dataclasses.replace(
        memory, x=jnp.where(memory.view.mask[..., None], memory.x, jnp.asarray(noise))
    )


def empty_rows_are_harmless(system: System) -> None:
    """A row without any real token, or without any source: finite outputs and gradients, which for
    the others are as without it; attention's weighted sum is exactly 0 there."""
    lengths = (TIME, 0, 4, TIME)
    data = example(10, lengths)
    mask = data.memory.view.mask.at[3].set(False)
    memory = dataclasses.replace(data.memory, view=dataclasses.replace(data.memory.view, mask=mask))
    data = dataclasses.replace(data, memory=memory)
    y, sown = system.whole(system.params, data)
    assert np.isfinite(y).all()
    heads = [
        leaf for path, leaf in jax.tree_util.tree_leaves_with_path(sown) if "heads" in str(path)
    ]
    for leaf in heads:  # [layers, B, T, H, K]
        empty = leaf[:, 3] if system.template.cross else leaf[:, 1]
        assert np.all(np.asarray(empty) == 0.0)
    cotangent = jnp.ones((ROWS, TIME, WIDTH)) * jnp.linspace(-1, 1, WIDTH)[None, None]
    real = cotangent * data.mask[..., None].astype(jnp.float32)
    gradients = system.pulled(system.params, data, real)
    floats = [g for g in jax.tree.leaves(gradients) if g.dtype == jnp.float32]
    assert all(np.isfinite(leaf).all() for leaf in floats)
    other = dataclasses.replace(data, x=data.x.at[1].set(50.0))
    again = system.pulled(system.params, other, real)
    for a, b in zip(jax.tree.leaves(gradients[0]), jax.tree.leaves(again[0]), strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-6)


def segments_do_not_see_each_other(system: System) -> None:
    """A packed sequence gives what it gives alone: states reset and positions restart."""
    data = two_segments(example(11))
    y, _ = system.whole(system.params, data)
    x = np.zeros((ROWS, TIME, WIDTH), np.float32)
    x[:, :5] = data.x[:, 4:]  # the second sequence of rows 0 and 2, alone
    mask = jnp.asarray(np.tile(np.arange(TIME) < 5, (ROWS, 1)))
    view = data.memory.view
    second = dataclasses.replace(view, mask=view.mask & (view.segments == 1))
    memory = dataclasses.replace(
        data.memory, view=dataclasses.replace(second, segments=jnp.zeros_like(view.segments))
    )
    alone = dataclasses.replace(
        data, x=jnp.asarray(x), mask=mask, segments=jnp.zeros_like(data.segments), memory=memory
    )
    z, _ = system.whole(system.params, alone)
    np.testing.assert_allclose(y[::2, 4:], z[::2, :5], **TOLERANCE)


def dtype_is_kept(system: System) -> None:
    """bfloat16 in, bfloat16 out; parameters stay float32 and answers are near."""
    data = example(12)
    half = jnp.bfloat16
    low = {"x": data.memory.x.astype(half), "summary": data.memory.summary.astype(half)}
    memory = dataclasses.replace(data.memory, **low)
    low = dataclasses.replace(data, x=data.x.astype(half), memory=memory)
    y, _ = system.whole(system.params, low)
    expected, _ = system.whole(system.params, data)
    assert y.dtype == half and expected.dtype == jnp.float32
    assert all(leaf.dtype == jnp.float32 for leaf in jax.tree.leaves(system.params))
    scale = float(np.abs(expected).max())
    assert np.abs(np.asarray(y, np.float32) - expected).max() < 0.1 * scale


def compiled_equals_eager(system: System) -> None:
    """jit changes nothing."""
    data = example(13, *RAGGED)
    y, _ = system.probe.apply(
        {"params": system.params}, data.x, data.mask, data.segments, data.memory
    )
    z, _ = system.whole(system.params, data)
    mask = np.asarray(data.mask)
    np.testing.assert_allclose(y[mask], z[mask], **TOLERANCE)


def full_cache_is_nan(system: System) -> None:
    """One token more than the carry has room for: NaN for that row, in a compiled program."""
    data = example(14)
    carry = system.init_carry(ROWS, CHUNK - 1)
    x, mask, segments, _ = chunk_of(data, 0, CHUNK, 0)
    mask = mask.at[1:, -1].set(False)  # the other rows fit
    y, _ = system.chunk(system.params, x, mask, segments, data.memory, carry)
    fits = any(leaf.ndim > 1 and leaf.shape[1] == CHUNK - 1 for leaf in jax.tree.leaves(carry))
    assert np.isnan(y[0]).all() == fits, "a full cache passed unnoticed"
    assert np.isfinite(y[1:]).all()


SAME_FOR_ALL = (
    mixes,
    padding_changes_nothing,
    empty_rows_are_harmless,
    segments_do_not_see_each_other,
    dtype_is_kept,
    compiled_equals_eager,
)
OF_CARRIES = (causal, chunks_equal_whole, carry_has_batch_first, full_cache_is_nan)
