// Common parts of all families' texts: counted lines, fresh names, an agent's running sum, and branches on it, for the
// text and for the reference machine at once.
#ifndef PALLADION_EMU_TOOLS_HUNT_HUNT_WRITER_H_
#define PALLADION_EMU_TOOLS_HUNT_HUNT_WRITER_H_

#include <string>
#include <vector>

#include "emu/tools/hunt/hunt_kernel.h"

namespace palladion::hunt {

class TextWriter {
 public:
  explicit TextWriter(const HuntKernel& kernel) : kernel_(kernel) {}
  TextWriter(const TextWriter&) = delete;
  TextWriter& operator=(const TextWriter&) = delete;
  virtual ~TextWriter() = default;

 protected:
  // Any but a branch: its lines, and what it is.
  virtual void Write(const Op& op) = 0;

  void Ops(const std::vector<Op>& ops);
  void Line(const std::string& text);
  std::string Fresh();
  void Record(What what, const Op* op) { code_->push_back({op, what, line_, later_}); }
  void Add(const std::string& term);  // sum = 3 * sum + term

  static bool IsPoint(Part part) { return part == Part::kFirst || part == Part::kMiddle; }
  static std::string Columns(Part part);
  static std::string TypeOf(Part part);  // of an access to it

  const HuntKernel& kernel_;
  Written out_;
  std::vector<Instr>* code_ = nullptr;  // of the agent
  std::string sum_;
  bool later_ = false;
  int agent_ = 0, line_ = 1, values_ = 0;

 private:
  void If(const Op& op);
};

}  // namespace palladion::hunt

#endif  // PALLADION_EMU_TOOLS_HUNT_HUNT_WRITER_H_
