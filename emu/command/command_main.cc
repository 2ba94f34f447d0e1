// The command `palladion`: arguments and exit code. What escapes RunCommand, above all memory for a message, ends here.
#include <unistd.h>

#include <exception>
#include <iostream>

#include "emu/command/command.h"

int main(int argc, char** argv) {
  try {
    const palladion::ExitCode code =
        palladion::RunCommand(std::vector<std::string>(argv + 1, argv + argc),
                              {std::cout, std::cerr, ::isatty(STDOUT_FILENO) != 0, ::isatty(STDERR_FILENO) != 0});
    std::cout.flush();
    if (!std::cout) {
      std::cerr << "palladion: cannot write to standard output\n";
      return static_cast<int>(palladion::ExitCode::kMalformed);
    }
    return static_cast<int>(code);
  } catch (const std::bad_alloc&) {
    std::cerr << "palladion: out of memory\n";
    return static_cast<int>(palladion::ExitCode::kBudget);
  } catch (const std::exception& e) {
    std::cerr << "palladion: internal error: " << e.what() << "\n";
    return static_cast<int>(palladion::ExitCode::kInternal);
  }
}
