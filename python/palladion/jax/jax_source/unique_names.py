"""Values of a kernel with one name each. In kernel text regions beside each other may use a name again; a
look-up of what a name stands for, or of its uses, needs one meaning in the whole kernel."""


def name_uniquely(kernel: dict):
    """Changes the kernel in place: a name that is defined again gets a number behind a dot,
    which no name of the text has.
    """
    taken = {}
    scope = {operand["name"]: _defined(operand["name"], taken) for operand in kernel["operands"]}
    for operand in kernel["operands"]:
        if operand["block"]:
            _rename(operand["block"]["map"], scope, taken)
    for body in kernel["bodies"]:
        _rename(body["region"], scope, taken)


def _defined(name, taken) -> str:
    taken[name] = taken.get(name, -1) + 1
    return f"{name}.{taken[name]}" if taken[name] else name


def _rename(region, outer, taken):
    scope = dict(outer)
    for param in region["params"] or ():
        scope[param["name"]] = _defined(param["name"], taken)
        param["name"] = scope[param["name"]]
        _rename_operands(param["view"], scope)
    for instr in region["body"]:
        for arg in instr["args"]:
            _rename_operands(arg, scope)
        for inner in instr["regions"]:
            _rename(inner, scope, taken)
        for position, result in enumerate(instr["results"]):
            if result is not None:
                scope[result] = _defined(result, taken)
                instr["results"][position] = scope[result]
    for arg in region["results"]:
        _rename_operands(arg, scope)


def _rename_operands(part, scope):
    """Every operand inside: views have them as indices and peers, selects as their views."""
    if isinstance(part, list):
        for one in part:
            _rename_operands(one, scope)
    elif isinstance(part, dict):
        if part.get("kind") == "value":
            part["value"] = scope[part["value"]]
        for one in part.values():
            _rename_operands(one, scope)
