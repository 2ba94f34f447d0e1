// The shared library is palladion_emu and what it links, whole; CMake asks for a source of its own.
