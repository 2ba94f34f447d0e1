#!/usr/bin/env python3
"""Every C++ file includes the standard headers whose names it uses, itself or by one of the project's own headers.

A build with precompiled headers (cmake/standard_headers.h) compiles without them too, and a build with ccache then does
not. What it does not catch: names that are not in the table, and names that come by `using`.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("semantics", "memory_model", "scheduler", "emu", "conformance", "bench")
HEADERS = {
    "algorithm": "sort stable_sort find find_if find_if_not any_of all_of none_of copy_n copy fill fill_n min max "
    "minmax clamp reverse lower_bound upper_bound equal_range binary_search remove_if count_if "
    "max_element min_element transform unique mismatch",
    "array": "array",
    "atomic": "atomic atomic_flag",
    "bit": "bit_cast popcount countr_zero countl_zero has_single_bit bit_width bit_ceil",
    "charconv": "from_chars to_chars",
    "chrono": "chrono",
    "cmath": "isnan isinf isfinite sqrt fabs floor ceil ldexp frexp fma signbit nearbyint",
    "condition_variable": "condition_variable",
    "cstring": "memcpy memset memcmp memmove strlen strcmp",
    "deque": "deque",
    "filesystem": "filesystem",
    "fstream": "ifstream ofstream",
    "functional": "function hash greater",
    "iostream": "cout cerr cin",
    "limits": "numeric_limits",
    "map": "map multimap",
    "memory": "unique_ptr shared_ptr weak_ptr make_unique make_shared enable_shared_from_this",
    "mutex": "mutex lock_guard unique_lock scoped_lock call_once once_flag",
    "numeric": "accumulate iota gcd lcm partial_sum",
    "optional": "optional nullopt make_optional",
    "random": "mt19937 mt19937_64 uniform_int_distribution uniform_real_distribution normal_distribution",
    "set": "set multiset",
    "sstream": "stringstream ostringstream istringstream",
    "string": "string to_string stoi stoll getline",
    "string_view": "string_view",
    "thread": "thread",
    "tuple": "tuple tie make_tuple",
    "unordered_map": "unordered_map",
    "utility": "move forward exchange swap pair make_pair in_place index_sequence as_const",
    "variant": "variant visit holds_alternative get_if monostate",
    "vector": "vector",
}
HEADER_OF = {name: header for header, names in HEADERS.items() for name in names.split()}
# Headers that promise what another has.
ALSO = {
    "string": ("string_view",),
    "iostream": ("string",),
    "sstream": ("string",),
    "fstream": ("string",),
    "map": ("utility",),
    "set": ("utility",),
    "unordered_map": ("utility",),
    "tuple": ("utility",),
}
COMMENT_OR_STRING = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"', re.DOTALL)


def read(path, cache):
    """The standard headers that the file brings, and the names of std that it uses."""
    if path in cache:
        return cache[path]
    cache[path] = (set(), set())  # a circle is found elsewhere (include_arrows_test.py)
    text = path.read_text()
    brought = set(re.findall(r"^#include <([^>]+)>", text, re.MULTILINE))
    brought |= {also for header in brought for also in ALSO.get(header, ())}
    for own in re.findall(r'^#include "([^"]+)"', text, re.MULTILINE):
        if (ROOT / own).exists():
            brought |= read(ROOT / own, cache)[0]
    used = set(re.findall(r"\bstd::(\w+)", COMMENT_OR_STRING.sub('""', text)))
    cache[path] = (brought, used)
    return cache[path]


def missing():
    cache = {}
    for folder in FOLDERS:
        for path in sorted([*(ROOT / folder).rglob("*.cc"), *(ROOT / folder).rglob("*.h")]):
            brought, used = read(path, cache)
            for name in sorted(used):
                header = HEADER_OF.get(name)
                if header is not None and header not in brought:
                    yield f"{path.relative_to(ROOT)} uses std::{name} and does not include <{header}>"


def main():
    found = list(missing())
    for line in found:
        print(line)
    if found:
        print(f"{len(found)} names without their header: include it there")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
