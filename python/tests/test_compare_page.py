"""The page that `palladion.compare` writes, in a real browser."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import browser_pages
import palladion
from test_golden_bundle import add


@pytest.fixture
def bundle(tmp_path):
    x = jax.random.normal(jax.random.key(0), (32, 128))
    (folder,) = palladion.golden(add, x, jnp.ones_like(x), out=tmp_path / "bundle")
    return folder, np.asarray(x) + np.float32(1)


def test_the_page_draws_errors_under_axes_and_blocks(bundle, tmp_path):
    folder, right = bundle
    wrong = right.copy()
    wrong[8:16] += np.float32(10) ** np.linspace(-4, 1, 128, dtype=np.float32)
    palladion.compare(folder, wrong, out=tmp_path / "page")
    page = browser_pages.browser(tmp_path / "page" / "compare.html", "--dump-dom").stdout
    drawn = page.partition("</script>")[2] + page.partition("<script>")[0]
    for row in (0, 8, 16, 24):
        assert re.search(rf"<text [^>]*text-anchor=\"end\"[^>]*>{row}</text>", drawn), row
    assert (
        "<image " in drawn
        and 'class="grid"' in drawn
        and "prefers-color-scheme" not in drawn
        and "color-scheme:light dark" in drawn
    )
    for power in ("1e-4", "1e0", "1e1"):
        assert f"</i>{power}</span>" in drawn, power
    assert drawn.count("<details><summary>o[") == 5 and "written by swap" in drawn
