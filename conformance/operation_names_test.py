"""Fails where an operation of the registry is known by its name, as a string, outside the registry and the operations.

What others decide by are facts of the row (semantics/registry/op_row.h). The names are those that the rows themselves
give (semantics/ops, the anchor of each row's paragraph). Looked at is every string literal of the C++ sources that is
exactly a name, alone or with its dialect, and every search of an instruction's name for a part of one. Not looked at:
the registry and the operations, tests, generators of kernel text for tests (emu/tools/hunt, emu/testing), and in
emu/check/legality and emu/chip/layouts what a RuleRow or RuleRows looks up, since that is keyed by the row from then
on. What makes instructions, or computes with single operations itself, has them by id (semantics/registry/op_id.h),
which is for the tools that change kernels; other files that may use ids are in ID_USERS. What else may stand is
in ALLOWED, each with its reason; an entry that nothing needs is an error too.

Standard library only, so it runs without .venv: python3 conformance/operation_names_test.py
"""

import os
import re
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PARTS = ("emu", "semantics", "memory_model", "scheduler")
OWN = ("semantics/ops/", "semantics/registry/", "emu/tools/hunt/", "emu/testing/")

# File, words, why they are no operation's name there, or why no row can say it. "*": every word.
ALLOWED = [
    ("emu/chip/layouts/layout_tables.cc", "tile", "a key of the JSON that pictures read"),
    ("emu/front/bridge/bridge_options.cc", "check", "an option of the Python bridge"),
    ("emu/front/command/command.cc", "check log", "commands"),
    ("emu/front/command/command_table.cc", "check log", "commands"),
    ("emu/front/cpp/function_syncs.cc", "barrier", "a word of a message"),
    ("emu/run/launch/awaited_in_text.cc", "barrier", "the name of an operand"),
    ("emu/run/threads/group_waits.cc", "wgmma", "a word of a message"),
    ("emu/check/legality/lanes_of_accesses.cc", "add max min and or xor", "the kind of an atomic update, an attribute"),
    (
        "emu/check/legality/legality.cc",
        "checkpoint closed_call custom_jvp_call custom_vjp_call",
        "which of JAX's calls it was, an attribute",
    ),
    ("emu/check/legality/gpu/access.cc", "add min max", "the kind of an atomic update, an attribute"),
    ("emu/check/legality/gpu/barriers.cc", "barrier", "the name of an operand"),
    ("emu/check/legality/gpu/copies.cc", "add min max", "the reduction of a copy, an attribute"),
    ("emu/check/legality/gpu/devices.cc", "add min max", "the reduction of the switch between devices, an attribute"),
    ("emu/check/legality/gpu/tcgen05.cc", "barrier", "the name of an operand"),
    ("emu/check/legality/gpu/tmem.cc", "barrier", "the name of an operand"),
    ("emu/check/legality/gpu/warps.cc", "barrier", "the name of an operand"),
    ("emu/check/legality/triton/rules.cc", "add", "the kind of an atomic, an attribute"),
    ("emu/check/legality/tpu/access.cc", "add", "does a copy add, an attribute"),
    ("emu/tools/reduce/pass_words.cc", "iota", "a filling of an array"),
    ("emu/front/reports/report_text.cc", "call", "a member of a report"),
    ("emu/front/reports/report_view_json.cc", "call", "a member of a report"),
    ("emu/kernel/values.cc", "iota random_bits", "fillings of arrays, on the command line"),
    ("semantics/port/async.h", "copy", "what an engine's operation is called in messages"),
    ("semantics/ir/view_parser.cc", "bitcast reshape transpose tile", "transforms of views"),
    ("semantics/ir/type.cc", "barrier", "a kind of element"),
    ("semantics/simd/math.h", "*", "names of the vector functions, which operations are made of"),
    ("semantics/simd/math_binary.cc", "*", "names of the vector functions, which operations are made of"),
]

# Parts and files that may use ids of operations, and why.
ID_USERS = [
    ("emu/tools/", "makes instructions, and computes with them"),
    ("emu/run/agents/rounded_copies.cc", "a promise of the kernel about a size, which no row says of itself"),
    ("emu/run/threads/thread_agents.cc", "the only wait that the ends of threads end"),
    ("semantics/prepare/ring_module.cc", "makes an instruction"),
]

# Adjacent literals are one, as the compiler has it.
LITERALS = re.compile(r'"(?:[^"\\\n]|\\.)*"(?:\s*"(?:[^"\\\n]|\\.)*")*')
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
# Whatever looks for a part of an instruction's name: op.name.starts_with("atomic_"), instr->name.find("bitcast").
PART = re.compile(
    r'name\s*(?:\.|->)\s*(?:starts_with|ends_with|find|rfind|compare|contains|substr)\s*\([^;{}]*?"([^"\n]+)"'
)
OP_ID = re.compile(r"\bOpId::k\w+")
RULE_ROWS = re.compile(r"\bRule(?:Row|Rows(?:\s+\w+)?)\s*\(\s*\"[^()]*\)")


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def sources(parts):
    for part in parts:
        for folder, _, files in sorted(os.walk(os.path.join(ROOT, part))):
            for name in sorted(files):
                if name.endswith((".cc", ".h")) and not re.search(r"_(?:test|test_util|fuzz)\.(?:cc|h)$", name):
                    yield os.path.relpath(os.path.join(folder, name), ROOT)


def operation_names() -> set[str]:
    """ "wgmma_ref", "mgpu.load" and "load": every name that a row of semantics/ops has;
    those of functions stand in math.h.
    """
    names = set(re.findall(r'\{MathOp::k\w+, "(\w+)"', read("semantics/simd/math.h")))
    for path in sources(["semantics/ops"]):
        for full in re.findall(r'"[\w-]+\.md#([\w.]+)"', read(path)):
            names |= {full, full.rpartition(".")[2]}
    return names


