// The two status macros; Debian's Abseil has Status and StatusOr but no macros. absl::Status is for us: malformed text,
// unsupported feature, budget, internal error. What is wrong with a *kernel's behaviour* is a Finding (finding.h).
#ifndef PALLADION_SEMANTICS_BASE_STATUS_H_
#define PALLADION_SEMANTICS_BASE_STATUS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#define PALLADION_RETURN_IF_ERROR(expr)                               \
  do {                                                                \
    if (absl::Status status_ = (expr); !status_.ok()) return status_; \
  } while (false)

#define PALLADION_STATUS_CONCAT_INNER_(a, b) a##b
#define PALLADION_STATUS_CONCAT_(a, b) PALLADION_STATUS_CONCAT_INNER_(a, b)
#define PALLADION_ASSIGN_OR_RETURN(lhs, expr) \
  PALLADION_ASSIGN_OR_RETURN_IMPL_(PALLADION_STATUS_CONCAT_(status_or_, __LINE__), lhs, expr)
#define PALLADION_ASSIGN_OR_RETURN_IMPL_(temp, lhs, expr) \
  auto temp = (expr);                                     \
  if (!temp.ok()) return std::move(temp).status();        \
  lhs = *std::move(temp)

#endif  // PALLADION_SEMANTICS_BASE_STATUS_H_
