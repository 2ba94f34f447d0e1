"""action.yml and the recipes of docs/guides/ci.md: that GitHub, GitLab and pre-commit can read them, and that their
scripts, run here, check kernels. The schemas are written down from the documentation of these formats, as far as they
are used: what is in none of them is refused. What is not tested: the services themselves.
"""

import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

import jsonschema
import pytest
import yaml

from palladion.base.shards import parse_shard, part_of

ROOT = pathlib.Path(__file__).resolve().parents[2]
GUIDE = (ROOT / "docs/guides/ci.md").read_text()
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
BASH = ("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c")  # as GitHub runs `shell: bash`

TEXT = {"type": "string", "minLength": 1}
TEXTS = {"type": "array", "items": TEXT, "minItems": 1}


def record(required=(), /, **properties):
    return {"type": "object", "additionalProperties": False, "required": list(required), "properties": properties}


def named(one):
    return {"type": "object", "additionalProperties": one, "minProperties": 1}


STEP = {
    "uses": {"type": "string", "pattern": "^[^@ ]+@[^@ ]+$"},
    "with": named({"type": ["string", "integer"]}),
    "name": TEXT,
    "if": TEXT,
    "run": TEXT,
    "env": named({"type": "string"}),
}
EITHER = {"oneOf": [{"required": ["run"]}, {"required": ["uses"]}]}
ACTION_SCHEMA = record(
    ("name", "description", "runs"),
    name=TEXT,
    description=TEXT,
    inputs=named(record(("description",), description=TEXT, required={"type": "boolean"}, default={"type": "string"})),
    outputs=named(record(("description", "value"), description=TEXT, value=TEXT)),
    runs=record(
        ("using", "steps"),
        using={"const": "composite"},
        steps={
            # a step that runs must name its shell: in a workflow it need not
            "type": "array",
            "items": record(**STEP, shell={"const": "bash"})
            | EITHER
            | {"dependentRequired": {"run": ["shell"], "shell": ["run"]}},
        },
    ),
)
JOB = record(
    ("runs-on", "steps"),
    steps={"type": "array", "items": record(**STEP) | EITHER, "minItems": 1},
    container=TEXT,
    strategy=record(("matrix",), matrix=named({"type": "array"}), **{"fail-fast": {"type": "boolean"}}),
    permissions=named({"enum": ["read", "write", "none"]}),
    **{"runs-on": TEXT},
)
WORKFLOW_SCHEMA = record(
    ("on", "jobs"), name=TEXT, on={"type": "array", "items": {"enum": ["push", "pull_request"]}}, jobs=named(JOB)
)
GITLAB_SCHEMA = named(
    record(
        ("script",),
        image=TEXT,
        before_script=TEXTS,
        script=TEXTS,
        artifacts=record(
            when={"enum": ["on_success", "on_failure", "always"]}, paths=TEXTS, reports=record(junit=TEXT)
        ),
    )
)
HOOK = record(
    ("id", "name", "language", "entry"),
    id=TEXT,
    name=TEXT,
    language={"const": "system"},
    entry=TEXT,
    files=TEXT,
    pass_filenames={"type": "boolean"},
)
PRE_COMMIT_SCHEMA = record(
    ("repos",),
    repos={
        "type": "array",
        "items": record(("repo", "hooks"), repo={"const": "local"}, hooks={"type": "array", "items": HOOK}),
    },
)


def recipe(name):
    """A block of the guide. YAML 1.1 takes the key `on` for true, GitHub does not."""
    text = re.search(rf"^```text file={re.escape(name)}\n(.*?)^```$", GUIDE, re.M | re.S)[1]
    return yaml.safe_load(re.sub(r"^on:", '"on":', text, flags=re.M))


RECIPES = [
    (ACTION, ACTION_SCHEMA),
    (recipe("kernels.yml"), WORKFLOW_SCHEMA),
    (recipe("sharded.yml"), WORKFLOW_SCHEMA),
    (recipe("gitlab-ci.yml"), GITLAB_SCHEMA),
    (recipe("pre-commit-config.yaml"), PRE_COMMIT_SCHEMA),
]


@pytest.mark.parametrize("text, schema", RECIPES, ids=["action", "github", "sharded", "gitlab", "pre-commit"])
def test_recipes_are_what_is_read(text, schema):
    jsonschema.Draft202012Validator(schema).validate(text)