def code_of(text: str) -> str:
    """The text without comments and #includes; lines stay where they are."""
    pattern = r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)+\'|//[^\n]*|/\*.*?\*/|#include[^\n]*'

    def blank(match):
        kept = match.group()[0] in "\"'"
        return match.group() if kept else re.sub(r"[^\n]", " ", match.group())

    return re.sub(pattern, blank, text, flags=re.S)


def names_in(path: str, text: str, names: set[str]) -> list[tuple[int, str]]:
    """Lines and words of the operations' names in a source."""
    if path.startswith(OWN):
        return []
    code = code_of(text)
    if path.startswith(("emu/check/legality/", "emu/chip/layouts/")):
        code = RULE_ROWS.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), code)
    found = []
    for match in LITERALS.finditer(code):
        word = "".join(LITERAL.findall(match.group()))
        if word in names:
            found.append((code.count("\n", 0, match.start()) + 1, word))
    if not path.startswith(tuple(user for user, _ in ID_USERS)):
        found += [(code.count("\n", 0, match.start()) + 1, match.group()) for match in OP_ID.finditer(code)]
    for match in PART.finditer(code):
        if any(match.group(1) in name for name in names) and match.group(1) not in names:
            found.append((code.count("\n", 0, match.start()) + 1, match.group(1)))
    return sorted(found)


def allowed(path: str, word: str) -> list[int]:
    return [i for i, (file, words, _) in enumerate(ALLOWED) if file == path and (words == "*" or word in words.split())]


NAMES = operation_names()

FORBIDDEN_EXAMPLES = [
    ("emu/run/threads/residency.cc", 'if (op.name == "swap") return;'),
    ("emu/run/threads/residency.cc", 'if ("swap" == op.name) return;'),
    ("emu/run/threads/residency.cc", 'if (IsOneOf(op.name, {"get",\n  "masked_load"})) return;'),
    ("emu/run/threads/residency.cc", 'constexpr std::string_view kWaits[] = {"wgmma_wait"};'),
    ("emu/run/threads/residency.cc", 'if (FullName(op) == "mgpu.load") return;'),
    ("emu/run/threads/residency.cc", 'if (op.name.starts_with("atomic_")) return;'),
    ("emu/run/threads/residency.cc", 'if (op.name.find("bitcast") != npos) return;'),
    ("emu/run/threads/residency.cc", 'if (op.name == "sw" "ap") return;'),
    ("emu/tools/mutation/mutation_sync.cc", 'if (op.name == "mul") return;'),
    ("emu/check/legality/gpu/limits.cc", 'if (op.name == "swap") return;'),
    ("scheduler/policies/policies.cc", 'if (op == FindOp("", "while")) return;'),
    ("emu/run/threads/residency.cc", "if (Is(op, OpId::kSwap)) return;"),
]

ALLOWED_EXAMPLES = [
    ("emu/run/threads/residency.cc", 'if (arg.name == "mask") return;  // as "swap" has it'),
    ("emu/run/threads/residency.cc", 'Say("the swap at line ", op.text_line);'),
    ("emu/check/legality/gpu/limits.cc", 'static const RuleRows kRows("swap",\n    "get");'),
    ("emu/check/legality/gpu/limits.cc", '{RuleRow("add"), Add},'),
    ("semantics/ops/ref/ref.cc", 'if (op.name == "swap") return;'),
    ("emu/tools/golden/rewrite.cc", "return Binary(OpId::kAdd, x, y);"),
]


def complaints(path, text):
    return [(line, word) for line, word in names_in(path, text, NAMES) if not allowed(path, word)]


class OperationNames(unittest.TestCase):
    def test_the_names_are_found(self):
        self.assertGreater(len(NAMES), 200)
        self.assertLessEqual({"add", "wgmma_ref", "mgpu.load", "load", "dma_start", "semaphore_wait", "while"}, NAMES)

    def test_the_rule_finds_names(self):
        for path, text in FORBIDDEN_EXAMPLES:
            self.assertTrue(complaints(path, text), f"{path}: {text}")

    def test_the_rule_lets_pass_what_is_no_name(self):
        for path, text in ALLOWED_EXAMPLES:
            self.assertEqual([], complaints(path, text), f"{path}: {text}")

    def test_every_source(self):
        used, wrong, looked = set(), [], 0
        for path in sources(PARTS):
            looked += 1
            for line, word in names_in(path, read(path), NAMES):
                entries = allowed(path, word)
                used |= {(i, "*" if ALLOWED[i][1] == "*" else word) for i in entries}
                if not entries:
                    wrong.append(
                        f'{path}:{line}: "{word}": an operation by its name; decide by a fact of its row, '
                        "semantics/registry/op_row.h (in a rule about kernel text, by a RuleRow; what makes "
                        "instructions, by OpId)"
                    )
        self.assertGreater(looked, 300, "hardly any source was read: the test looks in the wrong place")
        self.assertEqual([], wrong)
        stale = [
            f"{file}: {word}"
            for i, (file, words, _) in enumerate(ALLOWED)
            for word in words.split()
            if (i, word) not in used
        ]
        self.assertEqual([], stale, "entries of ALLOWED that nothing needs")

    def test_every_user_of_ids_needs_them(self):
        users = {path for path in sources(PARTS) if OP_ID.search(code_of(read(path)))}
        stale = [user for user, _ in ID_USERS if not any(path.startswith(user) for path in users)]
        self.assertEqual([], stale, "entries of ID_USERS that nothing needs")


if __name__ == "__main__":
    unittest.main()
