"""Fails on any #include that the architecture does not allow (docs/develop/architecture.md; the table is in
tools/includes.py).

Standard library only, so it runs without .venv: python3 conformance/include_arrows_test.py
"""

import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "tools"))
import includes  # noqa: E402

ALLOWED_EXAMPLES = [
    ("semantics/ops/matrix/dot.cc", '#include "semantics/simd/dot.h"'),
    ("semantics/simd/dot.cc", '#include "hwy/highway.h"'),
    ("memory_model/order/clock.cc", '#include "semantics/port/machine.h"'),
    ("scheduler/agent.cc", "#include <boost/coroutine2/all.hpp>"),
    ("memory_model/concurrency_model.cc", '#include "memory_model/sync/barrier.h"'),
    ("emu/run/launch/launch.cc", '#include "scheduler/run_loop.h"'),
    ("conformance/runner_test.cc", '#include "emu/emulate.h"'),
    ("bench/dot_bench.cc", '#include "Eigen/Dense"'),
    ("semantics/simd/exp_test.cc", "#include <mpfr.h>"),
    ("semantics/simd/exp_test.cc", '#include "semantics/simd/math_mpfr.h"'),
]

FORBIDDEN_EXAMPLES = [
    ("semantics/base/dtype.cc", '#include "semantics/tensor/tensor.h"'),
    ("semantics/tensor/tensor.cc", '#include "semantics/ir/module.h"'),
    ("semantics/ops/matrix/dot.cc", '#include "memory_model/buffer.h"'),
    ("semantics/ops/matrix/dot.cc", "#include <Eigen/Dense>"),
    ("semantics/ops/matrix/dot.cc", '#include "hwy/highway.h"'),
    ("semantics/ops/exp.cc", "#include <mpfr.h>"),
    ("semantics/simd/exp.cc", '#include "semantics/simd/math_mpfr.h"'),
    ("memory_model/buffer.cc", '#include "semantics/ops/registry.h"'),
    ("memory_model/buffer.cc", '#include "scheduler/policy.h"'),
    ("scheduler/policy.cc", '#  include "semantics/ir/module.h"'),
    ("emu/run/launch/launch.cc", "#include <boost/coroutine2/all.hpp>"),
    ("emu/run/launch/launch.cc", '#include "conformance/case.h"'),
    ("conformance/runner_test.cc", '#include "emu/run/launch/launch.h"'),
    ("conformance/runner_test.cc", '#include "semantics/ops/registry.h"'),
    ("bench/dot_bench.cc", '#include "semantics/ops/dot.h"'),
    ("semantics/ops/matrix/dot.cc", '#include "dot.h"'),
    ("semantics/ops/matrix/dot.cc", "#include <format>"),
    ("other/file.cc", '#include "emu/emulate.h"'),
]


def complaint(source: str, line: str) -> str | None:
    (include,) = includes.includes_of(source, line + "\n")
    return includes.complaint(include)


class IncludeArrows(unittest.TestCase):
    def test_the_rule_allows_what_the_design_allows(self):
        for source, line in ALLOWED_EXAMPLES:
            self.assertIsNone(complaint(source, line), f"{source}: {line}")

    def test_the_rule_forbids_what_the_design_forbids(self):
        for source, line in FORBIDDEN_EXAMPLES:
            self.assertIsNotNone(complaint(source, line), f"{source}: {line}")

    def test_no_part_reaches_itself(self):
        self.assertIsNone(includes.circle())

    def test_every_include_of_the_tree(self):
        found = includes.all_includes()
        self.assertGreater(len(found), 10, "no includes were read: the test looks in the wrong place")
        wrong = [(i, includes.complaint(i)) for i in found]
        self.assertEqual([], [f"{i.source}:{i.line}: {i.target}: {why}" for i, why in wrong if why])

    def test_quoted_includes_of_the_tree_exist(self):
        # Of a text that palladion_embed makes a header of (page/a.html: page/a_html.h), the text itself.
        def exists(target):
            embedded = target.removesuffix(".h").rpartition("_")
            return any(os.path.exists(os.path.join(includes.ROOT, p)) for p in (target, f"{embedded[0]}.{embedded[2]}"))

        missing = [
            f"{i.source}:{i.line}: {i.target}"
            for i in includes.all_includes()
            if i.quoted and includes.part_of(i.target) and not exists(i.target)
        ]
        self.assertEqual([], missing)


if __name__ == "__main__":
    unittest.main()
