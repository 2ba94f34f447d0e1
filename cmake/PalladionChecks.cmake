# Tests of the tree itself rather than of what it computes: they read text, and need Python's standard library only.

find_package(Python3 3.11 REQUIRED COMPONENTS Interpreter)

# Labelled release_only: they say the same for every build, so `./dev test` runs them in one.
function(palladion_check name)
  add_test(NAME tree.${name} COMMAND ${Python3_EXECUTABLE} ${ARGN} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(tree.${name} PROPERTIES LABELS release_only)
endfunction()

palladion_check(include_arrows conformance/include_arrows_test.py)
palladion_check(import_arrows conformance/import_arrows_test.py)
palladion_check(one_definition conformance/one_definition_test.py)
palladion_check(namespaces conformance/namespaces_test.py)
palladion_check(standard_includes conformance/standard_includes_test.py)
palladion_check(own_includes conformance/own_includes_test.py)
palladion_check(operation_names conformance/operation_names_test.py)
palladion_check(limits tools/limits.py)
palladion_check(links tools/links.py)
palladion_check(prose tools/prose.py)
palladion_check(words tools/words.py)
palladion_check(link_arrows tools/link_arrows.py ${PROJECT_BINARY_DIR})
if(TARGET palladion)
  palladion_check(generated_docs tools/gen_docs.py --check --palladion $<TARGET_FILE:palladion>)
endif()