@pytest.mark.parametrize(
    "wrong",
    [
        {"shell": "bash", "run": "x", "sehll": "y"},
        {"run": "x"},
        {"name": "n"},
        {
            "uses": "a",
        },
        {"uses": "a@b", "run": "x", "shell": "bash"},
    ],
)
def test_the_schema_refuses_wrong_steps(wrong):
    action = json.loads(json.dumps(ACTION))
    action["runs"]["steps"].append(wrong)
    assert list(jsonschema.Draft202012Validator(ACTION_SCHEMA).iter_errors(action))


def test_inputs_are_declared_used_described_and_never_part_of_a_script():
    text = (ROOT / "action.yml").read_text()
    assert set(re.findall(r"inputs\.([\w-]+)", text)) == set(ACTION["inputs"])
    assert not [step for step in ACTION["runs"]["steps"] if "${{" in step.get("run", "")]
    rows = re.findall(r"^\| ((?:`[\w-]+`(?:, )?)+) \|(.*?)\|", GUIDE, re.M)
    described = {}
    for names, defaults in rows:
        values = re.findall("`(.*?)`", defaults) or [""]
        described |= zip(re.findall("`(.*?)`", names), values, strict=True)
    assert described == {name: one.get("default", "") for name, one in ACTION["inputs"].items()}
    for name in ("kernels.yml", "sharded.yml"):
        check_given(name)


def check_given(name):
    given = [
        step["with"]
        for step in recipe(name)["jobs"]["check"]["steps"]
        if step.get("uses", "").startswith("OWNER/palladion@")
    ]
    assert len(given) == 1 and set(given[0]) <= set(ACTION["inputs"])
    assert {name for name, one in ACTION["inputs"].items() if one.get("required")} <= set(given[0])


def test_all_install_the_same_packages():
    def packages(text):
        lines = re.sub(r"\\?\n(?!\s*- )\s+", " ", text)  # a list over several lines is one
        lists = re.findall(r"apt-get install -y ([\w.+ -]+)", lines)
        return [set(one.split()) - {"git"} for one in lists if "cmake" in one]

    wanted = packages((ROOT / "docs/guides/install.md").read_text())[0]
    assert len(wanted) > 5
    assert packages((ROOT / "action.yml").read_text()) == [wanted] and packages(GUIDE) == [wanted]


TESTS = """
import jax
import numpy as np
from jax.experimental import pallas as pl

def right_kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...] + 1

def wrong_kernel(x_ref, o_ref):
    o_ref[...] = o_ref[...] + x_ref[...]

def test_it():
    x = np.ones(4, np.float32)
    np.asarray(pl.pallas_call({kernel}, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x))
"""


@pytest.fixture
def project(tmp_path):
    """A folder with tests, and an environment that has Palladion."""
    for kernel in ("right", "wrong"):
        (tmp_path / kernel).mkdir()
        (tmp_path / kernel / f"test_{kernel}.py").write_text(TESTS.format(kernel=f"{kernel}_kernel"))
    (tmp_path / "env/bin").mkdir(parents=True)
    program = tmp_path / "env/bin/pytest"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m pytest -p palladion "$@"\n')
    program.chmod(0o755)
    return tmp_path


def run(script, folder, **variables):
    return subprocess.run([*BASH, script], cwd=folder, env=os.environ | variables, capture_output=True, text=True)


def step(name):
    return next(one for one in ACTION["runs"]["steps"] if one["name"] == name)


def check_step(folder, tests, **variables):
    values = {"TARGET": "triton/h100", "SEEDS": "2", "ARGUMENTS": "", "SARIF": "p.sarif", "JUNIT": "p.xml"} | variables
    assert set(values) | {"FOLDER", "TESTS"} == set(step("Check the kernels")["env"])
    return run(step("Check the kernels")["run"], folder, FOLDER=str(folder / "env"), TESTS=tests, **values)


def test_the_action_fails_where_a_kernel_is_wrong_and_says_what(project):
    done = check_step(project, "right wrong")
    assert done.returncode == 1 and "UNINIT" in done.stdout, done
    results = json.loads((project / "p.sarif").read_text())["runs"][0]["results"]
    assert {result["ruleId"] for result in results} == {"UNINIT"} and (project / "p.xml").exists()
    assert check_step(project, "right").returncode == 0
    assert check_step(project, "right\nwrong\n").returncode == 1, "no line of the input is left out"
    assert "1 deselected" in check_step(project, "right wrong", ARGUMENTS="-k right").stdout


def test_the_action_runs_no_input(project):
    done = check_step(project, "right", TARGET="$(touch run)`touch run`", ARGUMENTS="; touch run")
    assert done.returncode != 0 and not (project / "run").exists()


