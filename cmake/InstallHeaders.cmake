# Copies the headers of emu/public_headers.txt and, transitively, every header of this repository that they include. Run by `cmake --install`, which sets
# PALLADION_SOURCE_DIR and PALLADION_HEADER_DIR.

cmake_policy(VERSION 3.25)
file(STRINGS ${PALLADION_SOURCE_DIR}/emu/public_headers.txt waiting REGEX "^[^#]")
set(done)
while(waiting)
  list(POP_FRONT waiting header)
  if(header IN_LIST done)
    continue()
  endif()
  list(APPEND done ${header})
  file(STRINGS ${PALLADION_SOURCE_DIR}/${header} lines REGEX "^[ \t]*#[ \t]*include[ \t]*\"")
  foreach(line ${lines})
    string(REGEX REPLACE "^[^\"]*\"([^\"]*)\".*$" "\\1" included "${line}")
    # What is not in the repository, Abseil's headers for one, comes from its own package.
    if(EXISTS ${PALLADION_SOURCE_DIR}/${included})
      list(APPEND waiting ${included})
    endif()
  endforeach()
  get_filename_component(folder ${header} DIRECTORY)
  file(INSTALL ${PALLADION_SOURCE_DIR}/${header} DESTINATION ${PALLADION_HEADER_DIR}/${folder})
endwhile()
