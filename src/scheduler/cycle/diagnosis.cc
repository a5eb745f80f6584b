// SPDX-License-Identifier: Apache-2.0
#include "scheduler/cycle/diagnosis.h"

#include <algorithm>
#include <map>

#include "base/strings.h"

namespace cox::scheduler {

void Diagnosis::Blame(const PluginStatus& status) {
  if (status.plugin().empty()) return;
  auto& plugins = status.code() == Code::kPending ? pending_plugins : unschedulable_plugins;
  if (!plugins.contains(status.plugin())) plugins.emplace(status.plugin());
}

std::string FitErrorText(const Diagnosis& diagnosis) {
  std::string text = "0/" + std::to_string(diagnosis.all_nodes) + " nodes are available:";
  if (!diagnosis.pre_filter_message.empty()) {
    text += " " + diagnosis.pre_filter_message + ".";
  } else {
    std::map<std::string, size_t> counts;
    for (const auto& [node, status] : diagnosis.nodes) {
      for (const std::string& reason : status.reasons()) ++counts[reason];
    }
    if (diagnosis.nodes.size() < diagnosis.all_nodes) {
      for (const std::string& reason : diagnosis.absent.reasons()) {
        counts[reason] += diagnosis.all_nodes - diagnosis.nodes.size();
      }
    }
    // Sorted as text, "10 ..." before "2 ...", as in upstream.
    std::vector<std::string> lines;
    for (const auto& [reason, count] : counts)
      lines.push_back(std::to_string(count) + " " + reason);
    std::sort(lines.begin(), lines.end());
    if (!lines.empty()) text += " " + Join(lines, ", ") + ".";
  }
  if (!diagnosis.post_filter_message.empty()) text += " " + diagnosis.post_filter_message;
  return text;
}

}  // namespace cox::scheduler
