# `./dev site`: docs/ as HTML (tools/site_pages.py). Sourced by dev.

# Sphinx has an environment of its own, with .venv's packages behind its own: the reference reads docstrings of a
# package that needs JAX.
setup_site() {
  local requirements="$ROOT/docs/site/requirements.txt" folder="$ROOT/build/site/venv" key
  key="$(sha256sum <"$requirements") $("$PYTHON" -V)"
  [[ -f $folder/stamp && $(<"$folder/stamp") == "$key" ]] && return 0
  say "making build/site/venv with the versions of docs/site/requirements.txt"
  rm -rf "$folder"
  "$PYTHON" -m venv "$folder" &&
    "$folder/bin/python" -m pip install --disable-pip-version-check --no-deps -q -r "$requirements" &&
    "$PYTHON" -c 'import site; print(f"import site; site.addsitedir({site.getsitepackages()[0]!r})")' \
      >"$(echo "$folder"/lib/python3.*/site-packages)/behind.pth" &&
    echo "$key" >"$folder/stamp"
}

# build_site [--browser]: with the page that runs the command, which stands in build-wasm. A warning of Sphinx, such as a link
# that leads nowhere, is an error.
build_site() {
  setup_site &&
    "$PYTHON" tools/site_pages.py stage &&
    { [[ ${1:-} != --browser ]] || "$PYTHON" tools/browser_page.py build-wasm build/site/source; } &&
    rm -rf build/site/html &&
    build/site/venv/bin/python -m sphinx -q -W --keep-going -d build/site/doctrees -b html build/site/source build/site/html &&
    "$PYTHON" tools/site_pages.py check
}

# test_notebooks [NAME...]: the chapters of the course in Jupyter's kernel (tools/run_notebooks.py), all of them by default.
test_notebooks() { setup_site && build/site/venv/bin/python tools/run_notebooks.py "$@"; }

# Of the chapters, one here; `./dev test-long notebooks` runs all of them.
test_site() { build_site && "$PYTHON" tools/site_questions.py && test_notebooks 01; }
