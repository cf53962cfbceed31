"""What the library asks of its arguments, in one place, so that the topic modules hold only the topic."""

import operator

import numpy as np


def floats(**arrays):
    """Return the dtype a result has, and the arrays in the dtype to compute it in.

    Integers and bools count as float64.
    float16 is computed in float32: its largest number, 65504, is soon passed by a dot product.

    Raises
    ------
    TypeError
        If an array does not hold real numbers.
    ValueError
        If an argument is not rectangular.
    """
    arrays = {name: as_array(name, array) for name, array in arrays.items()}
    for name, array in arrays.items():
        if array.dtype.kind not in "fiub":
            raise TypeError(f"{name} must hold real numbers, got dtype {array.dtype}")
    dtype = np.result_type(*(a if a.dtype.kind == "f" else np.float64 for a in arrays.values()))
    working = np.float32 if dtype == np.float16 else dtype
    with np.errstate(over="ignore"):  # an integer beyond the float's range becomes inf
        return dtype, [array.astype(working, copy=False) for array in arrays.values()]


def as_array(name, array):
    """Return ``np.asarray(array)``; a ragged list is a `ValueError` that names the argument."""
    try:
        return np.asarray(array)
    except ValueError as error:
        raise ValueError(f"{name} must be a rectangular array: {error}") from error


def cast(array, dtype):
    """Return the array in `dtype`; what is too large for float16 becomes inf without a warning."""
    with np.errstate(over="ignore"):
        return array.astype(dtype, copy=False)


def check_matrix(name, array, shape):
    """Refuse an array with fewer than two axes; `shape` says what the axes mean."""
    if array.ndim < 2:
        raise ValueError(f"{name} must have shape {shape}, got shape {array.shape}")


def check_leading(**arrays):
    """Refuse arrays whose leading axes, all but the last two, do not broadcast together."""
    try:
        np.broadcast_shapes(*(a.shape[:-2] for a in arrays.values()))
    except ValueError:
        raise ValueError(f"leading axes do not broadcast ({shapes(**arrays)})") from None


def shapes(**arrays):
    """Return ``"Q: (5, 4), K: (6, 3)"``, the shapes as error messages show them."""
    return ", ".join(f"{name}: {array.shape}" for name, array in arrays.items())


def real_number(name, value):
    """Return `value` as a Python float, which never widens a float32 array as a NumPy scalar would."""
    if isinstance(value, (bool, np.bool_, str, bytes)) or np.ndim(value) != 0:
        raise TypeError(f"{name} must be one real number, got {value!r}")
    try:
        value = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be one real number, got {value!r}") from None
    if not np.isfinite(value):
        raise ValueError(f"{name} must be finite, got {value}")
    return value


def count(name, value):
    """Return `value` as a Python int of at least 0."""
    if isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be an integer, got {value!r}")
    try:
        value = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, got {value!r}") from None
    if value < 0:
        raise ValueError(f"{name} must be 0 or more, got {value}")
    return value


def counts(name, values):
    """Return `values` as an integer array with no entry below 0."""
    values = as_array(name, values)
    if values.size == 0:
        values = values.astype(int)  # an empty list has no dtype of its own
    if values.dtype.kind not in "iu":
        raise TypeError(f"{name} must hold integers, got dtype {values.dtype}")
    if (values < 0).any():
        raise ValueError(f"{name} must be 0 or more, got {values.min()}")
    return values


def as_mask(mask, shape):
    """Return a boolean mask that broadcasts to `shape` ``(..., N, M)``, or say what to pass instead."""
    mask = as_array("mask", mask)
    if mask.dtype.kind in "iu":
        raise TypeError(
            f"mask must be boolean (True = may attend), got dtype {mask.dtype}: "
            "pass mask=array.astype(bool) if 1 means may attend, or bias=array.astype(float) to add it to the scores"
        )
    if mask.dtype.kind != "b":
        raise TypeError(
            f"mask must be boolean (True = may attend), got dtype {mask.dtype}: pass an additive mask as bias"
        )
    check_against_scores("mask", mask, shape)
    return mask


def as_bias(bias, shape, dtype):
    """Return a floating bias in `dtype` that broadcasts to `shape` ``(..., N, M)``, or say what to pass instead."""
    bias = as_array("bias", bias)
    if bias.dtype.kind == "b":
        raise TypeError("bias must be floating, got dtype bool: pass a boolean mask as mask (True = may attend)")
    if bias.dtype.kind != "f":
        raise TypeError(
            f"bias must be floating, got dtype {bias.dtype}: "
            "pass bias=array.astype(float) to add it to the scores, or mask=array.astype(bool) if 1 means may attend"
        )
    check_against_scores("bias", bias, shape)
    return cast(bias, dtype)


def check_against_scores(name, array, shape):
    """Refuse an array that does not broadcast with the scores, or that would stretch N or M."""
    try:
        fits = np.broadcast_shapes(array.shape, shape)[-2:] == shape[-2:]
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(f"{name} must broadcast to the scores' shape {shape}, got shape {array.shape}")
