# How every folder declares its library and its unit tests: the same warnings, no contraction of a*b+c (the same bits on
# every host), and sources found by name so that one more operation is one more file and no list to edit.

# On in every build that tests us: the presets but release, and release as `./dev test` and `./dev build` configure it. Off for
# users, whose compiler may be newer than any that we tried, and may warn of what is no mistake.
option(PALLADION_WERROR "Warnings are errors" OFF)

add_library(palladion_flags INTERFACE)
target_compile_options(palladion_flags INTERFACE
  -Wall -Wextra -Wno-missing-field-initializers -Wshadow -Wnon-virtual-dtor $<$<BOOL:${PALLADION_WERROR}>:-Werror>
  # g++ 12 and 14 take what they have inlined of std::string and std::vector for accesses out of bounds (GCC 105329, 105651);
  # precompiled headers hide from them that it is the library's own. The sanitizers find what these would.
  $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds> $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow> $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overread>
  -ffp-contract=off -fno-math-errno)
# What a std::variant does not hold is "uninitialized" to g++ as soon as it inlines more, as it does in files that are compiled
# together. The g++ 12 of Debian 12 compiles the same files with this warning, and `./dev lint` each by itself.
if(PALLADION_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
  target_compile_options(palladion_flags INTERFACE -Wno-maybe-uninitialized)
endif()
# -isystem keeps warnings of Debian's headers out of ours; tests and sources name every header from the repository's root.
target_include_directories(palladion_flags INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>)

# ccache keeps what a header did not change, which is more than a precompiled header saves: with it they are left out.
if(CMAKE_CXX_COMPILER_LAUNCHER MATCHES "ccache")
  option(PALLADION_PCH "Read the standard library's headers once for each library (cmake/standard_headers.h)" OFF)
else()
  option(PALLADION_PCH "Read the standard library's headers once for each library (cmake/standard_headers.h)" ON)
endif()

# palladion_precompile(TARGET [ALONE] [TESTS]): the headers precompiled once for all libraries, and once, with
# GoogleTest's, for all tests: g++ takes five to nine seconds for each time. ALONE: the target has flags of its own, with
# which it cannot read what was precompiled for others. So it is with a file that has such; SKIP_PRECOMPILE_HEADERS says so.
function(palladion_precompile target)
  cmake_parse_arguments(ARG "ALONE;TESTS" "" "" ${ARGN})
  if(NOT PALLADION_PCH)
    return()
  endif()
  set(headers ${PROJECT_SOURCE_DIR}/cmake/standard_headers.h)
  if(ARG_ALONE)
    target_precompile_headers(${target} PRIVATE ${headers})
    return()
  endif()
  set(holder palladion_headers)
  if(ARG_TESTS)
    set(holder palladion_test_headers)
    list(APPEND headers <gtest/gtest.h>)
  endif()
  if(NOT TARGET ${holder})
    set(source ${PROJECT_BINARY_DIR}/generated/${holder}.cc)
    file(CONFIGURE OUTPUT ${source} CONTENT "int main() { return 0; }\n" @ONLY)
    if(ARG_TESTS)  # programs are compiled with other flags than what a shared library takes in
      add_executable(${holder} ${source})
      target_link_libraries(${holder} PRIVATE GTest::gtest)
    else()
      add_library(${holder} STATIC ${source})
    endif()
    target_link_libraries(${holder} PRIVATE palladion_flags absl::status absl::statusor absl::strings absl::span
      absl::inlined_vector absl::flat_hash_map)
    target_precompile_headers(${holder} PRIVATE ${headers})
    if(ARG_TESTS)
      palladion_not_optimised(${holder})  # or the tests, which are not, could not read it
    endif()
  endif()
  target_precompile_headers(${target} REUSE_FROM ${holder})
endfunction()

# Headers are most of what a compiler reads: together, a library's files take less than half as long. Off where one is at
# work on a few files, and where clang-tidy looks at them.
option(PALLADION_UNITY "Compile files of a library together, as far as tools/unity_groups.py finds no clash" OFF)
if(PALLADION_UNITY)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
endif()

# palladion_unite(TARGET SOURCE...): sources of this folder. Those with compile options of their own stay alone.
function(palladion_unite target)
  if(NOT PALLADION_UNITY)
    return()
  endif()
  set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/unity_groups.py)
  execute_process(COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/unity_groups.py ${ARGN}
    OUTPUT_VARIABLE lines COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "[^\n]+" lines "${lines}")
  foreach(line IN LISTS lines)
    string(REGEX MATCH "^([0-9]+) (.*)$" ignored "${line}")
    set_source_files_properties(${CMAKE_MATCH_2} PROPERTIES UNITY_GROUP ${target}_${CMAKE_MATCH_1})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

# palladion_choose_platform(SUFFIX CHOSEN LIST): takes X_SUFFIX.cc out of the list, or where CHOSEN is true X.cc.
function(palladion_choose_platform suffix chosen list)
  set(others ${${list}})
  list(FILTER others INCLUDE REGEX "_${suffix}\\.cc$")
  if(chosen)
    list(TRANSFORM others REPLACE "_${suffix}\\.cc$" ".cc")
  endif()
  set(kept ${${list}})
  list(REMOVE_ITEM kept ${others})
  set(${list} ${kept} PARENT_SCOPE)
endfunction()

set(PALLADION_ARM64 OFF)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64|ARM64)$" AND NOT EMSCRIPTEN)
  set(PALLADION_ARM64 ON)
endif()

