// SPDX-License-Identifier: Apache-2.0
#include "sdk/webhook/rebase.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace cox::sdk {
namespace {

// Above this number of comparisons, items are paired by position.
constexpr size_t kMaxComparisons = 1'000'000;

// The field that identifies the items of most lists of the API.
const Value* NameOf(const Value& item) {
  for (const std::string_view key : {"name", "key", "type", "mountPath"}) {
    const Value* name = item.Find(key);
    if (name != nullptr && name->is_string()) return name;
  }
  return nullptr;
}

// 2: equal, 1: same name, 0: unrelated.
int Likeness(const Value& a, const Value& b) {
  if (a == b) return 2;
  const Value* const name = NameOf(a);
  const Value* const other = NameOf(b);
  return name != nullptr && other != nullptr && *name == *other ? 1 : 0;
}

using Pairs = std::vector<std::pair<size_t, size_t>>;

// The best common subsequence of the items [begin, ...) of both lists, weighted by likeness.
Pairs Align(const Value::Array& before, const Value::Array& after, size_t begin, size_t before_end,
            size_t after_end) {
  const size_t rows = before_end - begin;
  const size_t columns = after_end - begin;
  Pairs pairs;
  if (rows == 0 || columns == 0) return pairs;
  if (rows > kMaxComparisons / columns) {
    for (size_t i = 0; i < std::min(rows, columns); ++i) pairs.emplace_back(begin + i, begin + i);
    return pairs;
  }
  // best[i][j]: the best score for the items of `before` from i and of `after` from j.
  std::vector<uint32_t> best((rows + 1) * (columns + 1), 0);
  std::vector<uint8_t> like(rows * columns);
  const auto at = [columns](size_t i, size_t j) { return i * (columns + 1) + j; };
  for (size_t i = rows; i-- > 0;) {
    for (size_t j = columns; j-- > 0;) {
      const int likeness = Likeness(before[begin + i], after[begin + j]);
      like[i * columns + j] = static_cast<uint8_t>(likeness);
      const uint32_t skip = std::max(best[at(i + 1, j)], best[at(i, j + 1)]);
      best[at(i, j)] =
          likeness == 0 ? skip
                        : std::max(skip, best[at(i + 1, j + 1)] + static_cast<uint32_t>(likeness));
    }
  }
  for (size_t i = 0, j = 0; i < rows && j < columns;) {
    const uint8_t likeness = like[i * columns + j];
    if (likeness != 0 && best[at(i, j)] == best[at(i + 1, j + 1)] + likeness) {
      pairs.emplace_back(begin + i++, begin + j++);
    } else if (best[at(i, j)] == best[at(i + 1, j)]) {
      ++i;
    } else {
      ++j;
    }
  }
  return pairs;
}

// Pairs of corresponding items of `before` and `after`; ascending in both.
Pairs PairItems(const Value::Array& before, const Value::Array& after) {
  const size_t shorter = std::min(before.size(), after.size());
  Pairs pairs;
  size_t begin = 0;
  while (begin < shorter && before[begin] == after[begin]) {
    pairs.emplace_back(begin, begin);
    ++begin;
  }
  size_t tail = 0;
  while (tail < shorter - begin &&
         before[before.size() - 1 - tail] == after[after.size() - 1 - tail]) {
    ++tail;
  }
  const Pairs middle = Align(before, after, begin, before.size() - tail, after.size() - tail);
  pairs.insert(pairs.end(), middle.begin(), middle.end());
  for (; tail > 0; --tail) pairs.emplace_back(before.size() - tail, after.size() - tail);
  return pairs;
}

Value RebaseMembers(const Value& sent, const Value& before, const Value& after) {
  Value out = sent;
  Value::Object& members = out.as_object();
  for (const auto& [key, now] : after.as_object()) {
    const Value* const was = before.Find(key);
    if (was != nullptr && *was == now) continue;
    const Value* const there = sent.Find(key);
    if (there == nullptr) {
      members[key] = now;
    } else if (was != nullptr) {
      members[key] = Rebase(*there, *was, now);
    } else {
      // The struct omitted a member that was sent: it is empty or contains only unknown fields.
      members[key] = Rebase(*there, Value::MakeObject(), now);
    }
  }
  for (const auto& [key, was] : before.as_object()) {
    if (after.Find(key) == nullptr) members.Erase(key);
  }
  return out;
}

Value RebaseItems(const Value::Array& sent, const Value::Array& before, const Value::Array& after) {
  const Pairs pairs = PairItems(before, after);
  Value::Array out;
  out.reserve(after.size());
  for (const auto& [from, to] : pairs) {
    while (out.size() < to) out.push_back(after[out.size()]);
    out.push_back(Rebase(sent[from], before[from], after[to]));
  }
  while (out.size() < after.size()) out.push_back(after[out.size()]);
  return Value(std::move(out));
}

}  // namespace

Value Rebase(const Value& sent, const Value& before, const Value& after) {
  if (before == after) return sent;
  if (sent.is_object() && before.is_object() && after.is_object()) {
    return RebaseMembers(sent, before, after);
  }
  if (sent.is_array() && before.is_array() && after.is_array() &&
      sent.as_array().size() == before.as_array().size()) {
    return RebaseItems(sent.as_array(), before.as_array(), after.as_array());
  }
  return after;
}

}  // namespace cox::sdk
