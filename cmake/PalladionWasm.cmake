# The command as WebAssembly (preset wasm): what emscripten needs in place of what Debian has as libraries. Only the
# command is built. Where X_wasm.cc stands beside X.cc, palladion_library takes it instead; what has no such file is left
# out by name (kernels as C++ functions, which need stacks of their own).

if(PALLADION_TESTS OR PALLADION_BENCH)
  message(FATAL_ERROR "The tests and benchmarks are native programs: use the preset wasm, as ./dev build wasm does.")
endif()

# Debian's emscripten runs its JavaScript tools with acorn, which another Node than Debian's does not find by itself.
set(CMAKE_CXX_LINKER_LAUNCHER ${CMAKE_COMMAND} -E env NODE_PATH=/usr/share/nodejs)

# Exceptions of WebAssembly itself: those that go through JavaScript make every call that may throw several times slower.
add_compile_options(-fwasm-exceptions -include ${PROJECT_SOURCE_DIR}/cmake/wasm_standard_library.h)
add_link_options(-fwasm-exceptions)

# Abseil is compiled here, from the source of Debian's package (tools/build.sh fetches it); of Highway and nlohmann-json
# headers are all that is needed, found beside no header of the host's C library.
set(PALLADION_ABSEIL_SOURCE ${PROJECT_SOURCE_DIR}/build/abseil-source CACHE PATH "Abseil's source")
if(NOT EXISTS ${PALLADION_ABSEIL_SOURCE}/CMakeLists.txt)
  message(FATAL_ERROR "${PALLADION_ABSEIL_SOURCE} does not hold Abseil's source: ./dev build wasm fetches it")
endif()
set(ABSL_PROPAGATE_CXX_STD ON)
set(BUILD_TESTING OFF)
add_subdirectory(${PALLADION_ABSEIL_SOURCE} ${PROJECT_BINARY_DIR}/abseil EXCLUDE_FROM_ALL SYSTEM)

set(wasm_headers ${PROJECT_BINARY_DIR}/headers)
file(MAKE_DIRECTORY ${wasm_headers})
foreach(name hwy nlohmann)
  if(NOT IS_DIRECTORY /usr/include/${name})
    message(FATAL_ERROR "/usr/include/${name} is missing: ./dev setup build installs it")
  endif()
  file(CREATE_LINK /usr/include/${name} ${wasm_headers}/${name} SYMBOLIC)
endforeach()
foreach(name hwy::hwy nlohmann_json::nlohmann_json Threads::Threads)
  add_library(${name} INTERFACE IMPORTED GLOBAL)
  target_include_directories(${name} INTERFACE ${wasm_headers})
endforeach()

# palladion_wasm_module(TARGET): palladion.js with palladion.wasm. The script is a function that makes an instance; a
# program runs once in each, since it ends with its exit code and leaves its memory as it was then.
function(palladion_wasm_module target)
  target_link_options(${target} PRIVATE
    -sMODULARIZE=1 -sEXPORT_NAME=PalladionModule -sENVIRONMENT=web,worker,node -sINVOKE_RUN=0 -sEXIT_RUNTIME=1
    -sEXPORTED_RUNTIME_METHODS=FS,callMain -sFORCE_FILESYSTEM=1
    -sALLOW_MEMORY_GROWTH=1 -sINITIAL_MEMORY=32MB -sMAXIMUM_MEMORY=4GB -sTOTAL_STACK=16MB)
endfunction()
