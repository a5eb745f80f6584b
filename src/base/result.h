// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cassert>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/status.h"

namespace cox {

// A value, or the Status of a failure. Similar to std::expected<T, Status>.
//
//   Result<Pod> pod = Decode(bytes);
//   if (!pod.ok()) return pod.status();
//   Use(pod->metadata.name);
//
// Ownership: holds the value by value. Threads: same as T.
template <class T>
class [[nodiscard]] Result {
 public:
  using value_type = T;

  // All implicit, like std::expected's.
  Result(const T& value) : state_(std::in_place_index<1>, value) {}        // NOLINT
  Result(T&& value) : state_(std::in_place_index<1>, std::move(value)) {}  // NOLINT
  template <class U>
    requires(std::is_convertible_v<U, T> && !std::is_same_v<std::remove_cvref_t<U>, T> &&
             !std::is_same_v<std::remove_cvref_t<U>, Status> &&
             !std::is_same_v<std::remove_cvref_t<U>, Result>)
  Result(U&& value) : state_(std::in_place_index<1>, std::forward<U>(value)) {}  // NOLINT
  // REQUIRES: !status.ok()
  Result(Status status) : state_(std::in_place_index<0>, std::move(status)) {  // NOLINT
    assert(!std::get<0>(state_).ok());
  }

  bool ok() const { return state_.index() == 1; }
  bool has_value() const { return ok(); }
  explicit operator bool() const { return ok(); }

  // OK when there is a value.
  Status status() const { return ok() ? Status() : std::get<0>(state_); }

  // REQUIRES: ok() for all methods below.
  T& value() & { return *Get(); }
  const T& value() const& { return *Get(); }
  T&& value() && { return std::move(*Get()); }
  T& operator*() & { return *Get(); }
  const T& operator*() const& { return *Get(); }
  T&& operator*() && { return std::move(*Get()); }
  T* operator->() { return Get(); }
  const T* operator->() const { return Get(); }

  template <class U>
  T value_or(U&& fallback) const& {
    return ok() ? *Get() : static_cast<T>(std::forward<U>(fallback));
  }

 private:
  T* Get() {
    assert(ok());
    return std::get_if<1>(&state_);
  }
  const T* Get() const {
    assert(ok());
    return std::get_if<1>(&state_);
  }

  std::variant<Status, T> state_;
};

}  // namespace cox

#define COX_CONCAT_INNER(a, b) a##b
#define COX_CONCAT(a, b) COX_CONCAT_INNER(a, b)

// Returns from the calling function when `expr` (a Status) is a failure.
#define COX_RETURN_IF_ERROR(expr)                                                  \
  do {                                                                             \
    if (::cox::Status cox_status_ = (expr); !cox_status_.ok()) return cox_status_; \
  } while (0)

// COX_ASSIGN_OR_RETURN(auto pod, Decode(bytes)): binds the value, or returns the failure.
#define COX_ASSIGN_OR_RETURN(decl, expr) \
  COX_ASSIGN_OR_RETURN_IMPL(COX_CONCAT(cox_result_, __LINE__), decl, expr)
#define COX_ASSIGN_OR_RETURN_IMPL(tmp, decl, expr) \
  auto tmp = (expr);                               \
  if (!tmp.ok()) return tmp.status();              \
  decl = std::move(*tmp)
