// What schedules of one recorded kernel cost beside the same multiply in double by Eigen, one core:
// schedules_bench DIR M N K SCHEDULES [CODE...]. The codes are of what is wrong with the kernel as it is shipped, which
// each check has to find; each is shortened, which takes runs of its own. Prints one line of JSON, seconds of processor
// time of all threads: wall time would be that of whatever else the host does. What it does not show: reading files,
// parsing and preparing.
#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <limits>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "bench/dot_native.h"
#include "emu/check.h"
#include "emu/emulate.h"
#include "emu/report.h"
#include "semantics/tensor/npy.h"

namespace palladion {
namespace {

constexpr int kThreads = 2;

// The least of several; of large products, whose times scatter less, of fewer.
int RoundsFor(std::size_t products) { return products > std::size_t{1} << 28 ? 3 : 9; }

double ProcessorSeconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

int Fail(const absl::Status& status) {
  std::cerr << std::string(status.message()) << "\n";
  return 1;
}

struct Case {
  std::filesystem::path dir;
  std::size_t m = 0, n = 0, k = 0;
  std::int64_t schedules = 0;
  std::set<std::string> wrong;  // codes of findings that are more than notes
};

// Processor time of one check; below 0: it failed, or what it found to be wrong is something else.
double CheckSeconds(const PreparedKernel& kernel, const std::vector<Tensor>& inputs, std::int64_t schedules,
                    int threads, const std::set<std::string>& wrong) {
  CheckOptions options;
  options.seeds = schedules;
  options.all_seeds = true;  // the first proves the kernel
  options.threads = threads;
  const double begin = ProcessorSeconds();
  const absl::StatusOr<Report> report = Check(kernel, inputs, options);
  const double took = ProcessorSeconds() - begin;
  if (!report.ok() || report->schedules != schedules) return -1;
  std::set<std::string> found;
  for (const ReportedFinding& one : report->findings) {
    if (one.severity != palladion::Severity::kNote) found.insert(std::string(palladion::Code(one.code)));
  }
  return found == wrong ? took : -1;
}

int Main(const Case& of) {
  std::ifstream file(of.dir / "kernel.pkir", std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  const auto kernel = PrepareText(text.str());
  if (!kernel.ok()) return Fail(kernel.status());
  std::vector<Tensor> inputs;
  for (const OperandDescription& input : kernel->inputs()) {
    auto tensor = ReadNpy((of.dir / ("in_" + input.name + ".npy")).string(), input.dtype);
    if (!tensor.ok()) return Fail(tensor.status());
    inputs.push_back(*std::move(tensor));
  }
  std::vector<double> a(of.m * of.k, 0.5), b(of.k * of.n, 0.25), c(of.m * of.n);
  double eigen = std::numeric_limits<double>::infinity(), run = eigen, check = eigen;
  for (int round = 0; round < RoundsFor(of.m * of.n * of.k); ++round) {
    double begin = ProcessorSeconds();
    bench::EigenDoubleProduct(a.data(), b.data(), c.data(), {of.m, of.n, of.k});
    eigen = std::min(eigen, ProcessorSeconds() - begin);
    begin = ProcessorSeconds();
    if (const auto result = Run(*kernel, inputs); !result.ok()) return Fail(result.status());
    run = std::min(run, ProcessorSeconds() - begin);
    check = std::min(check, CheckSeconds(*kernel, inputs, 1, 1, of.wrong));
  }
  const double all = of.schedules > 1 ? CheckSeconds(*kernel, inputs, of.schedules, kThreads, of.wrong) : 0;
  if (check < 0 || all < 0)
    return Fail(absl::InternalError("something else is wrong with the kernel, or not every schedule was run"));
  std::cout << "{\"eigen\": " << eigen << ", \"run\": " << run << ", \"check\": " << check << ", \"all\": " << all
            << ", \"schedules\": " << of.schedules << ", \"threads\": " << kThreads << "}\n";
  return 0;
}

}  // namespace
}  // namespace palladion

int main(int argc, char** argv) {
  if (argc < 6) {
    return palladion::Fail(absl::InvalidArgumentError("usage: schedules_bench DIR M N K SCHEDULES [CODE...]"));
  }
  const auto size = [&](int i) { return std::strtoull(argv[i], nullptr, 10); };
  return palladion::Main({.dir = argv[1],
                          .m = size(2),
                          .n = size(3),
                          .k = size(4),
                          .schedules = static_cast<std::int64_t>(size(5)),
                          .wrong = {argv + 6, argv + argc}});
}
