// palladion_draw_schedule of the C ABI: a kernel, its arrays and a schedule in, the picture of the failing run out.
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "emu/check/into_arrays.h"
#include "emu/front/bridge/c_arrays.h"
#include "emu/front/bridge/c_lines.h"
#include "emu/front/bridge/interrupt.h"
#include "emu/front/options/check_options.h"
#include "emu/kernel/prepared_kernel.h"
#include "emu/session.h"
#include "emu/tools/schedule/failing_run.h"
#include "emu/tools/schedule/picture.h"
#include "semantics/base/json.h"
#include "semantics/base/source_lines.h"
#include "semantics/base/status.h"

namespace palladion::bridge {
namespace {

absl::StatusOr<std::string> DrawnJson(const palladion_schedule_request& request, const palladion_array* arrays,
                                      std::size_t n) {
  const std::string_view text = TextOf(request.text, request.size);
  PALLADION_ASSIGN_OR_RETURN(
      const PreparedKernel kernel,
      PrepareLaunches(
          text, request.launches,
          {.kernel = std::string(TextOf(request.kernel)), .target = std::string(TextOf(request.target)), .path = ""}));
  PALLADION_ASSIGN_OR_RETURN(const std::vector<ConstArray> given, ConstArrays(arrays, n));
  PALLADION_ASSIGN_OR_RETURN(const std::vector<Tensor> inputs, check::CopiesOf(kernel, given));
  PALLADION_ASSIGN_OR_RETURN(CheckOptions options, options::CheckOptionsOf(TextsOf(request.check)));
  InterruptibleRun interruptible;
  options.run.control = interruptible.control();
  const schedule::WhichFinding which{.code = std::string(TextOf(request.code)),
                                     .text_line = request.text_line,
                                     .first = request.first_line,
                                     .second = request.second_line};
  PALLADION_ASSIGN_OR_RETURN(const schedule::FailingRun run, schedule::ReplayFailing(kernel, inputs, options, which));
  SourceLines lines(request.lines, request.n_lines);
  const schedule::SchedulePicture picture = schedule::DrawSchedule(
      run, {.module = kernel.state().module(),
            .kernel_text = text,
            .kernel_path = "kernel text",
            .source_line = [&](const std::string& file, int line) { return lines.Line(file, line); }});
  JsonWriter json;
  json.Open('{').Key("svg").String(schedule::SvgOf(picture)).Key("page").String(schedule::PageOf(picture));
  return json.Key("text").String(schedule::TextOf(picture)).Close('}').Take();
}

}  // namespace
}  // namespace palladion::bridge

char* palladion_draw_schedule(const palladion_schedule_request* request, const palladion_array* inputs, size_t n_inputs,
                              palladion_error* error) {
  return palladion::bridge::Printed(
      [&]() -> absl::StatusOr<std::string> {
        if (request == nullptr) return absl::InvalidArgumentError("no request");
        return palladion::bridge::DrawnJson(*request, inputs, n_inputs);
      },
      error);
}
