// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <unordered_map>

#include "object/patch/strategic_merge.h"
#include "object/type/go_text.h"

namespace cox::patch::strategic {
namespace {

// The first position of each identity.
class Positions {
 public:
  static constexpr size_t kNone = std::numeric_limits<size_t>::max();

  explicit Positions(const std::vector<std::string>& identities) {
    for (size_t i = 0; i < identities.size(); ++i) at_.emplace(identities[i], i);
  }
  size_t Find(std::string_view identity) const {
    auto found = at_.find(identity);
    return found == at_.end() ? kNone : found->second;
  }

 private:
  std::unordered_map<std::string_view, size_t> at_;
};

// An item to sort.
struct Queued {
  size_t item;
  size_t rank;       // in the order of its sequence
  size_t on_server;  // in the server's order
};

void SortByRank(std::vector<Queued>& queue) {
  std::stable_sort(queue.begin(), queue.end(),
                   [](const Queued& a, const Queued& b) { return a.rank < b.rank; });
}

}  // namespace

Result<std::vector<std::string>> Identities(const Value::Array& items, std::string_view merge_key) {
  std::vector<std::string> out;
  out.reserve(items.size());
  for (const Value& item : items) {
    const Value* scalar = &item;
    if (!merge_key.empty()) {
      COX_ASSIGN_OR_RETURN(scalar, MergeKeyOf(item, merge_key));
    }
    out.push_back(Identity(*scalar));
  }
  return out;
}

Value::Array Arrange(Value::Array items, const std::vector<std::string>& identities,
                     const std::vector<std::string>& mentioned,
                     const std::vector<std::string>& server) {
  const Positions mentioned_at(mentioned);
  const Positions server_at(server);
  std::vector<Queued> patched;
  std::vector<Queued> others;
  for (size_t i = 0; i < items.size(); ++i) {
    size_t rank = mentioned_at.Find(identities[i]);
    size_t on_server = server_at.Find(identities[i]);
    if (rank != Positions::kNone) {
      patched.push_back({.item = i, .rank = rank, .on_server = on_server});
    } else {
      others.push_back({.item = i, .rank = on_server, .on_server = on_server});
    }
  }
  SortByRank(patched);
  SortByRank(others);

  Value::Array out;
  out.reserve(items.size());
  auto p = patched.begin();
  auto o = others.begin();
  while (p != patched.end() || o != others.end()) {
    bool other_first =
        p == patched.end() || (o != others.end() && o->on_server != Positions::kNone &&
                               p->on_server != Positions::kNone && o->on_server < p->on_server);
    out.push_back(std::move(items[other_first ? (o++)->item : (p++)->item]));
  }
  return out;
}

Status CheckOrder(const Value::Array& patch, const Value::Array& order,
                  std::string_view merge_key) {
  if (order.empty() || patch.empty()) return {};
  COX_ASSIGN_OR_RETURN(std::vector<std::string> wanted, Identities(order, merge_key));
  auto mismatch = [&] {
    return Fail("The order in patch list:\n" + GoText(Value(patch)) +
                "\n doesn't match $setElementOrder list:\n" + GoText(Value(order)) + "\n");
  };
  auto at = wanted.begin();
  for (const Value& item : patch) {
    const Value* scalar = &item;
    const bool done = at == wanted.end();
    if (const Value* directive = item.Find(kDirective); directive != nullptr) {
      // After the last ordered item, only deletions are permitted.
      if (done && *directive != Value("delete")) return mismatch();
      continue;
    }
    if (done) return mismatch();
    if (!merge_key.empty()) {
      COX_ASSIGN_OR_RETURN(scalar, MergeKeyOf(item, merge_key));
    }
    at = std::find(at, wanted.end(), Identity(*scalar));
    if (at == wanted.end()) return mismatch();
    ++at;
  }
  return {};
}

}  // namespace cox::patch::strategic
