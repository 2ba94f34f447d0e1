# What `cmake --install` gives: the command and the conformance cases with their runner, one shared library with the C++ interface and the C ABI, the public headers with
# every header they include, and the package for find_package(Palladion). The static libraries of the folders stay inside.

include(CMakePackageConfigHelpers)

set(PALLADION_INCLUDEDIR ${CMAKE_INSTALL_INCLUDEDIR}/palladion)
set(PALLADION_CMAKEDIR ${CMAKE_INSTALL_LIBDIR}/cmake/Palladion)

set_target_properties(palladion_shared PROPERTIES
  EXPORT_NAME palladion VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
target_include_directories(palladion_shared INTERFACE $<INSTALL_INTERFACE:${PALLADION_INCLUDEDIR}>)
target_compile_features(palladion_shared INTERFACE cxx_std_20)
# Types of Abseil stand in the public headers, so who uses them links it too.
target_link_libraries(palladion_shared INTERFACE
  absl::status absl::statusor absl::strings absl::span absl::inlined_vector)

install(TARGETS palladion_shared EXPORT PalladionTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
# The command looks for the runner of the cases beside itself, and the runner for the cases in share.
install(TARGETS palladion conformance_run RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/conformance/cases/ DESTINATION ${CMAKE_INSTALL_DATADIR}/palladion/conformance_cases)
install(EXPORT PalladionTargets NAMESPACE Palladion:: DESTINATION ${PALLADION_CMAKEDIR})

configure_package_config_file(cmake/PalladionConfig.cmake.in ${PROJECT_BINARY_DIR}/cmake/PalladionConfig.cmake
  INSTALL_DESTINATION ${PALLADION_CMAKEDIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cmake/PalladionConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/cmake/PalladionConfig.cmake ${PROJECT_BINARY_DIR}/cmake/PalladionConfigVersion.cmake
  DESTINATION ${PALLADION_CMAKEDIR})

# What the public headers include is read when installing, so there is no second list to forget.
install(CODE "set(PALLADION_SOURCE_DIR \"${PROJECT_SOURCE_DIR}\")
set(PALLADION_HEADER_DIR \"\${CMAKE_INSTALL_PREFIX}/${PALLADION_INCLUDEDIR}\")")
install(SCRIPT ${PROJECT_SOURCE_DIR}/cmake/InstallHeaders.cmake)

# The consumer is a project of its own, built against an install tree by find_package alone.
if(PALLADION_TESTS AND NOT PALLADION_SANITIZE AND NOT PALLADION_COVERAGE)
  add_test(NAME package.consumer
    COMMAND ${CMAKE_COMMAND} -DBUILD_DIR=${PROJECT_BINARY_DIR} -DSOURCE_DIR=${PROJECT_SOURCE_DIR}/conformance/consumer
      -DCXX=${CMAKE_CXX_COMPILER} -P ${PROJECT_SOURCE_DIR}/conformance/consumer/check.cmake)
  set_tests_properties(package.consumer PROPERTIES TIMEOUT 900 LABELS release_only)
endif()
