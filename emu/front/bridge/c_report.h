// The handle to a report that the C ABI gives out: what was found, as it was found. It is rendered from here, so that
// no renderer outside reads a report's JSON.
#ifndef PALLADION_EMU_FRONT_BRIDGE_C_REPORT_H_
#define PALLADION_EMU_FRONT_BRIDGE_C_REPORT_H_

#include <memory>
#include <utility>

#include "emu/c_api.h"
#include "emu/report.h"

struct palladion_report {
  std::shared_ptr<const palladion::Report> report;
};

namespace palladion::bridge {

inline palladion_report* HandleOf(Report report) {
  return new palladion_report{std::make_shared<const Report>(std::move(report))};
}

}  // namespace palladion::bridge

#endif  // PALLADION_EMU_FRONT_BRIDGE_C_REPORT_H_
