// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cox::scheduler {

enum class Code : uint8_t {
  kSuccess,
  kError,                         // something broke; tried again after a backoff
  kUnschedulable,                 // not here; taking other Pods away may help
  kUnschedulableAndUnresolvable,  // not here, whatever Pods are taken away
  kWait,                          // of Permit: the Pod waits until it is let through
  kSkip,                          // the plugin has nothing to say about this Pod
  kPending,                       // waits for something outside; not backed off when that happens
};

// What a plugin says of a Pod, or of a Pod on a node: why not, for people.
//
// Guarantees: success costs a null pointer; copies share an immutable representation, so plugins
//   make a refusal once and give it for thousands of nodes.
// Threads: as a plain value.
class [[nodiscard]] Verdict {
 public:
  Verdict() = default;  // success
  Verdict(Code code, std::string_view plugin, std::vector<std::string> reasons)
      : rep_(std::make_shared<Rep>(Rep{code, std::string(plugin), std::move(reasons)})) {}

  static Verdict Unschedulable(std::string_view plugin, std::string reason) {
    return {Code::kUnschedulable, plugin, {std::move(reason)}};
  }
  static Verdict Unresolvable(std::string_view plugin, std::string reason) {
    return {Code::kUnschedulableAndUnresolvable, plugin, {std::move(reason)}};
  }
  static Verdict Error(std::string_view plugin, std::string reason) {
    return {Code::kError, plugin, {std::move(reason)}};
  }
  static Verdict Skip() { return {Code::kSkip, "", {}}; }

  bool ok() const { return rep_ == nullptr; }
  bool skip() const { return code() == Code::kSkip; }
  // A refusal, as opposed to an error.
  bool rejected() const {
    return code() == Code::kUnschedulable || code() == Code::kUnschedulableAndUnresolvable ||
           code() == Code::kPending;
  }
  Code code() const { return ok() ? Code::kSuccess : rep_->code; }
  // Which plugin said so; "" for success.
  std::string_view plugin() const { return ok() ? std::string_view() : rep_->plugin; }
  const std::vector<std::string>& reasons() const {
    static const std::vector<std::string> kNone;
    return ok() ? kNone : rep_->reasons;
  }
  std::string Message() const;

 private:
  struct Rep {
    Code code;
    std::string plugin;
    std::vector<std::string> reasons;
  };
  std::shared_ptr<const Rep> rep_;
};

// "Success", "Unschedulable", ...: as metrics have it.
std::string_view CodeName(Code code);

}  // namespace cox::scheduler
