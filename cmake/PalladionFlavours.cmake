# Build types and instrumented builds. Included before any target exists, so that every object file gets the flags.

option(PALLADION_COVERAGE "Count executed lines (clang only; ./dev coverage reads them)" OFF)
set(PALLADION_SANITIZE "" CACHE STRING "Sanitizers for everything, as in -fsanitize=: address,undefined")

# -O2 for all but the SIMD kernels, which ask for -O3 themselves; no debug information, which would double the build time.
# A sanitized build keeps the line tables its reports need and enough optimisation to finish.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
if(PALLADION_SANITIZE)
  set(CMAKE_CXX_FLAGS_DEBUG "-O1 -g1")
endif()

if(PALLADION_SANITIZE)
  # Every finding ends the process: one that is only printed is one that no test sees.
  add_compile_options(-fsanitize=${PALLADION_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  if(PALLADION_SANITIZE MATCHES "address" AND PALLADION_SANITIZE MATCHES "undefined")
    # An access beyond the end of an object, which AddressSanitizer sees too: a sixth of the time to compile a library.
    add_compile_options(-fno-sanitize=object-size)
  endif()
  add_link_options(-fsanitize=${PALLADION_SANITIZE})
endif()
if(PALLADION_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "PALLADION_FUZZ needs clang: libFuzzer is part of it. Use the preset clang-asan.")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
# palladion_not_fuzzed(TARGET): it is in no libFuzzer binary, so nothing reads the counters that steer one: they are a part of
# the time to compile it, and of the time that its tests take. The sanitizers stay, and so does -fsanitize=, by which clang
# knows that a precompiled header fits.
function(palladion_not_fuzzed target)
  if(PALLADION_FUZZ)
    target_compile_options(${target} PRIVATE
      -fno-sanitize-coverage=edge,inline-8bit-counters,pc-table,indirect-calls,trace-cmp,stack-depth)
  endif()
  set_target_properties(${target} PROPERTIES PALLADION_NOT_FUZZED ON)
endfunction()

# palladion_check_fuzzed(TARGET LINK...): stops where something that is fuzzed links what is not.
function(palladion_check_fuzzed target)
  foreach(link ${ARGN})
    if(TARGET ${link})
      get_target_property(not_fuzzed ${link} PALLADION_NOT_FUZZED)
      if(not_fuzzed)
        message(FATAL_ERROR "${target} would be in a libFuzzer binary, and links ${link}, which is NOT_FUZZED")
      endif()
    endif()
  endforeach()
endfunction()

# palladion_not_optimised(TARGET): tests. They run for a moment each and call the library, which stays optimised. Without -O1 a
# file of them compiles in less than half the time in a sanitized build, and with -O1 for -O2 in three quarters in another.
function(palladion_not_optimised target)
  if(PALLADION_SANITIZE)
    target_compile_options(${target} PRIVATE -O0)
  elseif(CMAKE_BUILD_TYPE STREQUAL "Release")
    target_compile_options(${target} PRIVATE -O1)
  endif()
endfunction()

if(PALLADION_COVERAGE)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "PALLADION_COVERAGE needs clang. Use the preset coverage.")
  endif()
  add_compile_options(-fprofile-instr-generate -fcoverage-mapping)
  add_link_options(-fprofile-instr-generate)
endif()

# palladion_fuzzers(DIRS dir... LINKS target... SEEDS dir... [DICT file]): one libFuzzer binary, and one test of it, from every *_fuzz.cc.
# The test is a fixed number of inputs from a fixed seed; `./dev fuzz` takes the time as an argument. A run that uses more
# than 1 GiB, or 25 seconds for one input, is a failure like a crash.
function(palladion_fuzzers)
  if(NOT PALLADION_FUZZ)
    return()
  endif()
  cmake_parse_arguments(ARG "" "DICT" "DIRS;LINKS;SEEDS" ${ARGN})
  foreach(seeds ${ARG_SEEDS})
    if(NOT IS_DIRECTORY ${seeds})
      message(FATAL_ERROR "${seeds}, the seeds of a fuzz target, is not there")
    endif()
  endforeach()
  foreach(dir ${ARG_DIRS})
    file(GLOB found CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${dir}/*_fuzz.cc)
    foreach(source ${found})
      get_filename_component(name ${source} NAME_WE)
      add_executable(${name} ${source})
      palladion_check_fuzzed(${name} ${ARG_LINKS})
      set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fuzz)
      target_link_libraries(${name} PRIVATE palladion_flags ${ARG_LINKS})
      target_link_options(${name} PRIVATE -fsanitize=fuzzer)
      file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/fuzz/corpus/${name})
      set(words)
      if(ARG_DICT)
        set(words -dict=${ARG_DICT})
      endif()
      palladion_add_to_tests(${name})
      add_test(NAME fuzz.${name} COMMAND ${name} ${words} -runs=5000 -seed=1 -max_len=8192 -timeout=25 -rss_limit_mb=1024
        -print_final_stats=1 ${PROJECT_BINARY_DIR}/fuzz/corpus/${name} ${ARG_SEEDS}
        WORKING_DIRECTORY ${PROJECT_BINARY_DIR}/fuzz)
      set_tests_properties(fuzz.${name} PROPERTIES LABELS whole_program)
    endforeach()
  endforeach()
endfunction()
