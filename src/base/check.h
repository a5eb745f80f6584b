// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <string>
#include <string_view>

#include "base/status.h"

// COX_CHECK(condition) << "what is broken " << count;
//
// Aborts the process when `condition` is false, that is, when an invariant is broken and no caller
// could continue. Errors that a peer, a disk or a user can cause are a Status instead. Enabled in
// release builds. Streamed values are evaluated only on failure. The message goes to standard error
// in one write:
//   F scope.cc:12] Check failed: live_ == 0: 3 tasks of "informer" are running
#define COX_CHECK(condition)                   \
  (condition) ? static_cast<void>(0)           \
              : ::cox::internal::CheckSink() & \
                    ::cox::internal::CheckFailure(__FILE__, __LINE__, #condition)

// The same for a Status that must be OK; the message ends with the status.
#define COX_CHECK_OK(expr)                                                                    \
  do {                                                                                        \
    if (const ::cox::Status cox_check_status_ = (expr); !cox_check_status_.ok()) {            \
      ::cox::internal::CheckSink() & ::cox::internal::CheckFailure(__FILE__, __LINE__, #expr) \
                                         << cox_check_status_.ToString();                     \
    }                                                                                         \
  } while (0)

namespace cox::internal {

class CheckFailure {
 public:
  CheckFailure(std::string_view file, int line, std::string_view condition);

  CheckFailure&& operator<<(std::string_view text) && {
    message_ += text;
    return std::move(*this);
  }
  CheckFailure&& operator<<(std::integral auto number) && {
    message_ += std::to_string(number);
    return std::move(*this);
  }

  [[noreturn]] void Die() const;

 private:
  std::string message_;
};

// Binds weaker than << and stronger than ?:, so that COX_CHECK is one expression of type void.
struct CheckSink {
  [[noreturn]] void operator&(const CheckFailure& failure) const { failure.Die(); }
};

}  // namespace cox::internal
