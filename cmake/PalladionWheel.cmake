# What the Python wheel holds besides the Python files: the shared library and the command, inside the package. Included for builds by
# scikit-build-core (pyproject.toml) only. A wheel keeps no symbolic links, so the library has no version in its name.
#
# PALLADION_PREBUILT: a build folder whose libpalladion.so and palladion are taken as they are; nothing is compiled then.

set(PALLADION_PREBUILT "" CACHE PATH "Folder with a libpalladion.so and a palladion to put into the wheel")

if(PALLADION_PREBUILT)
  foreach(name libpalladion.so palladion)
    file(REAL_PATH ${PALLADION_PREBUILT}/${name} file)
    if(NOT EXISTS ${file})
      message(FATAL_ERROR "PALLADION_PREBUILT is ${PALLADION_PREBUILT}, which has no ${name}: build the targets palladion and palladion_shared there")
    endif()
    install(PROGRAMS ${file} DESTINATION palladion RENAME ${name} COMPONENT wheel)
  endforeach()
  add_custom_target(palladion_wheel)
  return()
endif()

add_custom_target(palladion_wheel DEPENDS palladion palladion_shared)
install(TARGETS palladion_shared palladion
  LIBRARY DESTINATION palladion COMPONENT wheel RUNTIME DESTINATION palladion COMPONENT wheel)
