"""What does not come back from JAX as the text that it was, and why: the one list of it, for tests and for
docs/guides/to-jax.md.

A reason applies to a kernel by what stands in it (`when`); only where that cannot be said does it name cases. Every
kernel that a reason applies to must fail in the way it says, and every other must come back.
"""

import dataclasses
from collections.abc import Callable

from palladion.jax.jax_source import reading
from round_trip import case_files


@dataclasses.dataclass(frozen=True)
class Reason:
    """`said` is a part of the error, "" where there is none and the text that comes back is another one. With
    `may_come_back` it is not said of each of them that it fails."""

    why: str
    said: str = ""
    when: Callable = lambda kernel: False
    cases: frozenset = frozenset()
    finding: str = ""  # what the case expects
    may_come_back: bool = False


def _instructions(kernel):
    for region in reading.all_regions(kernel):
        yield from reading.instructions(region)


def _has(*names):
    return lambda kernel: any(instr["name"] in names for instr in _instructions(kernel))


def _argument(name, test):
    return lambda kernel: any(
        instr["name"] == name and any(test(arg) for arg in instr["args"]) for instr in _instructions(kernel)
    )


def _atoms(arg):
    yield arg
    for transform in arg.get("view", ()):
        for index in transform["indices"]:
            yield from (index[part] for part in ("start", "size") if part in index)


def _has_constant(kernel) -> bool:
    return not kernel["mesh"] and any(
        atom["kind"] == "dense" for instr in _instructions(kernel) for arg in instr["args"] for atom in _atoms(arg)
    )


def _semaphore_operand(kernel) -> bool:
    return any(operand["type"]["kind"] == "ref" and operand["role"] in ("in", "out") for operand in kernel["operands"])


def _named(*names) -> frozenset:
    return frozenset(names)


REASONS = (
    Reason(
        "wrong on purpose: a chip or its compiler refuses it, and JAX may refuse to make it",
        finding="ILLEGAL",
        may_come_back=True,
    ),
    Reason(
        "several devices run it together, which needs `jax.shard_map` around the call",
        "several devices",
        lambda k: "devices" in k["other"],
    ),
    Reason("`pl.pallas_call` takes no array constants", "an array constant", _has_constant),
    Reason("semaphores as operands of the call", "", _semaphore_operand),
    Reason(
        "JAX's operation takes a whole ref of one element",
        "not views",
        _argument("atomic_cas", lambda arg: arg.get("view")),
    ),
    Reason("`ring.*` operations are Palladion's own", "JAX has no such operation", _has("ring.hash")),
    Reason(
        "no JAX that is installed here makes it; older or newer ones do",
        "",
        _has("tpu.repeat", "log2", "stage", "reshard", "mma"),
    ),
    Reason(
        "JAX 0.10 multiplies no mixed floats of 8 bits; newer ones do",
        "Mixed input dtypes",
        cases=_named("gpu/wgmma_mixed_8_bit_jax_0_11"),
    ),
    Reason(
        "wrong on purpose: half a byte seen in memory that is not packed, which comes back as a TPU's packed view",
        "",
        cases=_named("ref/bitcast_nibbles"),
    ),
    Reason("JAX's checks are values outside of kernels", "JAX has no such operation", _has("check")),
    Reason(
        "JAX 0.10 copies without predicate and with a barrier",
        "predicate",
        _argument("copy_gmem_to_smem", lambda arg: arg.get("arg") == "predicate"),
    ),
    Reason(
        "JAX 0.10 says no axes of `try_cluster_cancel`, which all threads of a block do together",
        "'collective_axes'",
        lambda k: any(
            instr["name"] == "try_cluster_cancel" and "collective_axes" in reading.attributes(instr["attrs"])
            for instr in _instructions(k)
        ),
    ),
    Reason("JAX's function says no memory space", "is not written", _has("empty_ref")),
    Reason(
        "deliberately wrong: JAX refuses an index outside, a wrong shape, branches that differ, an axis that is none",
        "",
        cases=_named(
            "ref/masked_swap_longer",
            "ref/masked_swap_outside",
            "ref/oob_constant_slice",
            "tpu/oob_constant_slice",
            "ref/get_empty_slice",
            "ref/swap_wrong_shape",
            "control/cond_branch_types",
            "program/program_id_axis",
            "tpu/semaphore_nothing_signalled",
            "ref/view_bitcast",
        ),
    ),
    Reason(
        "`lax.scan` and `lax.while_loop` leave out carries and elements that they only pass on",
        "",
        cases=_named(
            "control/cond_index",
            "control/scan_carry_from_memory",
            "control/scan_length_zero",
            "control/scan_two_xs",
            "control/while_rotated_carries",
        ),
    ),
    Reason(
        "JAX leaves out an unused scope, frozen ref or copy of a ref, which is what the case is about",
        "",
        cases=_named(
            "checks/066_scope_escape_clean",
            "checks/066_scope_escape_racy",
            "control/cond_oob_not_taken",
            "findings/use_after_scope_wrong",
            "ref/run_scoped_value_outlives",
        ),
    ),
    Reason(
        "JAX's `abs` takes no integers of 4 bits", "abs does not accept dtype int4", cases=_named("families/abs_i4")
    ),
    Reason(
        "deliberately wrong: an operation on two types",
        "requires arguments to have the same dtypes",
        cases=_named("elementwise/add_two_types"),
    ),
    Reason("a number of an index is i32 in JAX", "", cases=_named("grid/block_far")),
    Reason(
        "a memory space that `jax.new_ref` and `pl.run_state` do not give inside a kernel",
        "",
        cases=_named("ref/new_ref", "ref/run_state"),
    ),
    Reason(
        "a grid of Mosaic GPU comes back as the named axes of a mesh",
        "",
        cases=_named(
            "checks/063_uninit_block_scratch_clean",
            "checks/063_uninit_block_scratch_racy",
            "gpu/own_read_of_equals",
            "gpu/own_read_of_others",
        ),
    ),
    Reason(
        "a parameter that says what JAX does anyway",
        "",
        cases=_named("checks/069_lanes_global_copy_clean", "checks/069_lanes_threads_clean"),
    ),
    Reason("the layout is not one of JAX's", "cannot be read back", cases=_named("elementwise/layout_cast")),
)


def _expects(case: str, kind: str) -> bool:
    """False for a kernel that JAX ships, which is no case."""
    return f"\n# finding: {kind} " in case_files.all_texts().get(case, "")


def _applies(reason: Reason, case: str, kernel: dict) -> bool:
    if reason.finding:
        return _expects(case, reason.finding)
    return case in reason.cases or reason.when(kernel)


def reason_for(case: str, kernel: dict) -> Reason | None:
    """The first that applies to the kernel of `family/name`."""
    return next((reason for reason in REASONS if _applies(reason, case, kernel)), None)
