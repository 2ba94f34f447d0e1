// The shared library is the objects of all wings and what they link; CMake asks for a source of its own.
