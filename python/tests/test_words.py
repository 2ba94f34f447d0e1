"""What tools/words.py reads, and that it fails on a word that comes back."""

import importlib.util
import os
import subprocess
import sys

import pytest

_PATH = os.path.join(os.path.dirname(__file__), "../../tools/words.py")
_SPEC = importlib.util.spec_from_file_location("words", _PATH)
words = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(words)

WORD = "nobody"


@pytest.mark.parametrize(
    ("path", "text", "line"),
    [
        ("a.cc", f"int a;\n// {WORD} waits", 2),
        ("a.h", f'Say("a // b", \'"\');  // {WORD.title()} waits', 1),
        ("a.py", f"a = 1  # {WORD} waits", 1),
        ("a.py", f'def f():\n    """Waits.\n\n    {WORD.upper()} does.\n    """', 4),
        ("a.py", f"def test_{WORD}_waits():\n    pass", 1),
        ("conformance/gpu_corpus/a.py", f"{WORD} = 1\n# {WORD} waits", 2),
        ("a.md", f"# A page\n\n{WORD} waits", 3),
        ("a.sh", f"# {WORD} waits", 1),
        ("a.case", f"=== a\n# {WORD} waits", 2),
    ],
)
def test_a_word_is_found_where_people_read_it(path, text, line):
    [found] = words.found_in(path, text)
    assert found.lower().startswith(f"{path}:{line}: '{WORD}'")
    assert words.RULED_OUT[WORD] in found


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.cc", f'const char* a = "{WORD}//{WORD}";'),
        ("a_test.cc", f'const char* a = "{WORD} // {WORD}";'),
        ("a.cc", f'auto a = R"x(\nint {WORD};)x";'),
        ("a.cc", f"// `{WORD}` is the parameter"),
        ("a.py", f'a = "{WORD}"'),
        ("conformance/gpu_corpus/a.py", f"{WORD} = 1"),
        ("a.case", f"--- kernel\n  in %{WORD}: i32[8];"),
        ("a.md", f"`{WORD}` and {WORD}like"),
    ],
)
def test_strings_code_and_parts_of_words_are_not(path, text):
    assert words.found_in(path, text) == []


@pytest.mark.parametrize(
    ("path", "text", "line", "word"),
    [
        ("a.md", "# A page\n\nThe copy is under way.", 3, "under way"),
        ("a.md", "```text\nasked\n```\nIt is asked for.", 4, "asked"),
        ("a.md", "<!-- generated:a -->\nasked\n<!-- /generated:a -->\nasked", 4, "asked"),
        ("a.cc", 'int a;\nSay("is asked for");', 2, "asked"),
        ("a.cc", 'Say("a // b, which is told");', 1, "told"),
    ],
)
def test_a_word_is_found_in_pages_and_messages(path, text, line, word):
    [found] = words.found_in(path, text)
    assert found.startswith(f"{path}:{line}: '{word}'") and words.RULED_OUT_IN_TEXTS[word] in found


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.md", "The other way to ask is `asked`."),
        ("a.cc", 'doing = "under way";'),
        ("a.cc", 'keys["asked"] = 1;  // what is asked'),
        ("a_test.cc", 'EXPECT_TRUE(a) << "is asked for";'),
    ],
)
def test_values_and_other_words_of_pages_and_messages_pass(path, text):
    assert words.found_in(path, text) == []


@pytest.mark.parametrize(
    ("path", "text", "line", "word"),
    [
        ("a.cc", "/* told\n */\nint nobody = 1;", 3, "nobody"),
        ("a.cc", "int a;\nSemaphoreId told_by_;", 2, "told"),
        ("a.h", "void TellLanesMet();", 1, "tell"),
        ("a.h", "void HearSignal();", 1, "hear"),
        ("a.cc", "TEST(A, ReportIsTold) {}", 1, "told"),
        ("a.h", "using LoanId = int;", 1, "loan"),
        ("a.cc", 'auto a = R"(x\ny)" + KeepAsked(\'"\');', 2, "asked"),
        ("a.cc", "Sum(1'000, told, 1'000);", 1, "told"),
        ("a.h", "enum class Way;", 1, "way"),
        ("a.h", "Mode WayOf();", 1, "way"),
        ("a.h", "class AgentsUnderWay;", 1, "under_way"),
        ("emu/agents_under_way.h", "", 1, "under_way"),
    ],
)
def test_a_word_is_found_in_names_of_cpp(path, text, line, word):
    [found] = words.found_in(path, text)
    assert found.startswith(f"{path}:{line}: '{word}' in ") and words.RULED_OUT_IN_NAMES[word] in found


@pytest.mark.parametrize(
    "name", ["RoundHalfAway", "highway", "BothWays", "IsTheOtherWayRound", "RunUnderPolicy", "masked"]
)
def test_names_that_only_look_like_it_pass(name):
    assert words.found_in("a.cc", f"int {name};") == []


def test_every_word_is_one_of_the_glossary():
    glossary = open(os.path.join(words.ROOT, "docs/reference/glossary.md"), encoding="utf-8").read()
    ruled_out = " ".join(line.split("|")[3] for line in glossary.split("\n") if line.count("|") == 4)
    for word in words.RULED_OUT:
        assert word in ruled_out
    for word in (
        "tell",
        "hear",
        "loan",
        "lend",
        "asked",
        "way",
        "under way",
    ):  # other forms of these are in the list too
        assert word in ruled_out and word.replace(" ", "_") in words.RULED_OUT_IN_NAMES


def test_all_but_what_is_left_out_is_read():
    read = words.listed()
    assert {"README.md", "dev", "tools/words.py", "semantics/port/machine.h", "python/tests/test_words.py"} <= set(read)
    assert not [path for path in read if path.startswith(words.LEFT_OUT)]
    for path in words.LEFT_OUT:
        assert os.path.exists(os.path.join(words.ROOT, path)), f"{path} is gone: take it off the list"
    for path in words.NAMES_STAY:
        assert any(one.startswith(path) for one in read), f"{path} is gone: take it off the list"


def test_the_command_fails_on_it(tmp_path):
    (tmp_path / "a.cc").write_text(f"// {WORD} waits\n")
    (tmp_path / "b.cc").write_text("// no agent waits\n")
    run = [sys.executable, _PATH]
    failed = subprocess.run([*run, str(tmp_path / "a.cc")], capture_output=True, text=True)
    assert failed.returncode == 1 and f"a.cc:1: '{WORD}'" in failed.stdout
    assert subprocess.run([*run, str(tmp_path / "b.cc")], capture_output=True, text=True).returncode == 0
