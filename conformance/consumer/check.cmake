# Installs the build given as BUILD_DIR into a folder of its own, then configures, builds and runs the consumer against it.

set(work ${BUILD_DIR}/consumer)
file(REMOVE_RECURSE ${work})

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "failed (${status}): ${ARGN}")
  endif()
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${work}/prefix)
run(${work}/prefix/bin/palladion conformance --tier quick)  # finds its cases there
run(${CMAKE_COMMAND} -S ${SOURCE_DIR} -B ${work}/build -G Ninja -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_PREFIX_PATH=${work}/prefix)
run(${CMAKE_COMMAND} --build ${work}/build)
run(${work}/build/consumer)
# The program of docs/learn/cpp-kernels.md, and what it prints.
run(${CMAKE_COMMAND} -S ${SOURCE_DIR}/quick_start -B ${work}/quick_start -G Ninja -DCMAKE_CXX_COMPILER=${CXX}
  -DCMAKE_PREFIX_PATH=${work}/prefix)
run(${CMAKE_COMMAND} --build ${work}/quick_start)
execute_process(COMMAND ${work}/quick_start/quick_start OUTPUT_VARIABLE printed RESULT_VARIABLE status)
if(NOT status EQUAL 0 OR NOT printed MATCHES "^2 4 6 8 \nverdict: proved")
  message(FATAL_ERROR "the quick start gave ${status} and printed: ${printed}")
endif()
