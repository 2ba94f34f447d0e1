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
        ("a.cc", f'const char* a = "{WORD} // {WORD}";'),
        ("a.cc", f"int {WORD} = 1;  // another name"),
        ("a.cc", f"// `{WORD}` is the parameter"),
        ("a.py", f'a = "{WORD}"'),
        ("conformance/gpu_corpus/a.py", f"{WORD} = 1"),
        ("a.case", f"--- kernel\n  in %{WORD}: i32[8];"),
        ("a.md", f"`{WORD}` and {WORD}like"),
    ],
)
def test_strings_code_and_parts_of_words_are_not(path, text):
    assert words.found_in(path, text) == []


def test_every_word_is_one_of_the_glossary():
    glossary = open(os.path.join(words.ROOT, "docs/reference/glossary.md"), encoding="utf-8").read()
    assert all(f" {word}" in glossary for word in words.RULED_OUT)


def test_all_but_what_is_left_out_is_read():
    read = words.listed()
    assert {"README.md", "dev", "tools/words.py", "semantics/port/machine.h", "python/tests/test_words.py"} <= set(read)
    assert not [path for path in read if path.startswith(words.LEFT_OUT)]
    for path in words.LEFT_OUT + words.NAMES_STAY:
        assert os.path.exists(os.path.join(words.ROOT, path)), f"{path} is gone: take it off the list"


def test_the_command_fails_on_it(tmp_path):
    (tmp_path / "a.cc").write_text(f"// {WORD} waits\n")
    (tmp_path / "b.cc").write_text("// no agent waits\n")
    run = [sys.executable, _PATH]
    failed = subprocess.run([*run, str(tmp_path / "a.cc")], capture_output=True, text=True)
    assert failed.returncode == 1 and f"a.cc:1: '{WORD}'" in failed.stdout
    assert subprocess.run([*run, str(tmp_path / "b.cc")], capture_output=True, text=True).returncode == 0
