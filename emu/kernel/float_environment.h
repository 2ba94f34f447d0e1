// The floating-point environment results are defined in: round to nearest, subnormals kept. XLA calls out with
// flush-to-zero and denormals-are-zero set, so every entry point creates one of these, which restores the previous
// environment. arm64 has FPCR for x86's MXCSR (float_environment_arm64.cc). WebAssembly has no other
// environment (float_environment_wasm.cc).
#ifndef PALLADION_EMU_KERNEL_FLOAT_ENVIRONMENT_H_
#define PALLADION_EMU_KERNEL_FLOAT_ENVIRONMENT_H_

namespace palladion::kernel {

class FloatEnvironment {
 public:
  FloatEnvironment();
  ~FloatEnvironment();
  FloatEnvironment(const FloatEnvironment&) = delete;
  FloatEnvironment& operator=(const FloatEnvironment&) = delete;

 private:
  [[maybe_unused]] unsigned found_;
};

}  // namespace palladion::kernel

#endif  // PALLADION_EMU_KERNEL_FLOAT_ENVIRONMENT_H_
