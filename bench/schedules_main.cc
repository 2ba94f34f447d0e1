// What schedules of one recorded kernel cost beside the same multiply in double by Eigen, one core:
// schedules_bench DIR M N K SCHEDULES. Prints one line of JSON, seconds of processor time of all threads: wall time
// would be that of whatever else the host does. What it does not show: reading files, parsing and preparing.
#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <limits>
#include <sstream>
#include <utility>
#include <vector>

#include "bench/dot_native.h"
#include "emu/check.h"
#include "emu/emulate.h"
#include "emu/report.h"
#include "semantics/tensor/npy.h"

namespace palladion {
namespace {

constexpr int kRounds = 9, kThreads = 2;

double ProcessorSeconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

int Fail(const absl::Status& status) {
  std::cerr << std::string(status.message()) << "\n";
  return 1;
}

// Processor time of one check; below 0: it failed, or found something that is more than a note.
double CheckSeconds(const PreparedKernel& kernel, const std::vector<Tensor>& inputs, std::int64_t schedules,
                    int threads) {
  CheckOptions options;
  options.seeds = schedules;
  options.all_seeds = true;  // the first proves the kernel
  options.threads = threads;
  const double begin = ProcessorSeconds();
  const absl::StatusOr<Report> report = Check(kernel, inputs, options);
  const double took = ProcessorSeconds() - begin;
  if (!report.ok() || report->schedules != schedules) return -1;
  const bool clean = std::all_of(report->findings.begin(), report->findings.end(),
                                 [](const ReportedFinding& one) { return one.severity == "note"; });
  return clean ? took : -1;
}

int Main(const std::filesystem::path& dir, std::size_t m, std::size_t n, std::size_t k, std::int64_t schedules) {
  std::ifstream file(dir / "kernel.pkir", std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  const auto kernel = PrepareText(text.str());
  if (!kernel.ok()) return Fail(kernel.status());
  std::vector<Tensor> inputs;
  for (const OperandDescription& input : kernel->inputs()) {
    auto tensor = ReadNpy((dir / ("in_" + input.name + ".npy")).string(), input.dtype);
    if (!tensor.ok()) return Fail(tensor.status());
    inputs.push_back(*std::move(tensor));
  }
  std::vector<double> a(m * k, 0.5), b(k * n, 0.25), c(m * n);
  double eigen = std::numeric_limits<double>::infinity(), run = eigen, check = eigen;
  for (int round = 0; round < kRounds; ++round) {
    double begin = ProcessorSeconds();
    bench::EigenDoubleProduct(a.data(), b.data(), m, n, k, c.data());
    eigen = std::min(eigen, ProcessorSeconds() - begin);
    begin = ProcessorSeconds();
    if (const auto result = Run(*kernel, inputs); !result.ok()) return Fail(result.status());
    run = std::min(run, ProcessorSeconds() - begin);
    check = std::min(check, CheckSeconds(*kernel, inputs, 1, 1));
  }
  const double all = CheckSeconds(*kernel, inputs, schedules, kThreads);
  if (check < 0 || all < 0) return Fail(absl::InternalError("the kernel is not clean, or not every schedule was run"));
  std::cout << "{\"eigen\": " << eigen << ", \"run\": " << run << ", \"check\": " << check << ", \"all\": " << all
            << ", \"schedules\": " << schedules << ", \"threads\": " << kThreads << "}\n";
  return 0;
}

}  // namespace
}  // namespace palladion

int main(int argc, char** argv) {
  if (argc != 6) {
    return palladion::Fail(absl::InvalidArgumentError("usage: schedules_bench DIR M N K SCHEDULES"));
  }
  const auto size = [&](int i) { return std::strtoull(argv[i], nullptr, 10); };
  return palladion::Main(argv[1], size(2), size(3), size(4), static_cast<std::int64_t>(size(5)));
}
