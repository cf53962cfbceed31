"""What the library asks of its arguments, in one place, so that the topic modules hold only the topic."""

import operator

import numpy as np

# A decorator. Overflow to inf and inf - inf = NaN follow the usual rules without a warning:
# where they happen may be masked out, and then they are no concern of the caller's.
quiet = np.errstate(all="ignore")


def floats(**arrays):
    """Return the dtype a result has, and the arrays in the dtype to compute it in.

    Integers and bools count as float64.
    float16 is computed in float32: its largest number, 65504, is soon passed by a dot product.
    """
    arrays = {name: as_array(name, array) for name, array in arrays.items()}
    for name, array in arrays.items():
        if array.dtype.kind not in "fiub":  # floating, signed or unsigned integer, bool
            raise TypeError(f"{name} must hold real numbers, got dtype {array.dtype}")
    dtype = np.result_type(*(a if a.dtype.kind == "f" else np.float64 for a in arrays.values()))
    working = np.float32 if dtype == np.float16 else dtype
    return dtype, [array.astype(working, copy=False) for array in arrays.values()]


def as_array(name, array):
    """Return ``np.asarray(array)``, or an error that names the argument."""
    if isinstance(array, np.ma.MaskedArray):  # asarray would bring back what it hides
        raise TypeError(f"{name} must not be a masked array: pass its data, and what it hides as mask")
    try:
        return np.asarray(array)
    except ValueError as error:
        raise ValueError(f"{name} must be a rectangular array: {error}") from error


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


def real_number(name, value, dtype):
    """Return `value` as a Python float, which never widens an array of `dtype` as a NumPy scalar would."""
    number = as_array(name, value)
    if number.ndim > 0 or number.dtype.kind not in "fiu":
        raise TypeError(f"{name} must be one real number, got {value!r}")
    number = float(number)
    if not np.isfinite(np.asarray(number).astype(dtype)):
        raise ValueError(f"{name} must be finite in {dtype}, got {number}")
    return number


def count(name, value):
    """Return `value` as a Python int of at least 0."""
    value = integer(name, value)
    if value < 0:
        raise ValueError(f"{name} must be 0 or more, got {value}")
    return value


def integer(name, value):
    """Return `value` as a Python int. True counts as 1 to Python; here it is a slip of the pen."""
    try:
        if isinstance(value, (bool, np.bool_)):  # older NumPy takes its own True for 1 too
            raise TypeError
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, got {value!r}") from None


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
    """Return a boolean array that broadcasts to the scores' `shape`, or say what to pass instead."""
    return _for_scores("mask", mask, shape, kind="b", meaning="boolean (True = may attend)")


def as_bias(bias, shape):
    """Return a floating array that broadcasts to the scores' `shape`, or say what to pass instead."""
    return _for_scores("bias", bias, shape, kind="f", meaning="floating (added to the scores)")


# What to pass instead, by the kind of array that was passed.
_INSTEAD = {
    "b": ": pass a boolean mask as mask",
    "f": ": pass an additive mask as bias",
    "i": ": pass mask=array.astype(bool) if 1 means may attend, or bias=array.astype(float) to add it to the scores",
}
_INSTEAD["u"] = _INSTEAD["i"]


def _for_scores(name, array, shape, *, kind, meaning):
    array = as_array(name, array)
    if array.dtype.kind != kind:
        raise TypeError(f"{name} must be {meaning}, got dtype {array.dtype}{_INSTEAD.get(array.dtype.kind, '')}")
    try:  # it may add leading axes, but not queries or keys
        fits = np.broadcast_shapes(array.shape, shape)[-2:] == shape[-2:]
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(f"{name} must broadcast to the scores' shape {shape}, got shape {array.shape}")
    return array
