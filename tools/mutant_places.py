"""Where C++ text can be broken: conditions, what is returned or assigned, statements. For tools/mutants.py.

Based on how clang-format writes: binary operators have spaces, template brackets and references have none. Comments,
strings and preprocessor lines are not looked at. Does not know types: what does not compile, the build finds.
"""

import re

HIDDEN = re.compile(
    r"//[^\n]*|/\*.*?\*/"
    r'|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-Fx])\'(?:\\.|[^\'\\\n])+\'|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*',
    re.DOTALL | re.MULTILINE,
)
SWAPPED = {
    "<": "<=",
    "<=": "<",
    ">": ">=",
    ">=": ">",
    "==": "!=",
    "!=": "==",
    "&&": "||",
    "||": "&&",
    "+": "-",
    "-": "+",
    "&": "|",
}
KINDS = {
    "<": "bound",
    "<=": "bound",
    ">": "bound",
    ">=": "bound",
    "==": "equality",
    "!=": "equality",
    "&&": "logic",
    "||": "logic",
    "+": "arithmetic",
    "-": "arithmetic",
    "&": "arithmetic",
}
OPERATOR = re.compile(r" (<=|>=|==|!=|&&|\|\||<|>|\+|-|&) ")
NUMBER = re.compile(r"(?<![\w.'])\d+(?![\w.'])")
NOT_STATEMENTS = re.compile(
    r"(?:return|if|for|while|switch|case|default|else|using|const|constexpr|auto|static|delete|throw|template|goto|break|continue"
    r"|struct|class|enum|namespace|friend|explicit|virtual|public|private|inline|extern|static_assert|co_return|do|try"
    r"|PALLADION_ASSIGN_OR_RETURN)\b"
)
NOT_ASSIGNMENTS = re.compile(
    r"\s*(?:static|constexpr|using|for|if|while|case|else|template|inline|enum|extern|namespace|typename)\b"
)


def masked(text: str) -> str:
    """The text with everything that is no code blanked, of the same length."""
    return HIDDEN.sub(lambda match: re.sub(r"[^\n]", "_" if match[0][0] in "\"'R" else " ", match[0]), text)


def end_of(code: str, begin: int, stop: str) -> int:
    """Where `stop` first stands outside all brackets that open behind `begin`; -1 where a bracket closes first."""
    depth = 0
    for at in range(begin, len(code)):
        if depth == 0 and code[at] == stop:
            return at
        depth += (code[at] in "([{") - (code[at] in ")]}")
        if depth < 0:
            return -1
    return -1


def in_expression(code: str, text: str, begin: int, end: int):
    """(kind, what, broken text) of every operator and number of text[begin:end]."""
    for match in OPERATOR.finditer(code, begin - 1, end):
        if match.start() >= begin:
            yield (
                KINDS[match[1]],
                f"`{match[1]}` → `{SWAPPED[match[1]]}`",
                text[begin : match.start(1)] + SWAPPED[match[1]] + text[match.end(1) : end],
            )
    for match in NUMBER.finditer(code, begin, end):
        changed = str(int(match[0]) + 1)
        yield "constant", f"`{match[0]}` → `{changed}`", text[begin : match.start()] + changed + text[match.end() : end]


def expressions(code: str):
    """(begin, end, is a condition) of what is tested, returned or assigned."""
    for match in re.finditer(r"\b(?:if|while) \(", code):
        end = end_of(code, match.end(), ")")
        condition = code[match.end() : end]
        if end > 0 and ";" not in condition and not re.search(r"[^=!<>]=[^=]", condition):
            yield match.end(), end, True
    for match in re.finditer(r"\breturn |^[^\n=(]*?[\w\])] (?:=|\+=|-=) ", code, re.MULTILINE):
        end = end_of(code, match.end(), ";")
        value = code[match.end() : end]
        several = 0 < end_of(code, match.end(), ",") < end  # `int low = a, high = b;`
        if (
            end > 0
            and not several
            and not re.search(r"\{|(?:^|[ (,])\[", value)
            and not NOT_ASSIGNMENTS.match(match[0])
        ):
            yield match.end(), end, False


def statements(code: str):
    """(begin, end) of calls and assignments that stand alone."""
    for match in re.finditer(
        r"(?<=[;{}])\s*\n +(?=(?:[A-Za-z_*][\w.\[\]:>-]*(?:\(| (?:=|\+=|-=|\|=) )|\+\+|--))", code
    ):
        begin = match.end()
        end = end_of(code, begin, ";")
        if end > 0 and not NOT_STATEMENTS.match(code, begin) and code.count("\n", begin, end) < 4:
            yield begin, end + 1


def find_places(text: str) -> list[dict]:
    """Every way to break the file: {begin, end, line, last_line, kind, what, switched}; @ stands for the switch."""
    code = masked(text)
    places = []

    def add(begin: int, end: int, kind: str, what: str, switched: str) -> None:
        line = code.count("\n", 0, begin) + 1
        places.append(
            {
                "begin": begin,
                "end": end,
                "line": line,
                "last_line": line + code.count("\n", begin, end),
                "kind": kind,
                "what": what,
                "switched": switched,
            }
        )

    for begin, end, is_condition in expressions(code):
        if code[begin:end].strip() == "" or "@" in text[begin:end]:
            continue
        original = text[begin:end]
        if is_condition:
            add(
                begin,
                end,
                "condition",
                f"`{' '.join(original.split())}` is turned round",
                f"@ != static_cast<bool>({original})",
            )
        for kind, what, broken in in_expression(code, text, begin, end):
            add(begin, end, kind, f"{what} in `{' '.join(original.split())}`", f"@ ? ({broken}) : ({original})")
    for begin, end in statements(code):
        if "@" not in text[begin:end]:
            add(begin, end, "statement", f"without `{' '.join(text[begin:end].split())}`", f"if (!@) {text[begin:end]}")
    return places
