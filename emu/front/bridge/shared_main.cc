// The shared library is the objects of all wings and what they link; CMake requires it to have a source of its own.
