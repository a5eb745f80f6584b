// SPDX-License-Identifier: Apache-2.0
#include "scheduler/cycle/diagnosis.h"

#include <algorithm>
#include <map>

#include "base/strings.h"

namespace cox::scheduler {

void Diagnosis::Blame(const Verdict& verdict) {
  if (verdict.plugin().empty()) return;
  auto& plugins = verdict.code() == Code::kPending ? pending_plugins : unschedulable_plugins;
  if (!plugins.contains(verdict.plugin())) plugins.emplace(verdict.plugin());
}

std::string FitErrorText(const Diagnosis& diagnosis) {
  std::string text = "0/" + std::to_string(diagnosis.all_nodes) + " nodes are available:";
  if (!diagnosis.pre_filter_message.empty()) {
    text += " " + diagnosis.pre_filter_message + ".";
  } else {
    std::map<std::string, size_t> counts;
    for (const auto& [node, verdict] : diagnosis.nodes) {
      for (const std::string& reason : verdict.reasons()) ++counts[reason];
    }
    if (diagnosis.nodes.size() < diagnosis.all_nodes) {
      for (const std::string& reason : diagnosis.absent.reasons()) {
        counts[reason] += diagnosis.all_nodes - diagnosis.nodes.size();
      }
    }
    // Sorted as texts, "10 ..." before "2 ...": as everybody knows these lines.
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