# palladion_library(NAME DIRS dir... [WITHOUT file...] LINKS target... [FLAGS_OF_ITS_OWN] [NOT_FUZZED]): one static library
# from every .cc of the folders that is not a test, but the files WITHOUT. X_wasm.cc stands in for X.cc where the preset
# wasm builds, X_arm64.cc on arm64, and nowhere else. NOT_FUZZED: no libFuzzer binary links it (palladion_not_fuzzed).
function(palladion_library name)
  cmake_parse_arguments(ARG "FLAGS_OF_ITS_OWN;NOT_FUZZED" "" "DIRS;LINKS;WITHOUT" ${ARGN})
  set(sources)
  foreach(dir ${ARG_DIRS})
    file(GLOB found CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${dir}/*.cc)
    list(FILTER found EXCLUDE REGEX "_(test|fuzz|main)\\.cc$")
    list(APPEND sources ${found})
  endforeach()
  palladion_choose_platform(wasm "${EMSCRIPTEN}" sources)
  palladion_choose_platform(arm64 "${PALLADION_ARM64}" sources)
  foreach(file ${ARG_WITHOUT})
    list(FILTER sources EXCLUDE REGEX "/${file}$")
  endforeach()
  if(NOT sources)  # a folder that is still empty: nothing to build, yet what it links to is declared
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE palladion_flags ${ARG_LINKS})
    return()
  endif()
  add_library(${name} STATIC ${sources})
  target_link_libraries(${name} PUBLIC palladion_flags ${ARG_LINKS})
  if(ARG_NOT_FUZZED)
    palladion_not_fuzzed(${name})
  else()
    palladion_check_fuzzed(${name} ${ARG_LINKS})
  endif()
  if(ARG_FLAGS_OF_ITS_OWN)
    palladion_precompile(${name} ALONE)
  else()
    palladion_precompile(${name})
  endif()
  palladion_unite(${name} ${sources})
endfunction()

# What the tests of a build run, as one target: `./dev test` builds no more than this of the sanitized build.
function(palladion_add_to_tests name)
  if(NOT TARGET palladion_test_programs)
    add_custom_target(palladion_test_programs)
  endif()
  add_dependencies(palladion_test_programs ${name})
endfunction()

# palladion_tests(NAME [OPTIMISED] DIRS dir... LINKS target... [LABELS label...] [DISCOVER mode]): one GoogleTest binary
# from every *_test.cc of the folders; mode is gtest_discover_tests' DISCOVERY_MODE. `./dev test` leaves the tests labelled
# release_only out of the sanitized build. OPTIMISED are tests that calculate for longer than -O1 takes to compile them.
function(palladion_tests name)
  if(NOT PALLADION_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "OPTIMISED" "DISCOVER" "DIRS;LINKS;LABELS" ${ARGN})
  if(NOT ARG_DISCOVER)
    set(ARG_DISCOVER POST_BUILD)
  endif()
  set(sources)
  foreach(dir ${ARG_DIRS})
    file(GLOB found CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${dir}/*_test.cc)
    list(APPEND sources ${found})
  endforeach()
  if(NOT sources)
    return()
  endif()
  add_executable(${name} ${sources})
  target_link_libraries(${name} PRIVATE palladion_flags ${ARG_LINKS} GTest::gtest GTest::gtest_main)
  palladion_not_fuzzed(${name})
  if(NOT ARG_OPTIMISED)
    palladion_precompile(${name} TESTS)  # the header is not optimised, and the others could not read it
    palladion_not_optimised(${name})
  endif()
  palladion_add_to_tests(${name})
  palladion_unite(${name} ${sources})
  target_compile_definitions(${name} PRIVATE PALLADION_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  if(PALLADION_SANITIZE)
    target_compile_definitions(${name} PRIVATE PALLADION_SANITIZED)
  endif()
  gtest_discover_tests(${name} DISCOVERY_MODE ${ARG_DISCOVER} DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 900 LABELS "${ARG_LABELS}")
endfunction()

# palladion_exhaustive(NAME SOURCE source LINKS target...): a check over every input of a type, too long for the tests.
# `./dev exhaustive` builds and runs these; each exits nonzero when an input is wrong.
function(palladion_exhaustive name)
  cmake_parse_arguments(ARG "" "SOURCE" "LINKS" ${ARGN})
  if(NOT PALLADION_TESTS)
    return()
  endif()
  add_executable(${name} ${ARG_SOURCE})
  target_link_libraries(${name} PRIVATE palladion_flags ${ARG_LINKS})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/exhaustive)
endfunction()

# palladion_embed(TARGET SYMBOL FILE): the file's text as `const char* SYMBOL` in a generated header of the file's
# folder and name, with its dot replaced: page/a.html gives page/a_html.h. What is shown to people is written as what it is.
function(palladion_embed target symbol file)
  get_filename_component(name ${file} NAME)
  get_filename_component(folder ${file} DIRECTORY)
  string(REPLACE "." "_" header ${name})
  file(RELATIVE_PATH where ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/${folder})
  set(output ${PROJECT_BINARY_DIR}/generated/${where}/${header}.h)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DINPUT=${CMAKE_CURRENT_SOURCE_DIR}/${file} -DOUTPUT=${output} -DSYMBOL=${symbol}
      -P ${PROJECT_SOURCE_DIR}/cmake/Embed.cmake
    DEPENDS ${file} ${PROJECT_SOURCE_DIR}/cmake/Embed.cmake VERBATIM)
  target_sources(${target} PRIVATE ${output})
  target_include_directories(${target} PRIVATE $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/generated>)
endfunction()
