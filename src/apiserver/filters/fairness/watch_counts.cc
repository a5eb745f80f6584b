// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/fairness/watch_counts.h"

#include "object/selector/fields.h"

namespace cox::apiserver {
namespace {

// The parts cannot contain NUL, which is invalid in path segments.
std::string KeyOf(const RequestInfo& info, std::string_view ns, std::string_view name) {
  std::string key;
  key.reserve(info.group.size() + info.resource.size() + ns.size() + name.size() + 3);
  key.append(info.group).append(1, '\0').append(info.resource).append(1, '\0');
  key.append(ns).append(1, '\0').append(name);
  return key;
}

bool OfOneNode(const RequestInfo& info, const Query& query) {
  if (info.resource != "pods" || !info.group.empty()) return false;
  Result<fields::Selector> selector = fields::Selector::Parse(query.Get("fieldSelector"));
  return selector.ok() && selector->RequiresExactMatch("spec.nodeName").has_value();
}

}  // namespace

std::shared_ptr<void> WatchCounts::Begin(const RequestInfo& info, const Query& query) {
  if (!info.is_resource || OfOneNode(info, query)) return nullptr;
  std::string key = KeyOf(info, info.namespace_, info.name);
  {
    MutexLock lock(state_->mu);
    ++state_->counts[key];
  }
  return std::shared_ptr<void>(nullptr, [state = state_, key = std::move(key)](void*) {
    MutexLock lock(state->mu);
    const auto at = state->counts.find(key);
    if (--at->second == 0) state->counts.erase(at);
  });
}

int64_t WatchCounts::Interested(const RequestInfo& info) const {
  const std::string keys[] = {KeyOf(info, "", ""), KeyOf(info, info.namespace_, ""),
                              KeyOf(info, info.namespace_, info.name)};
  const size_t first = info.namespace_.empty() ? 1 : 0;  // else the first two are equal
  const size_t last = info.name.empty() ? 2 : 3;         // else the last two are equal
  int64_t sum = 0;
  MutexLock lock(state_->mu);
  if (state_->counts.empty()) return 0;
  for (size_t i = first; i < last; ++i) {
    const auto at = state_->counts.find(keys[i]);
    if (at != state_->counts.end()) sum += at->second;
  }
  return sum;
}

}  // namespace cox::apiserver
