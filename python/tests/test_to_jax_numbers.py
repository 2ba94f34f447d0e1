"""Cases with expected numbers, run by JAX's own interpreters on the CPU from what `to_jax` makes of them: the same
numbers, or a reason.

The oracles of the cases are MPFR, NumPy and ml_dtypes; here JAX is held to them, and the text to JAX. Kernels of the
GPU corpus that copy go to JAX's interpreter for Mosaic GPU. Not run: what it does not have (clusters' barriers,
semaphores, warps, members of unions).
"""

import jax
import numpy as np
import pytest

import palladion
import round_trip
import to_jax_page
from case_numbers import Unread, expected_of, inputs_of, ulps_apart
from not_the_same_in_jax import reason_for
from palladion.jax.jax_source import reading

COPIES = ("008", "009", "010", "012", "013", "014", "015")  # families of the GPU corpus
FAMILIES = ("dot", "elementwise", "random", "reduce", "shape")
OF_THIS_JAX = jax.__version_info__[:2] == (0, 10)

_SUBNORMAL = "XLA's code for the CPU takes and makes zeros for subnormal numbers"
_ACCURACY = "XLA's function is a few units away from the nearest number"
_BACKEND = "the case is about another backend than the CPU: its conversions, NaNs or approximations"
_ORDER = "XLA adds in another order, or keeps sums in the narrow type"
_NOT_RUN = "JAX's interpreter has no rule for it, or refuses it"
DIFFERS = {
    **dict.fromkeys(("add", "mul", "div", "sqrt", "logistic", "log", "convert_element_type_f32_bool"), _SUBNORMAL),
    **dict.fromkeys(
        ("asinh", "atan", "bessel_i0e", "cosh", "erf", "erf_inv", "erfc", "exp", "exp2", "expm1", "tan"), _ACCURACY
    ),
    **dict.fromkeys(
        (
            "convert_element_type_mosaic_gpu_f8e5m2",
            "convert_element_type_triton_f8e4m3fn",
            "tpu.reciprocal_approx",
            "argmax_triton",
            "reduce_max_triton",
        ),
        _BACKEND,
    ),
    **dict.fromkeys(("reduce_sum_order", "reduce_sum_bf16", "dot_general_f16"), _ORDER),
    **dict.fromkeys(("triton.elementwise_inline_asm", "reduce_max_empty", "gather_fill"), _NOT_RUN),
}
_MOST_ULPS = 4  # of _ACCURACY


def _worst(case, text, interpret=True) -> int:
    """How many units beyond what the case allows the numbers are away."""
    kernel = reading.read_kernel(text)
    expected, given = expected_of(case, kernel), inputs_of(case, kernel)
    with round_trip.wide(kernel):
        found = [np.asarray(out) for out in palladion.to_jax(text, interpret=interpret)(*given)]
    assert [out.shape for out in found] == [out.shape for out, _ in expected]
    return max(ulps_apart(out, right) - allowed for out, (right, allowed) in zip(found, expected))


def _complaint(case, text) -> str:
    why = DIFFERS.get(case.partition("/")[2])
    try:
        worst = _worst(case, text)
    except (NotImplementedError, ZeroDivisionError, ValueError) as error:
        return "" if why == _NOT_RUN else f"{case}: {error}"
    if why in (None, _NOT_RUN):
        return "" if worst <= 0 else f"{case}: {worst} units away"
    return f"{case}: {worst} units away" if why == _ACCURACY and worst > _MOST_ULPS else ""


if OF_THIS_JAX:

    @pytest.mark.parametrize("family", FAMILIES)
    def test_the_numbers_are_those_of_the_case(family):
        wrong, ran = [], 0
        for case, text in to_jax_page.cases():
            if not case.startswith(f"{family}/") or reason_for(case, reading.read_kernel(text)) is not None:
                continue
            try:
                wrong.append(_complaint(case, text))
            except Unread:
                continue
            ran += 1
        assert [one for one in wrong if one] == []
        assert ran >= 5

    def test_copies_in_jaxs_gpu_interpreter():
        from jax._src.pallas.mosaic_gpu.interpret.params import InterpretGPUParams

        wrong, ran = [], 0
        for case, text in to_jax_page.cases():
            family, _, name = case.partition("/")
            if not (family == "gpu_corpus" and name.startswith(COPIES) and name.endswith("_clean")):
                continue
            try:
                worst = _worst(case, text, InterpretGPUParams())
            except Unread:
                continue
            wrong += [f"{case}: {worst} units away"] if worst > 0 else []
            ran += 1
        assert wrong == []
        assert ran >= 15


def test_every_difference_is_of_a_case():
    assert DIFFERS.keys() <= {
        case.partition("/")[2]
        for case, _ in to_jax_page.cases()
        if case.startswith(tuple(f"{family}/" for family in FAMILIES))
    }


def test_numbers_that_are_apart_are_seen():
    one = np.float32([1.0, np.nan, 0.0])
    assert ulps_apart(one, one) == 0
    assert ulps_apart(np.nextafter(one, np.float32(2)), one) == 1
    assert ulps_apart(np.float32([1.0]), np.nextafter(np.float32([1.0]), np.float32(2))) == 1
    assert ulps_apart(np.float32([0.0]), np.float32([-0.0])) == 2**62
    assert ulps_apart(np.int32([1]), np.int32([2])) == 2**62
    assert ulps_apart(np.float32([1.0]), np.float32([np.nan])) == 2**62
