// SPDX-License-Identifier: Apache-2.0
#include "scheduler/framework/plugin_status.h"

#include "base/strings.h"

namespace cox::scheduler {

std::string PluginStatus::Message() const { return Join(reasons(), ", "); }

std::string_view CodeName(Code code) {
  switch (code) {
    case Code::kSuccess:
      return "Success";
    case Code::kError:
      return "Error";
    case Code::kUnschedulable:
      return "Unschedulable";
    case Code::kUnschedulableAndUnresolvable:
      return "UnschedulableAndUnresolvable";
    case Code::kWait:
      return "Wait";
    case Code::kSkip:
      return "Skip";
    case Code::kPending:
      return "Pending";
  }
  return "";
}

}  // namespace cox::scheduler
