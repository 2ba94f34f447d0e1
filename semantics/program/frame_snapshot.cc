// A frame as a value: for exhaustive search, which returns to each choice once for every way on.
#include <algorithm>

#include "semantics/program/program.h"

namespace palladion {

struct Frame::Saved {
  std::vector<std::byte> arena;
  std::vector<std::byte*> slots;
  std::vector<RefState> refs;
  std::vector<std::int64_t> grid_index;
  AgentId agent;
  std::size_t pc = 0;
  std::int64_t program_number = 0, end_program = 0, back_edges = 0, spent = 0;
  bool first_program = true, new_task = false;
  CoreGenerator generator;
  std::shared_ptr<const MatrixUnits> matrix_units;
};

std::shared_ptr<const Frame::Saved> Frame::Save() const {
  return std::make_shared<Saved>(Saved{.arena = {arena_.get(), arena_.get() + program_->arena_bytes},
                                       .slots = slots_,
                                       .refs = refs_,
                                       .grid_index = grid_index,
                                       .agent = agent,
                                       .pc = pc,
                                       .program_number = program_number,
                                       .end_program = end_program,
                                       .back_edges = back_edges,
                                       .spent = spent,
                                       .first_program = first_program,
                                       .new_task = new_task,
                                       .generator = generator,
                                       .matrix_units = matrix_units});
}

void Frame::Restore(const Saved& saved) {
  std::copy(saved.arena.begin(), saved.arena.end(), arena_.get());
  slots_ = saved.slots;
  refs_ = saved.refs;
  grid_index = saved.grid_index;
  agent = saved.agent;
  pc = saved.pc;
  program_number = saved.program_number;
  end_program = saved.end_program;
  back_edges = saved.back_edges;
  spent = charged_ = saved.spent;
  look_at = 0;
  first_program = saved.first_program;
  new_task = saved.new_task;
  generator = saved.generator;
  matrix_units = saved.matrix_units;
}

void Frame::CopyTo(Frame& other) const {
  other.Restore(*Save());
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (program_->slots[i].constant == nullptr) other.slots_[i] = other.arena_.get() + (slots_[i] - arena_.get());
  }
  other.grid_size = grid_size;
  other.walk = walk;
  other.back_edge_budget = back_edge_budget;
  other.control = control;
}

}  // namespace palladion