def test_the_action_installs_from_its_own_folder(project):
    """With stand-ins for python3 and pip, which write down what they are given."""
    tools = project / "tools"
    tools.mkdir()
    (tools / "python3").write_text(
        '#!/bin/bash\n[ "$1 $2" = "-m venv" ] || exit 9\nmkdir -p "$3/bin"\n'
        'printf \'#!/bin/bash\\nprintf "%%s\\\\n" "$@" > log\\n\' > "$3/bin/pip"; chmod +x "$3/bin/pip"\n'
    )
    (tools / "python3").chmod(0o755)
    done = run(
        step("Build and install Palladion")["run"],
        project,
        SOURCE="/the action",
        FOLDER=str(project / "new"),
        REQUIREMENTS="flax  optax\nchex",
        PATH=f"{tools}:{os.environ['PATH']}",
    )
    assert done.returncode == 0, done
    assert (project / "log").read_text().splitlines() == [
        "install",
        "/the action[jax]",
        "pytest",
        "flax",
        "optax",
        "chex",
    ]


@pytest.mark.parametrize("name", ["gitlab", "pre-commit"])
def test_the_commands_of_the_others(project, name):
    if name == "gitlab":
        [command] = recipe("gitlab-ci.yml")["kernels"]["script"]
    else:
        command = recipe("pre-commit-config.yaml")["repos"][0]["hooks"][0]["entry"]
    (project / "right").rename(project / "tests")
    done = run(command, project)
    assert done.returncode == 0 and "1 kernel call in 1 test: 1 proved" in done.stdout, done
    (project / "wrong/test_wrong.py").rename(project / "tests/test_wrong.py")
    assert run(command, project).returncode == 1
    if name == "gitlab":
        artifacts = recipe("gitlab-ci.yml")["kernels"]["artifacts"]
        assert all((project / path).exists() for path in [*artifacts["paths"], artifacts["reports"]["junit"]])


@pytest.mark.parametrize("parts", [1, 2, 3, 7])
def test_the_shards_have_each_test_once(project, parts):
    (project / "test_many.py").write_text("def test_a(): pass\ndef test_b(): pass\ndef test_c(): pass\n")
    ran = []
    for part in range(1, parts + 1):
        done = run(f"env/bin/pytest -v test_many.py --palladion-shard={part}/{parts}", project)
        assert done.returncode == 0 and f"shard {part}/{parts}: " in done.stdout, done
        ran += re.findall(r"^test_many.py::(\w+) PASSED", done.stdout, re.M)
    assert sorted(ran) == ["test_a", "test_b", "test_c"]


def test_a_shard_without_tests_passes_only_where_others_have_some(project):
    (project / "test_one.py").write_text("def test_one(): pass\n")
    (project / "test_none.py").write_text("")
    codes = [run(f"env/bin/pytest test_one.py --palladion-shard={i}/2", project).returncode for i in (1, 2)]
    assert codes == [0, 0]
    assert run("env/bin/pytest test_none.py --palladion-shard=1/2", project).returncode == 5
    (project / "test_one.py").write_text("def test_one(): assert False\n")
    codes = [run(f"env/bin/pytest test_one.py --palladion-shard={i}/2", project).returncode for i in (1, 2)]
    assert sorted(codes) == [0, 1]


def test_shards_stay_what_they_were():
    """Another division would have a run of old and new machines leave tests out."""
    assert [part_of(f"test_a.py::test_{i}", 4) for i in range(8)] == [3, 4, 4, 2, 1, 4, 3, 3]


@pytest.mark.parametrize("wrong", ["", "1", "0/2", "3/2", "1/0", "a/b", "1/2/3", "-1/2", "1 /2", "٣/٤"])
def test_wrong_shards(wrong):
    with pytest.raises(ValueError, match="a shard is I/N, such as 1/4, with I from 1 to N; found"):
        parse_shard(wrong)


def test_a_wrong_shard_is_a_usage_error(project):
    done = run("env/bin/pytest right --palladion-shard=3/2", project)
    assert done.returncode == 4 and "--palladion-shard: a shard is I/N" in done.stderr, done


def test_shards_and_parallel_workers(project):
    names = "abcdefgh"
    (project / "test_many.py").write_text("".join(f"def test_{name}(): pass\n" for name in names))
    ran = []
    for part in (1, 2):
        done = run(f"env/bin/pytest -v -n 2 test_many.py --palladion-shard={part}/2", project)
        assert done.returncode == 0, done
        ran.append(re.findall(r"PASSED test_many.py::test_(\w)", done.stdout))
    assert sorted(ran[0] + ran[1]) == list(names) and all(ran)
