// peak_memory COMMAND...: runs the command, its output thrown away, and prints its peak resident memory in bytes. For
// bench/measure_case.py: a child starts with its parent's peak, so what starts it must be small, which Python is not.
// Exits as the command does; 127 when it cannot be started.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

int main(int argc, char** argv) {
  if (argc < 2) return 127;
  const pid_t child = fork();
  if (child == 0) {
    dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
    execvp(argv[1], argv + 1);
    _exit(127);
  }
  int status = 0;
  rusage usage{};
  if (child < 0 || wait4(child, &status, 0, &usage) != child) return 127;
  std::printf("%ld\n", usage.ru_maxrss * 1024);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 126;
}
