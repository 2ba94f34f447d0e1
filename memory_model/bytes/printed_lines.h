// What kernels print. It is kept until the run ends, so a print in a long loop needs an end: the first lines, and one
// that says how many more there were.
#ifndef PALLADION_MEMORY_MODEL_BYTES_PRINTED_LINES_H_
#define PALLADION_MEMORY_MODEL_BYTES_PRINTED_LINES_H_

#include <cstddef>
#include <string>
#include <vector>

namespace palladion::memory_model {

class PrintedLines {
 public:
  void Add(std::string line);
  const std::vector<std::string>& lines() const { return lines_; }

 private:
  std::vector<std::string> lines_;
  std::size_t bytes_ = 0, dropped_ = 0;
};

}  // namespace palladion::memory_model

#endif  // PALLADION_MEMORY_MODEL_BYTES_PRINTED_LINES_H_
