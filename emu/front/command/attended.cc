#include "emu/front/command/attended.h"

#include <chrono>
#include <utility>

#include "emu/front/bridge/progress.h"

namespace palladion::command {

Attended::Attended(const Console& console, std::string kernel) : console_(console), kernel_(std::move(kernel)) {
  if (console.err_is_terminal) shows_ = std::thread([this] { Show(); });
}

Attended::~Attended() {
  if (!shows_.joinable()) return;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    over_ = true;
  }
  over_changed_.notify_all();
  shows_.join();
}

void Attended::Show() {
  constexpr std::chrono::milliseconds kFirst{700}, kNext{200};
  const auto start = std::chrono::steady_clock::now();
  std::unique_lock<std::mutex> lock(mutex_);
  bool shown = false;
  const auto over = [this] { return over_; };
  while (!over_changed_.wait_for(lock, shown ? kNext : kFirst, over)) {
    if (control_.interrupted()) continue;  // what was said then stays
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    console_.err << "\r" << bridge::ProgressText(kernel_, control_.counts(), seconds.count()) << "; Ctrl-C stops\x1b[K"
                 << std::flush;
    shown = true;
  }
  if (shown) console_.err << "\r\x1b[K" << std::flush;
}

}  // namespace palladion::command
