// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>
#include <vector>

#include "object/apply/schema.h"
#include "object/apply/typed.h"
#include "object/apply/walk.h"

namespace cox::apply {
namespace {

Result<Value> MergeAt(const Value& base, const Value& config, TypeRef ref, int depth);

Result<Value> MergeMembers(const Value& base, const Value& config, TypeRef ref, int depth) {
  Value::Object result;
  auto x = base.as_object().begin();
  auto y = config.as_object().begin();
  while (x != base.as_object().end() || y != config.as_object().end()) {
    std::strong_ordering order = x == base.as_object().end()     ? std::strong_ordering::greater
                                 : y == config.as_object().end() ? std::strong_ordering::less
                                                                 : x->key <=> y->key;
    if (order < 0) {
      result.Append(x->key, x->value);
    } else if (order > 0) {
      result.Append(y->key, y->value);
    } else {
      Result<Value> merged = MergeAt(x->value, y->value, ref.Member(x->key), depth + 1);
      if (!merged.ok()) return Under(PathElement::Field(x->key), merged.status());
      result.Append(x->key, std::move(*merged));
    }
    if (order <= 0) ++x;
    if (order >= 0) ++y;
  }
  return Value(std::move(result));
}

// For each item of `items`, by position: the position of the first item in `others` with the same
// element, or kAbsent; and whether the item has duplicates.
constexpr size_t kAbsent = static_cast<size_t>(-1);
struct Partner {
  size_t position = kAbsent;
  bool repeated = false;
};

std::vector<Partner> FindPartners(const std::vector<ListItem>& items,
                                  const std::vector<ListItem>& others) {
  std::vector<Partner> partners(items.size());
  size_t other = 0;
  for (size_t i = 0, end = 0; i < items.size(); i = end) {
    end = EndOfRun(items, i);
    while (other < others.size() && others[other].element < items[i].element) ++other;
    bool found = other < others.size() && others[other].element == items[i].element;
    for (size_t at = i; at < end; ++at) {
      partners[items[at].position] = {found ? others[other].position : kAbsent, end > i + 1};
    }
  }
  return partners;
}

// Items of the config keep the order of the config. The base is traversed in parallel: items that
// only the base has are copied in place, and at an item that the config also has, the base waits
// until the config reaches it; if another shared item is next in the config, the base skips it.
//
//   base a b c, config c d a   ->   b c d a
Result<Value> MergeItems(const Value& base, const Value& config, TypeRef ref, int depth) {
  const Value::Array& ours = base.as_array();
  const Value::Array& theirs = config.as_array();
  COX_ASSIGN_OR_RETURN(std::vector<ListItem> our_names, NameItems(ours, ref));
  COX_ASSIGN_OR_RETURN(std::vector<ListItem> their_names, NameItems(theirs, ref));
  std::vector<Partner> our_partners = FindPartners(our_names, their_names);
  std::vector<Partner> their_partners = FindPartners(their_names, our_names);
  Value::Array result;
  result.reserve(ours.size() + theirs.size());

  auto take_theirs = [&](size_t j) -> Status {
    size_t partner = their_partners[j].position;
    // Duplicate items of the base count as one value, which the config's item replaces.
    if (partner == kAbsent || our_partners[partner].repeated) {
      result.push_back(theirs[j]);
      return Status();
    }
    Result<Value> merged = MergeAt(ours[partner], theirs[j], ref.Item(), depth + 1);
    if (!merged.ok()) return merged.status();
    result.push_back(std::move(*merged));
    return Status();
  };

  // For each position in the config, the next item from there that the base also has.
  std::vector<size_t> next_shared(theirs.size() + 1, kAbsent);
  for (size_t j = theirs.size(); j-- > 0;) {
    next_shared[j] = their_partners[j].position != kAbsent ? j : next_shared[j + 1];
  }
  size_t i = 0;
  size_t j = 0;
  while (i < ours.size() || j < theirs.size()) {
    if (i < ours.size() && our_partners[i].position == kAbsent) {
      result.push_back(ours[i++]);
    } else if (i < ours.size() && our_partners[i].position != next_shared[j]) {
      ++i;
    } else {
      if (i < ours.size() && our_partners[i].position == j) ++i;
      COX_RETURN_IF_ERROR(take_theirs(j++));
    }
  }
  return Value(std::move(result));
}

Result<Value> MergeAt(const Value& base, const Value& config, TypeRef ref, int depth) {
  if (depth > kMaxWalkDepth) return TooDeep();
  switch (ref.form()) {
    case Form::kMembers:
    case Form::kDeduced:
      if (base.is_object() && config.is_object()) return MergeMembers(base, config, ref, depth);
      break;
    case Form::kItems:
      if (base.is_array() && config.is_array()) return MergeItems(base, config, ref, depth);
      break;
    default:
      return config;
  }
  // Applying null to a list, map or struct with content does not change it.
  bool parts = ref.form() != Form::kDeduced || base.is_object();
  if (config.is_null() && parts && !IsEmptyOrNull(base)) return base;
  return config;
}

}  // namespace

Result<Value> Merge(const Value& base, const Value& config, const Type& type) {
  return MergeAt(base, config, TypeRef(type), 0);
}

}  // namespace cox::apply
