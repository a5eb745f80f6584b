// SPDX-License-Identifier: Apache-2.0
#include "sdk/client/warnings.h"

#include "base/strings.h"

namespace cox::sdk {
namespace {

constexpr size_t kMaxText = 1024;

}  // namespace

std::string WarningText(std::string_view header) {
  constexpr std::string_view kCode = "299 ";
  header = TrimSpace(header);
  if (!header.starts_with(kCode)) return "";
  // The warn-agent; Coxswain and Kubernetes send "-".
  const CutResult agent = Cut(header.substr(kCode.size()), ' ');
  std::string_view quoted = TrimSpace(agent.after);
  if (!quoted.starts_with('"')) return "";
  quoted.remove_prefix(1);
  std::string text;
  for (size_t i = 0; i < quoted.size() && quoted[i] != '"' && text.size() < kMaxText; ++i) {
    if (quoted[i] == '\\' && i + 1 < quoted.size()) ++i;
    text += quoted[i];
  }
  return text;
}

void Warnings::Note(const Context& ctx, const net::Headers& headers) {
  for (const auto& [name, value] : headers) {
    if (name != "warning") continue;
    std::string text = WarningText(value);
    if (text.empty()) continue;
    {
      const MutexLock lock(mu_);
      if (seen_.Find(text) != nullptr) continue;
      seen_.Put(text, true);
    }
    COX_WARNING(ctx.log(), "API server warned", {"warning", text});
  }
}

}  // namespace cox::sdk
