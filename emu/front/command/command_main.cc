// The command `palladion`: arguments and exit code. What escapes RunCommand, above all memory for a message, ends here.
#include <unistd.h>

#include <exception>
#include <iostream>

#include "emu/front/command/command.h"
#include "semantics/base/fd_stream.h"
#include "semantics/base/unfinished.h"

int main(int argc, char** argv) {
  palladion::RemoveUnfinishedWhenKilled();
  static palladion::FdBuffer buffer(STDOUT_FILENO);  // it knows why it could not be written
  static std::ostream out(&buffer);
  std::cerr.tie(&out);
  try {
    const palladion::ExitCode code =
        palladion::command::RunCommand(std::vector<std::string>(argv + 1, argv + argc),
                                       {out, std::cerr, ::isatty(STDOUT_FILENO) != 0, ::isatty(STDERR_FILENO) != 0});
    out.flush();
    if (buffer.status().ok()) return static_cast<int>(code);
    std::cerr << "palladion: standard output could not be written to its end: " << buffer.status().message() << "\n";
    return static_cast<int>(palladion::ExitCodeOf(buffer.status()));
  } catch (const std::bad_alloc&) {
    std::cerr << "palladion: out of memory\n";
    return static_cast<int>(palladion::ExitCode::kBudget);
  } catch (const std::exception& e) {
    std::cerr << "palladion: internal error: " << e.what() << "\n";
    return static_cast<int>(palladion::ExitCode::kInternal);
  }
}
