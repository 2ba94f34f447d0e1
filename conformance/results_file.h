// The results of a suite as they come: a line of JSON for what is run, then one for each case that is done. A run that
// was stopped, or killed, goes on from it. Each line is written at once, so that the death of the process costs at most
// the line that it was writing; what a crash of the host costs is not promised.
#ifndef PALLADION_CONFORMANCE_RESULTS_FILE_H_
#define PALLADION_CONFORMANCE_RESULTS_FILE_H_

#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "conformance/case_record.h"

namespace palladion::conformance {

class ResultsFile {
 public:
  // `suite` is what is run ("full"), and with what; the file is made where there is none. InvalidArgument: it cannot be
  // read or written, is no results file, or is one of another suite.
  static absl::StatusOr<ResultsFile> Open(const std::string& path, const std::string& suite);
  ResultsFile(ResultsFile&& other) noexcept;
  ResultsFile& operator=(ResultsFile&&) = delete;
  ~ResultsFile();

  // What was there when it was opened, by the case's name.
  const std::map<std::string, CaseRecord>& done() const { return done_; }

  absl::Status Add(const CaseRecord& record);

 private:
  ResultsFile() = default;
  absl::Status Read(const std::string& suite);
  absl::Status Append(const std::string& line);
  absl::Status Wrong(const std::string& what) const;

  std::string path_;
  int fd_ = -1;
  std::map<std::string, CaseRecord> done_;
};

}  // namespace palladion::conformance

#endif  // PALLADION_CONFORMANCE_RESULTS_FILE_H_
