"""Palladion as a backend of its own suite, through the C ABI: a case that fails here and passes in
`palladion conformance` is a mistake of the protocol. Answers have the codes of findings, no lines or messages."""

import sys

import numpy as np

from palladion import _library
from palladion.backends.protocol import Answer, Question, serve


def run(question: Question) -> Answer:
    program = _library.Program(question.text, None, question.target)
    outputs = {name: np.zeros(one.shape, one.dtype) for name, one in question.outputs.items()}
    inputs, into = list(question.inputs.values()), list(outputs.values())
    if question.schedules is None:
        code, report = program.run(inputs, into, question.budget, legality="off")
    else:
        wanted = {
            "seeds": question.schedules,
            "budget": question.budget,
            "proxy": question.proxy,
            "links": question.links,
        }
        code, report = program.check(
            inputs, into, **{name: value for name, value in wanted.items() if value is not None}
        )
    if report.get("error"):
        raise _library.PalladionError(report["error"]["message"], code, report)
    return Answer(outputs, [one["code"] for one in report["findings"]], printed=report["printed"])


if __name__ == "__main__":
    sys.exit(serve(run))
