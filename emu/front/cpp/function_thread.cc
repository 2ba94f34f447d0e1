#include "emu/front/cpp/function_thread.h"

#include <exception>
#include <new>

#include "emu/kernel/out_of_memory.h"
#include "semantics/base/cat.h"

namespace palladion {

void FunctionThread::Main(scheduler::AgentContext& agent) {
  requests_.Begin(agent);
  try {
    machine_.kernel().threads[static_cast<std::size_t>(thread())](*this);
  } catch (const scheduler::AgentStopped&) {
    throw;
  } catch (const KernelError& error) {
    machine_.Fail(absl::InvalidArgumentError(error.what()));  // of a handle; other errors have been reported before
  } catch (const std::bad_alloc&) {
    machine_.Fail(kernel::OutOfMemory(Cat("out of memory in ", machine_.gpu().NameOf(id()))));
  } catch (const std::exception& error) {
    const std::string last =
        last_place().valid() ? Cat("; its last request was ", machine_.places().TextOf(last_place())) : "";
    machine_.Fail(absl::InvalidArgumentError(
        Cat("the function of ", machine_.gpu().NameOf(id()), " threw: ", error.what(), last)));
  }
  if (!machine_.failed().ok()) throw FunctionFailed();
}

std::int64_t FunctionThread::block(std::size_t dim) const {
  if (dim + 1 >= requests_.index().size())
    throw KernelError(Cat("the grid has ", requests_.index().size() - 1, " dimensions; found ", dim));
  return requests_.index()[dim];
}

std::int64_t FunctionThread::blocks(std::size_t dim) const {
  if (dim + 1 >= requests_.index().size())
    throw KernelError(Cat("the grid has ", requests_.index().size() - 1, " dimensions; found ", dim));
  return machine_.kernel().grid[dim];
}

}  // namespace palladion
