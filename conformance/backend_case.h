// A case by a backend: its folder with the kernel and the inputs, the question, and what the answer is worth. Whatever
// the backend does wrong fails this case alone; its program starts anew for the next. Rules: docs/guides/backends.md.
#ifndef PALLADION_CONFORMANCE_BACKEND_CASE_H_
#define PALLADION_CONFORMANCE_BACKEND_CASE_H_

#include <atomic>
#include <chrono>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "conformance/backend_process.h"
#include "conformance/backend_protocol.h"
#include "conformance/case_file.h"
#include "conformance/case_record.h"

namespace palladion::conformance {

struct BackendOptions {
  std::string command;  // for the shell
  std::chrono::milliseconds time{60000};
  std::string folder;  // for the folders of cases, each of which is removed again
};

class Backend {
 public:
  Backend(BackendOptions options, const std::atomic<bool>& interrupted)
      : options_(std::move(options)), interrupted_(interrupted) {}

  // Fills in the record's outcome, messages and codes. Cancelled: interrupted, and the record says nothing.
  absl::Status Run(const Case& test, CaseRecord& record);

 private:
  absl::StatusOr<BackendAnswer> Ask(const BackendRequest& request);

  BackendOptions options_;
  const std::atomic<bool>& interrupted_;
  std::unique_ptr<BackendProcess> process_;
};

// What the answer is worth. The outputs are read from the request's folder.
void JudgeAnswer(const BackendRequest& request, const BackendAnswer& answer, CaseRecord& record);

}  // namespace palladion::conformance

#endif  // PALLADION_CONFORMANCE_BACKEND_CASE_H_
