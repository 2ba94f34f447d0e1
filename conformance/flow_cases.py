"""Cases of definedness: for each flow of docs/spec/definedness.md what it leaves defined, and what it makes undefined.

A masked load without `other` leaves one element undefined. Of each operation one case stores results that the rule
calls defined, with NumPy's numbers, and another stores one that it does not: UNINIT, with the load and the store. Does
not catch: a rule that says too much of other elements.
"""

import dataclasses

import numpy as np
from family_writer import FamilyCase, type_of

UNDEFINED = 2  # the element of four, or [1, 0] of two by two


@dataclasses.dataclass(frozen=True)
class Flow:
    """`text`: instructions from %uv to %r. `kept` and `lost`: indices of the results that are defined,
    and that are not.
    """

    operation: str
    u: np.ndarray
    text: str
    result: np.ndarray
    kept: tuple
    lost: tuple
    others: dict = dataclasses.field(default_factory=dict)


ROW, SQUARE = np.arange(1, 5, dtype=np.float32), np.arange(1, 5, dtype=np.float32).reshape(2, 2)
WHOLE = np.arange(1, 5, dtype=np.int32)
BITS = np.array([7, 7, 0, 7], np.int32)
CHOICE = np.array([True, False, False, True])
PLACES = np.array([[3], [0], [1], [2]], np.int32)
SCATTER = (
    "{update_window_dims=[], inserted_window_dims=[0], operand_batching_dims=[], scatter_indices_batching_dims=[], "
    "scatter_dims_to_operand_dims=[0], mode=promise}"
)
SLOTS = np.array([10, 20, 30, 40], np.float32)


def placed():
    out = SLOTS.copy()
    out[PLACES[:, 0]] = ROW
    return out


FLOWS = {
    "elementwise": Flow("neg", ROW, "%r = neg(%uv)", -ROW, np.s_[0:2], np.s_[2:3]),
    "convert": Flow(
        "convert_element_type", ROW, "%r = convert_element_type{to=i32}(%uv)", WHOLE, np.s_[0:2], np.s_[2:3]
    ),
    "mask": Flow("and", WHOLE, "%r = and(%uv, %bv)", WHOLE & BITS, np.s_[0:3], None, {"b": BITS}),
    "mask_open": Flow("and", WHOLE, "%r = and(%uv, %bv)", WHOLE & 7, None, np.s_[2:3], {"b": np.full(4, 7, np.int32)}),
    "select": Flow(
        "select_n",
        ROW,
        "%r = select_n(%cv, %dv, %uv)",
        np.where(CHOICE, ROW, SLOTS),
        np.s_[0:3],
        None,
        {"c": CHOICE, "d": SLOTS},
    ),
    "select_chosen": Flow(
        "select_n", ROW, "%r = select_n(%cv, %dv, %uv)", ROW, None, np.s_[2:3], {"c": np.full(4, True), "d": SLOTS}
    ),
    "move": Flow("rev", ROW, "%r = rev{dims=[0]}(%uv)", ROW[::-1], np.s_[2:4], np.s_[1:2]),
    "parts": Flow(
        "bitcast_convert_type",
        WHOLE,
        "%r = bitcast_convert_type{to=i16}(%uv)",
        WHOLE.view(np.int16).reshape(4, 2),
        np.s_[0:2, 0:2],
        np.s_[2:3, 1:2],
    ),
    "place": Flow(
        "scatter",
        ROW,
        f"%r = scatter{SCATTER}(%dv, %pv, %uv)",
        placed(),
        np.s_[2:4],
        np.s_[1:2],
        {"d": SLOTS, "p": PLACES},
    ),
    "combine": Flow(
        "scatter_add",
        ROW,
        f"%r = scatter_add{SCATTER}(%dv, %pv, %uv)",
        placed() + SLOTS,
        np.s_[2:4],
        np.s_[1:2],
        {"d": SLOTS, "p": PLACES},
    ),
    "reduce": Flow("reduce_sum", SQUARE, "%r = reduce_sum{axes=[1]}(%uv)", SQUARE.sum(1), np.s_[0:1], np.s_[1:2]),
    "prefix": Flow("cumsum", ROW, "%r = cumsum{axis=0, reverse=false}(%uv)", ROW.cumsum(), np.s_[0:2], np.s_[3:4]),
    "sort": Flow(
        "sort", SQUARE, "%r = sort{dim=1, stable=true, num_keys=1}(%uv)", SQUARE, np.s_[0:1, 0:2], np.s_[1:2, 1:2]
    ),
    "all": Flow(
        "ring.hash",
        WHOLE.astype(np.uint64),
        '%r = ring.hash{op=".exp", over="element"}(%uv)',
        np.zeros(4, np.uint64),
        None,
        np.s_[0:1],
    ),
    "dot": Flow(
        "dot_general",
        SQUARE,
        "%r = dot_general{contract=[[1],[0]], batch=[[],[]], precision=none, preferred=f32}(%uv, %dv)",
        SQUARE @ SLOTS.reshape(2, 2),
        np.s_[0:1, 0:2],
        np.s_[1:2, 1:2],
        {"d": SLOTS.reshape(2, 2)},
    ),
}


def bounds(index):
    at = index if isinstance(index, tuple) else (index,)
    numbers = lambda name: ",".join(str(getattr(part, name)) for part in at)
    return f"start=[{numbers('start')}], limit=[{numbers('stop')}], strides=[{','.join('1' for _ in at)}]"


def case(name, flow, index, lost):
    mask = np.ones(4, bool)
    mask[UNDEFINED] = False
    mask = mask.reshape(flow.u.shape)
    part = flow.result[index]
    mark = "  //~ UNINIT@a" * lost
    body = (
        f"%mv = get(%mr) : {type_of(mask)};",
        *(f"%{n}v = get(%{n}r) : {type_of(a)};" for n, a in flow.others.items()),
        f"%uv = masked_load(%ur, mask=%mv) : {type_of(flow.u)};{mark}",
        f"{flow.text} : {type_of(flow.result)};",
        f"%s = slice{{{bounds(index)}}}(%r) : {type_of(part)};",
        f"_ = swap(%or, %s) : {type_of(part)};{mark}",
    )
    rule = name.split("_")[0]
    sentence = (
        f"Of {flow.operation} what the undefined element reaches is undefined."
        if lost
        else (f"Of {flow.operation} what the undefined element does not reach is defined. Oracle: NumPy.")
    )
    return FamilyCase(
        f"flow_{name}_{'lost' if lost else 'kept'}",
        f"definedness.md#flow.{rule}",
        sentence,
        {"u": flow.u, "m": mask, **flow.others},
        part,
        body,
        headers=("exit: 1", "schedules: 1") if lost else ("schedules: 1",),
        given=not lost,
    )


def flows():
    for name, flow in FLOWS.items():
        for index, lost in ((flow.kept, False), (flow.lost, True)):
            if index is not None:
                yield case(name, flow, index, lost)


FAMILIES = (flows,)
