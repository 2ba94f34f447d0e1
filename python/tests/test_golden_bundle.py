"""palladion.golden and palladion.compare: real kernels are compared with JAX's interpreter, and spoiled outputs are
found to be wrong.
"""

import json
import os
import re
import subprocess
import sys

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from jax.experimental import pallas as pl

import palladion
import spoiled_kernels
import spoiled_numbers
import spoiled_outputs
from palladion.real_kernels import table

PAGE = os.path.join(os.path.dirname(__file__), "../../docs/reference/compare.md")
# Of the quick cases, those that are one kernel whose outputs are the function's, and that run in JAX's interpreter.
HELD = ["example_kernel", "matmul", "softmax", "rms_norm", "layer_norm", "attention", "flash_attention", "megablox gmm"]


def add(x, y):
    def kernel(x_ref, y_ref, o_ref):
        o_ref[...] = x_ref[...] + y_ref[...]

    spec = pl.BlockSpec((8, 128), lambda i: (i, 0))
    return pl.pallas_call(
        kernel,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        grid=(x.shape[0] // 8,),
        in_specs=[spec, spec],
        out_specs=spec,
    )(x, y)


@pytest.fixture
def bundle(tmp_path):
    x = jax.random.normal(jax.random.key(0), (32, 128))
    (folder,) = palladion.golden(add, x, jnp.ones_like(x), out=tmp_path / "bundle")
    return folder, np.asarray(x) + np.float32(1)


def outputs_of(folder):
    with open(os.path.join(folder, "manifest.json"), encoding="utf-8") as stream:
        return json.load(stream)["outputs"]


@pytest.mark.parametrize("op", HELD)
def test_jax_interpreter_is_within_the_bound_of_real_kernels(op, tmp_path):
    for case in [case for case in table.all_cases() if case.quick and case.op == op]:
        problem = case.make()
        (folder,) = palladion.golden(
            problem.function, *problem.args, out=tmp_path / case.name.replace("/", "_"), target=case.target
        )
        found = [np.asarray(leaf) for leaf in jax.tree.leaves(jax.jit(problem.peer)(*problem.args))]
        comparison = palladion.compare(folder, found, causes=False)
        assert comparison.ok, str(comparison)
        for output in comparison.report["outputs"]:
            assert output["unbounded"] == 0 and output["tolerance"].startswith("a bound of each element"), case.name


def test_the_cases_are_there():
    assert set(HELD) <= {case.op for case in table.all_cases() if case.quick}


def test_an_error_that_the_bound_does_not_cover_is_found(tmp_path):
    """A product with sums in bf16: the bound of sums in f32 refuses it, and takes f32 sums in another order."""
    rng = np.random.default_rng(0)
    f, (x, y), wrong = spoiled_numbers.lower_precision(rng)
    (folder,) = palladion.golden(f, jnp.asarray(x), jnp.asarray(y), out=tmp_path / "bundle")
    comparison = palladion.compare(folder, wrong, causes=False)
    assert not comparison.ok and comparison.report["outputs"][0]["over_tolerance"] > wrong.size / 2
    assert palladion.compare(folder, x.astype(np.float32) @ y.astype(np.float32), causes=False).ok


@pytest.mark.parametrize("kind", [*spoiled_outputs.MISTAKES, spoiled_outputs.NOISE])
def test_what_becomes_of_a_spoiled_output_is_as_recorded(kind):
    """The record has all of them, and takes minutes to make; the first of each cause that is named is judged anew."""
    outcomes = spoiled_outputs.recorded()[kind]
    good = ("none",) if kind == spoiled_outputs.NOISE else ("first", "tied")
    seed = next(seed for seed, outcome in enumerate(outcomes) if outcome in good)
    assert spoiled_outputs.judge(kind, seed) == outcomes[seed]


@pytest.mark.parametrize("positive", [False, True])
def test_an_error_that_no_element_shows(tmp_path, positive):
    """Three passes in TF32 are distinguished from sums in any order. Of positive numbers, whose sums are too large for
    that, no other sum is taken for
    them: there each error has the same bias."""
    rng = np.random.default_rng(1)
    f, (x, y) = spoiled_kernels.f32_product_case(rng)
    x, y = (np.abs(x), np.abs(y)) if positive else (x, y)
    (folder,) = palladion.golden(f, jnp.asarray(x), jnp.asarray(y), out=tmp_path / "bundle")
    high = [spoiled_numbers._tf32(one, "nearest") for one in (x, y)]
    low = [spoiled_numbers._tf32(one - above, "nearest") for one, above in zip((x, y), high)]
    passes = (high[0] @ low[1] + low[0] @ high[1]) + high[0] @ high[1]
    comparison = palladion.compare(folder, passes)
    assert comparison.ok and (
        positive or spoiled_outputs.named(comparison) == ["f32 product in three passes"]
    ), comparison
    steps = sum(x[:, i : i + 3] @ y[i : i + 3] for i in range(0, x.shape[1], 3))
    for found in (
        x @ y,
        steps,
        (x.astype(np.float64) @ y * (1 + 1e-7)).astype(np.float32),
        (passes + steps - x @ y)[::-1, ::-1].copy(),
    ):
        kinds = {cause["kind"] for cause in palladion.compare(folder, found).report["causes"]["likely"]}
        assert "f32 product in three passes" not in kinds


def test_a_program_that_did_not_run_is_one_cause_with_its_block(bundle):
    folder, right = bundle
    wrong = right.copy()
    wrong[8:16] = 7
    (cause,) = palladion.compare(folder, wrong).report["causes"]["likely"]
    assert cause["kind"] == "stale or unwritten block"
    assert cause["what"] == "the block of 'outputs' of program (1) was not written, or the program did not run"


def test_the_page_has_the_table_of_every_cause():
    recorded = spoiled_outputs.recorded()
    assert {kind: len(outcomes) for kind, outcomes in recorded.items()} == {
        **dict.fromkeys(spoiled_outputs.MISTAKES, spoiled_outputs.PER_CAUSE),
        spoiled_outputs.NOISE: spoiled_outputs.NOISY,
    }
    assert set(recorded[spoiled_outputs.NOISE]) == {"none"}, "noise has no cause"
    with open(PAGE, encoding="utf-8") as stream:
        part = re.search(
            r"<!-- measured:spoiled-outputs -->\n(.*?)<!-- /measured:spoiled-outputs -->", stream.read(), re.DOTALL
        )[1]
    assert part == spoiled_outputs.table(recorded)


def test_outputs_of_every_kind_of_array(bundle):
    folder, right = bundle

    class OnlyDLPack:  # as PyTorch's tensors are
        def __init__(self, array):
            self.array = jnp.asarray(array)

        def __dlpack__(self, **options):
            return self.array.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    for outputs in (
        right,
        jnp.asarray(right),
        [right],
        {"o": right},
        {"outputs": right},
        OnlyDLPack(right),
        np.asfortranarray(right),
    ):
        comparison = palladion.compare(folder, outputs)
        assert comparison.ok and comparison.report["outputs"][0]["differing"] == 0, type(outputs)


def test_types_of_ml_dtypes(tmp_path):
    x = jnp.ones((8, 128), jnp.bfloat16)
    (folder,) = palladion.golden(add, x, x, out=tmp_path / "bundle")
    assert palladion.compare(folder, np.full((8, 128), 2, ml_dtypes.bfloat16)).ok
    assert not palladion.compare(folder, np.full((8, 128), 2.0625, ml_dtypes.bfloat16)).ok


def test_several_kernels_are_several_bundles(tmp_path):
    x = jnp.ones((8, 128))
    folders = palladion.golden(lambda x: add(add(x, x), x), x, out=tmp_path / "bundles")
    assert [os.path.basename(folder)[:2] for folder in folders] == ["00", "01"]
    assert palladion.compare(folders[1], np.full((8, 128), 3, np.float32)).ok


def test_what_does_not_fit_is_reported(bundle):
    folder, right = bundle
    for outputs, message in (
        ({"o": right[:8]}, "output 'o': expected f32[32,128]; found f32[8,128]"),
        ({"o": right.astype(np.float64)}, "output 'o': expected f32[32,128]; found f64[32,128]"),
        ({}, "output 'o' is missing: expected f32[32,128]"),
        ({"o": right, "q": right}, "q: is no output of the kernel"),
    ):
        comparison = palladion.compare(folder, outputs)
        assert comparison.report["code"] == 4 and message in str(comparison)
    with pytest.raises(palladion.PalladionError, match="expected 1 outputs \\(o\\); found 2"):
        palladion.compare(folder, [right, right])
    with pytest.raises(palladion.PalladionError, match="not a bundle's manifest"):
        palladion.compare(os.path.join(folder, "inputs"), right)


def test_a_bundle_whose_files_were_changed_is_refused(bundle):
    folder, right = bundle
    np.save(os.path.join(folder, "outputs", "o.npy"), right + 1)
    with pytest.raises(palladion.PalladionError, match="as the manifest says; found") as refused:
        palladion.compare(folder, {"o": right})
    assert refused.value.code == 4


@pytest.mark.parametrize(
    "changed", [{"name": "../o"}, {"label": "p"}, {"shape": [128, 32]}, {"tolerance": False}, None]
)
def test_a_manifest_that_is_not_the_kernels_is_refused(bundle, changed):
    folder, right = bundle
    path = os.path.join(folder, "manifest.json")
    with open(path, encoding="utf-8") as stream:
        manifest = json.load(stream)
    if changed is None:
        manifest["outputs"] = []
    else:
        manifest["outputs"][0].update(changed)
    with open(path, "w", encoding="utf-8") as stream:
        json.dump(manifest, stream)
    with pytest.raises(palladion.PalladionError) as refused:
        palladion.compare(folder, {"o": right})
    assert refused.value.code == 4


def test_the_command_says_that_a_kernel_has_a_defect(tmp_path):
    text = (
        'pkir 1;\nkernel @k {\n  backend mosaic_tpu;\n  params {dimension_semantics=["parallel"]};\n  grid [2];\n  in '
        "%x: f32[2,8,128] block (sq,8,128) map (%i: i32[]) "
        "{ return %i, 0:i32, 0:i32; };\n  out %o: f32[8,128] block (8,128) map (%i: i32[]) { return 0:i32, 0:i32; };\n "
        " body @k "
        "(%xr: ref<default,f32[8,128]>, %orf: ref<default,f32[8,128]>) {\n    %v = get(%xr) : f32[8,128];\n    _ = "
        "swap(%orf, %v) : "
        "f32[8,128];\n    return;\n  }\n}\n"
    )
    kernel = tmp_path / "k.pkir"
    kernel.write_text(text, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "palladion", "golden", kernel, "--in", "x=iota", "--out", tmp_path / "bundle"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1, done.stderr
    assert "warning: the kernel has a defect" in done.stdout and (tmp_path / "bundle" / "manifest.json").exists()
    right = np.load(tmp_path / "bundle" / "outputs" / "o.npy")
    compared = palladion.compare(tmp_path / "bundle", right)
    assert compared.ok and "warning: the bundle's kernel has a defect (RACE_WW" in str(compared)
    assert "RACE_WW" in compared.report["kernel_defects"]


def test_a_bundle_of_a_right_kernel_says_nothing_of_defects(bundle):
    compared = palladion.compare(*bundle)
    assert compared.report["kernel_defects"] == [] and "defect" not in str(compared)


def test_a_few_wrong_elements_have_no_cause(bundle):
    """What a hypothesis leaves unwritten is no explanation where more than that block is wrong."""
    folder, right = bundle
    wrong = right.copy()
    wrong[3, 5] = wrong[20, 7] = 50
    comparison = palladion.compare(folder, wrong)
    assert not comparison.ok and comparison.report["causes"]["likely"] == [], str(comparison)
    wrong[8:16] = 7  # all of a block, and two elements of others
    assert palladion.compare(folder, wrong).report["causes"]["likely"] == []


def test_what_is_wrong_with_a_whole_output_is_said_in_its_numbers(bundle):
    folder, right = bundle
    for wrong, kind, said in (
        (right * np.float32(0.125), "constant factor", "'outputs' is 0.125 times what it should be"),
        (right + np.float32(0.25), "constant offset", "'outputs' is 0.25 too large everywhere"),
        (-right, "wrong sign", "'outputs' has the other sign"),
        (right.T.copy().reshape(right.shape), "transposed output", "all of 'outputs' is transposed"),
        (
            np.concatenate([right[16:24], right[8:16], right[:8], right[24:]]),
            "exchanged tiles",
            "the tiles (0, 0) and (2, 0) of 'outputs', of (8, 128) elements each, have changed places",
        ),
    ):
        likely = palladion.compare(folder, wrong).report["causes"]["likely"]
        assert (likely[0]["kind"], likely[0]["what"]) == (kind, said), likely


def test_a_folder_that_holds_something_is_left_alone(bundle):
    folder, _ = bundle
    with pytest.raises(FileExistsError, match="is not empty"):
        palladion.golden(add, jnp.ones((8, 128)), jnp.ones((8, 128)), out=folder)
    assert outputs_of(folder)[0]["name"] == "o"


def test_pictures_and_kernels_go_to_a_folder(bundle, tmp_path):
    folder, right = bundle
    wrong = right.copy()
    wrong[8:16] = 7
    comparison = palladion.compare(folder, wrong, out=tmp_path / "pages" / "here")
    assert not comparison.ok
    names = set(os.listdir(tmp_path / "pages" / "here"))
    assert {"o.png", "compare.html", "cause_1.pkir"} <= names
    with open(tmp_path / "pages" / "here" / "o.png", "rb") as stream:
        assert stream.read(8) == b"\x89PNG\r\n\x1a\n"
    (tmp_path / "file").write_text("")
    with pytest.raises(palladion.PalladionError, match="cannot be written"):
        palladion.compare(folder, wrong, out=tmp_path / "file")
