// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cox::scheduler {

// The codes of upstream's scheduling framework.
enum class Code : uint8_t {
  kSuccess,
  kError,                         // an internal error; the Pod is retried after a backoff
  kUnschedulable,                 // preemption may help
  kUnschedulableAndUnresolvable,  // preemption does not help
  kWait,                          // from Permit: the Pod waits until it is allowed or rejected
  kSkip,                          // the plugin does not apply to the Pod
  kPending,  // waits for an external event, and is then retried without backoff
};

// The result of a plugin for a Pod, or for a Pod on a node, with reasons for users.
//
// Guarantees: success is a null pointer. Copies share an immutable representation, so a plugin can
//   return one status for thousands of nodes.
// Threads: as a plain value.
class [[nodiscard]] PluginStatus {
 public:
  PluginStatus() = default;  // success
  PluginStatus(Code code, std::string_view plugin, std::vector<std::string> reasons)
      : rep_(std::make_shared<Rep>(Rep{code, std::string(plugin), std::move(reasons)})) {}

  static PluginStatus Unschedulable(std::string_view plugin, std::string reason) {
    return {Code::kUnschedulable, plugin, {std::move(reason)}};
  }
  static PluginStatus Unresolvable(std::string_view plugin, std::string reason) {
    return {Code::kUnschedulableAndUnresolvable, plugin, {std::move(reason)}};
  }
  static PluginStatus Error(std::string_view plugin, std::string reason) {
    return {Code::kError, plugin, {std::move(reason)}};
  }
  static PluginStatus Skip() { return {Code::kSkip, "", {}}; }

  bool ok() const { return rep_ == nullptr; }
  bool skip() const { return code() == Code::kSkip; }
  // The Pod cannot be scheduled; this is not an error.
  bool rejected() const {
    return code() == Code::kUnschedulable || code() == Code::kUnschedulableAndUnresolvable ||
           code() == Code::kPending;
  }
  Code code() const { return ok() ? Code::kSuccess : rep_->code; }
  // The plugin that returned it; "" for success.
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

// "Success", "Unschedulable", ..., as in metrics.
std::string_view CodeName(Code code);

}  // namespace cox::scheduler
