"""`palladion completion bash` in a real bash: what is offered at the cursor. zsh and fish are not run here; that their
scripts have every command and option is tested beside the code (emu/front/command/command_test.cc)."""

import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMAND = pathlib.Path(os.environ.get("PALLADION_COMMAND", ROOT / "build" / "palladion"))

# COMP_WORDS as readline makes them: "=" is a word of its own.
COMPLETE = """
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(( ${#COMP_WORDS[@]} - 1 ))
_palladion
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture(scope="module")
def script(tmp_path_factory):
    path = tmp_path_factory.mktemp("completion") / "palladion.bash"
    path.write_text(subprocess.run([COMMAND, "completion", "bash"], check=True, capture_output=True, text=True).stdout)
    return path


@pytest.mark.parametrize(
    "words, offered",
    [
        (["ch"], {"check"}),
        (["check", "--form"], {"--format"}),
        (["check", "--no-"], {"--no-races", "--no-definedness", "--no-contracts"}),
        (["check", "--format", "j"], {"json", "junit"}),
        (["check", "--format", "=", "j"], {"json", "junit"}),
        (["run", "--format", "="], {"text", "json"}),
        (["run", "--target", "mosaic_tpu/v6"], {"mosaic_tpu/v6e"}),
        (["run", "--out", ""], {"folder"}),
        (["run", "k"], {"k.pkir"}),
        (["explain", "DEADL"], {"DEADLOCK"}),
        (["help", "mut"], {"mutate"}),
        (["completion", "z"], {"zsh"}),
        (["doctor", "--"], {"--help"}),
    ],
)
def test_what_is_offered(script, tmp_path, words, offered):
    (tmp_path / "folder").mkdir()
    (tmp_path / "k.pkir").write_text("")
    done = subprocess.run(
        ["bash", "-c", COMPLETE, "bash", script, "palladion", *words],
        cwd=tmp_path,
        check=True,
        capture_output=True,
        text=True,
    )
    assert set(done.stdout.split()) == offered and done.stderr == ""
