#include "conformance/suite.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <filesystem>
#include <mutex>
#include <thread>
#include <utility>

namespace palladion::conformance {
namespace {

CaseRecord NewRecord(const SelectedCase& selected) {
  CaseRecord record{.name = selected.name, .hash = selected.hash};
  SetPlace(selected, record);
  if (selected.test.ok()) {
    record.specs = selected.test->specs;
  } else {
    record.outcome = Outcome::kFailed;
    record.messages = {std::string(selected.test.status().message())};
  }
  return record;
}

class Suite {
 public:
  Suite(const std::vector<SelectedCase>& cases, const SuiteOptions& options, const std::atomic<bool>& interrupted,
        std::vector<std::optional<CaseRecord>>& records, const OnDone& on_done)
      : cases_(cases), options_(options), interrupted_(interrupted), records_(records), on_done_(on_done) {}

  absl::Status Run() {
    std::vector<std::thread> workers;
    for (std::size_t i = 0; i < std::min(options_.jobs, cases_.size()); ++i) workers.emplace_back([this] { Work(); });
    for (std::thread& worker : workers) worker.join();
    return error_;
  }

 private:
  void Work() {
    std::optional<Backend> backend;
    if (options_.backend.has_value()) backend.emplace(*options_.backend, interrupted_);
    for (std::size_t i = next_++; i < cases_.size() && !interrupted_ && !failed_; i = next_++) {
      if (records_[i].has_value()) continue;
      CaseRecord record = NewRecord(cases_[i]);
      const auto start = std::chrono::steady_clock::now();
      const absl::Status status = RunOne(cases_[i], backend, record);
      record.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      if (absl::IsCancelled(status)) return;
      const std::lock_guard<std::mutex> lock(mutex_);
      if (status.ok()) records_[i] = std::move(record);
      if (error_.ok()) error_ = status.ok() ? on_done_(i, *records_[i]) : status;
      failed_ = !error_.ok();
    }
  }

  absl::Status RunOne(const SelectedCase& selected, std::optional<Backend>& backend, CaseRecord& record) const {
    if (!selected.test.ok()) return absl::OkStatus();
    try {
      if (backend.has_value()) return backend->Run(*selected.test, record);
      record.messages = RunCase(*selected.test, options_.forms).failures;
    } catch (const std::exception& error) {  // memory is short; other cases may need less
      record.messages = {error.what()};
    }
    if (!record.messages.empty()) record.outcome = Outcome::kFailed;
    return absl::OkStatus();
  }

  const std::vector<SelectedCase>& cases_;
  const SuiteOptions& options_;
  const std::atomic<bool>& interrupted_;
  std::vector<std::optional<CaseRecord>>& records_;
  const OnDone& on_done_;
  std::atomic<std::size_t> next_{0};
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  absl::Status error_;
};

}  // namespace

void SetPlace(const SelectedCase& selected, CaseRecord& record) {
  namespace fs = std::filesystem;
  record.file = (fs::path(selected.name).parent_path() / fs::path(selected.path).filename()).string();
  record.line = selected.line;
}

absl::Status RunSuite(const std::vector<SelectedCase>& cases, const SuiteOptions& options,
                      const std::atomic<bool>& interrupted, std::vector<std::optional<CaseRecord>>& records,
                      const OnDone& on_done) {
  records.resize(cases.size());
  return Suite(cases, options, interrupted, records, on_done).Run();
}

}  // namespace palladion::conformance
