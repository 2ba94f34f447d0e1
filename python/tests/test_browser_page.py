"""The page that runs kernels in the browser (tools/browser_page.py), around a stand-in for the module, and what
compares the real one with the native command (conformance/browser_cases.py). The module itself is tested by
`./dev test-long browser`, which needs emscripten."""

import dataclasses
import pathlib
import re
import subprocess
import sys

import pytest

from browser_pages import opened

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "conformance")]

import browser_cases  # noqa: E402
import browser_page  # noqa: E402
import case_files  # noqa: E402

# What palladion.js defines, but for the command: it prints its arguments, and a finding at the kernel's third line.
STAND_IN = """
function PalladionModule(settings) {
  settings.instantiateWasm({}, () => {});
  const files = {};
  const inside = (path) => path.replace("/folder/", "");
  const FS = {
    mkdir() {}, chdir() {}, writeFile: (name, content) => { files[name] = content; },
    readdir: (folder) => [".", "..", ...Object.keys(files)], stat: (path) => ({ mode: 0 }), isDir: () => false,
    readFile: (path) => files[inside(path)],
  };
  const print = (text) => { for (const byte of new TextEncoder().encode(text)) settings.stdout(byte); };
  function callMain(words) {
    if (words.includes("broken=iota")) throw new WebAssembly.RuntimeError("unreachable");
    print(`called: ${words.join(" ")}\\nkernel.pkir:3: ${files["kernel.pkir"].split("\\n")[2].trim()}\\n`);
    if (words[0] === "trace") files["picture.html"] = new TextEncoder().encode("<p>the picture</p>");
    settings.quit(words[0] === "check" ? 1 : 0, { name: "ExitStatus" });
  }
  return Promise.resolve({ FS, callMain });
}
"""
EMPTY_MODULE = b"\0asm\1\0\0\0"


@pytest.fixture(scope="module")
def page(tmp_path_factory) -> pathlib.Path:
    """index.html of a page that was made as `./dev site --browser` makes it."""
    module, source = tmp_path_factory.mktemp("module"), tmp_path_factory.mktemp("source")
    (module / "palladion.js").write_text(STAND_IN, encoding="utf-8")
    (module / "palladion.wasm").write_bytes(EMPTY_MODULE)
    (source / "guides").mkdir()
    (source / "guides/browser.md").write_text("# A page\n", encoding="utf-8")
    browser_page.main(module, source)
    assert 'src="../browser/index.html"' in (source / "guides/browser.md").read_text(encoding="utf-8")
    return source / "_extra/browser/index.html"


def dom(page: pathlib.Path, at: str) -> str:
    """The page when its call has ended."""
    with opened(page, at) as it:
        it.until("/exit code|failed/.test(document.getElementById('state').textContent)")
        return it.value("document.documentElement.outerHTML")


def test_a_check_is_called_as_a_reader_would_call_it_and_its_lines_are_marked(page):
    shown = dom(page, "?example=1&press=check")
    example = browser_page.example_of("findings/race_rw_wrong", "")
    assert "called: check kernel.pkir --in x=iota --target triton/h100 --seeds 16" in shown
    assert example.kernel.splitlines()[2].strip().replace(">", "&gt;") in shown
    assert re.search(r'class="found">3<', shown)
    assert "exit code 1: a defect was found" in shown


def test_a_run_has_its_outputs_and_a_drawing_its_picture(page):
    assert "called: run kernel.pkir" in dom(page, "?example=0&press=run")
    drawn = dom(page, "?example=0&press=draw")
    assert "&lt;p&gt;the picture&lt;/p&gt;" in drawn
    assert re.search(r'<pre id="report"[^>]* hidden', drawn)


def test_a_module_that_fails_is_reported(page, tmp_path):
    broken = tmp_path / "browser"
    broken.mkdir()
    for path in page.parent.iterdir():
        text = path.read_text(encoding="utf-8")
        (broken / path.name).write_text(text.replace("x = [1.0", "broken = iota\\nx = [1.0"), encoding="utf-8")
    assert "The module failed: unreachable" in dom(broken / "index.html", "?example=0&press=run")


def test_every_example_is_a_case_without_its_answers():
    for case, title in browser_page.EXAMPLES.items():
        example = browser_page.example_of(case, title)
        assert "//~" not in example.kernel and example.kernel.startswith("pkir 1;"), case
        assert example.text and "# " not in example.text, case


def test_the_page_loads_nothing_from_elsewhere(page):
    for path in page.parent.iterdir():
        assert not re.search(r"""(?:src|href)=["']?(?:https?:)?//""", path.read_text(encoding="utf-8")), path.name


def test_calls_have_every_header_and_input_of_a_case():
    case = "tpu/devices_links_ordered"
    run, check = browser_cases.calls_of(case, case_files.text_of(case))
    assert "--links" in check.arguments and "--links" not in run.arguments
    for call in (run, check):
        assert call.kernel.startswith("pkir 1;")
        assert call.arguments.count("--in") == len(re.findall(r"^  in %", call.kernel, re.MULTILINE))
    add, _ = browser_cases.calls_of("elementwise/add", case_files.text_of("elementwise/add"))
    assert add.arguments[2:4] == ("--in", "x=[1.0,16777216.0,1e-40,inf,-0.0]")


SAME = browser_cases.Result(0, b"a\nb\n", b"", {"out/o.npy": b"12"})


@pytest.mark.parametrize(
    "changed, part",
    [
        ({"code": 1}, "exit code 0, in the module 1"),
        ({"stdout": b"a\nc\n"}, "stdout: b'b', in the module b'c'"),
        ({"stderr": b"x\n"}, "stderr: b'', in the module b'x'"),
        ({"files": {}}, "files ['out/o.npy'], in the module []"),
        ({"files": {"out/o.npy": b"13"}}, "the bytes of out/o.npy"),
    ],
)
def test_any_difference_is_found(changed, part):
    assert part in browser_cases.difference(SAME, dataclasses.replace(SAME, **changed))


def test_no_difference_is_none_and_a_failure_is_one():
    assert browser_cases.difference(SAME, dataclasses.replace(SAME)) is None
    assert "the module failed: no memory" in browser_cases.difference(SAME, "no memory")


def test_a_pattern_without_cases_is_refused():
    done = subprocess.run(
        [sys.executable, ROOT / "conformance/browser_cases.py", "no_such/*"], capture_output=True, text=True
    )
    assert done.returncode == 2 and "no case has such a name" in done.stderr
