// Times one kernel that `palladion.record` wrote: kernel_bench DIR [REPEATS]. Prints the best and the median
// of the repeats in nanoseconds, without reading files, parsing or preparing. For people looking for where time goes.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <utility>
#include <vector>

#include "emu/emulate.h"
#include "semantics/tensor/npy.h"

namespace {

std::string Read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

int Fail(const absl::Status& status) {
  std::cerr << std::string(status.message()) << "\n";
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return Fail(absl::InvalidArgumentError("usage: kernel_bench DIR [REPEATS]"));
  const std::filesystem::path dir = argv[1];
  const int repeats = argc > 2 ? std::atoi(argv[2]) : 20;
  if (repeats < 1) return Fail(absl::InvalidArgumentError("REPEATS must be a number above 0"));
  auto kernel = palladion::PrepareText(Read(dir / "kernel.pkir"), {.kernel = "", .target = "", .path = dir.string()});
  if (!kernel.ok()) return Fail(kernel.status());
  std::vector<palladion::Tensor> inputs;
  for (std::size_t i = 0; i < kernel->inputs().size(); ++i) {
    const std::string name = "in_" + kernel->inputs()[i].name + ".npy";
    auto tensor = palladion::ReadNpy((dir / name).string(), kernel->inputs()[i].dtype);
    if (!tensor.ok()) return Fail(tensor.status());
    inputs.push_back(*std::move(tensor));
  }
  std::vector<double> times;
  for (int i = 0; i < repeats; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    auto result = palladion::Run(*kernel, inputs);
    const auto end = std::chrono::steady_clock::now();
    if (!result.ok()) return Fail(result.status());
    times.push_back(std::chrono::duration<double, std::nano>(end - begin).count());
  }
  std::sort(times.begin(), times.end());
  std::cout << kernel->name() << ": best " << times.front() << " ns, median " << times[times.size() / 2] << " ns\n";
  return 0;
}
