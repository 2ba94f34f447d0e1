// What every part of the machine for launches over threads uses.
#ifndef PALLADION_EMU_RUN_THREADS_MACHINE_BASE_H_
#define PALLADION_EMU_RUN_THREADS_MACHINE_BASE_H_

#include "emu/run/threads/launch_shape.h"
#include "emu/run/threads/residents.h"
#include "memory_model/bytes/memory.h"
#include "memory_model/concurrency_model.h"

namespace palladion::threads {

struct MachineBase {  // all outlive the parts
  const LaunchShape& shape;
  memory_model::Memory& memory;
  memory_model::ConcurrencyModel& model;
  Residents& residents;
};

}  // namespace palladion::threads

#endif  // PALLADION_EMU_RUN_THREADS_MACHINE_BASE_H_
