# What the Python wheel holds besides the Python files: the shared library, the command, the conformance cases with their runner and the pages of docs/learn, inside the package. Included for builds by
# scikit-build-core (pyproject.toml) only. A wheel keeps no symbolic links, so the library has no version in its name.
#
# PALLADION_PREBUILT: a build folder whose libpalladion.so, palladion and conformance_run are taken as they are; nothing is compiled then.

set(PALLADION_PREBUILT "" CACHE PATH "Folder with a libpalladion.so, a palladion and a conformance_run to put into the wheel")

install(DIRECTORY ${PROJECT_SOURCE_DIR}/conformance/cases/ DESTINATION palladion/conformance_cases COMPONENT wheel)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/learn/ DESTINATION palladion/learn/chapters COMPONENT wheel)

if(PALLADION_PREBUILT)
  foreach(name libpalladion.so palladion conformance_run)
    file(REAL_PATH ${PALLADION_PREBUILT}/${name} file)
    if(NOT EXISTS ${file})
      message(FATAL_ERROR "PALLADION_PREBUILT is ${PALLADION_PREBUILT}, which has no ${name}: build the targets palladion, palladion_shared and conformance_run there")
    endif()
    install(PROGRAMS ${file} DESTINATION palladion RENAME ${name} COMPONENT wheel)
  endforeach()
  add_custom_target(palladion_wheel)
  return()
endif()

add_custom_target(palladion_wheel DEPENDS palladion palladion_shared conformance_run)
install(TARGETS palladion_shared palladion conformance_run
  LIBRARY DESTINATION palladion COMPONENT wheel RUNTIME DESTINATION palladion COMPONENT wheel)
