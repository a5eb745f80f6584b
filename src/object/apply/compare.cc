// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "object/apply/schema.h"
#include "object/apply/typed.h"
#include "object/apply/walk.h"

namespace cox::apply {
namespace {

enum class Change : uint8_t { kNone, kAdded, kModified, kRemoved };

// The difference of one field or item, and of the fields below it.
struct Difference {
  Change self = Change::kNone;
  Comparison below;
};

// Most elements belong to at most one of the sets, so copy the element only if needed.
void Append(PathElement element, Difference difference, Comparison* to) {
  struct Part {
    FieldSet& to;
    FieldSet& below;
    bool member;
    bool Holds() const { return member || !below.Empty(); }
  };
  Comparison& below = difference.below;
  Part parts[] = {{to->added, below.added, difference.self == Change::kAdded},
                  {to->modified, below.modified, difference.self == Change::kModified},
                  {to->removed, below.removed, difference.self == Change::kRemoved}};
  Part* last = nullptr;
  for (Part& part : parts) {
    if (!part.Holds()) continue;
    if (last != nullptr) last->to.Append(element, last->member, std::move(last->below));
    last = &part;
  }
  if (last != nullptr) last->to.Append(std::move(element), last->member, std::move(last->below));
}

Result<Difference> CompareAt(const Value* before, const Value* after, TypeRef ref, int depth);

const Value::Object& MembersOf(const Value* value) {
  static const Value::Object kEmpty;
  return value != nullptr && value->is_object() ? value->as_object() : kEmpty;
}

const Value::Array& ItemsOf(const Value* value) {
  static const Value::Array kEmpty;
  return value != nullptr && value->is_array() ? value->as_array() : kEmpty;
}

Status CompareMembers(const Value* before, const Value* after, TypeRef ref, int depth,
                      Comparison* out) {
  const Value::Object& old_members = MembersOf(before);
  const Value::Object& new_members = MembersOf(after);
  auto x = old_members.begin();
  auto y = new_members.begin();
  while (x != old_members.end() || y != new_members.end()) {
    std::strong_ordering order = x == old_members.end()   ? std::strong_ordering::greater
                                 : y == new_members.end() ? std::strong_ordering::less
                                                          : x->key <=> y->key;
    const std::string& key = order <= 0 ? x->key : y->key;
    PathElement element = PathElement::Field(key);
    Result<Difference> difference =
        CompareAt(order <= 0 ? &x->value : nullptr, order >= 0 ? &y->value : nullptr,
                  ref.Member(key), depth + 1);
    if (!difference.ok()) return Under(element, difference.status());
    Append(std::move(element), std::move(*difference), out);
    if (order <= 0) ++x;
    if (order >= 0) ++y;
  }
  return Status();
}

// Items with the same element, in list order.
struct Run {
  const Value::Array& items;
  const std::vector<ListItem>& named;
  size_t first;
  size_t end;

  size_t size() const { return end - first; }
  const Value& operator[](size_t i) const { return items[named[first + i].position]; }
};

// Compares the items with one element. Several items with the same element count as one value,
// because their fields cannot be distinguished.
Status CompareRuns(const PathElement& element, const Run& before, const Run& after, TypeRef item,
                   int depth, Comparison* out) {
  Difference difference;
  if (before.size() > 1 && after.size() > 1) {
    bool same = before.size() == after.size();
    for (size_t i = 0; same && i < before.size(); ++i) same = before[i] == after[i];
    if (!same) difference.self = Change::kModified;
    Append(element, std::move(difference), out);
    return Status();
  }
  const Value* old_item = before.size() == 1 ? &before[0] : nullptr;
  const Value* new_item = after.size() == 1 ? &after[0] : nullptr;
  if (before.size() <= 1 && after.size() <= 1) {
    COX_ASSIGN_OR_RETURN(difference, CompareAt(old_item, new_item, item, depth));
    Append(element, std::move(difference), out);
    return Status();
  }
  // One item became several, or the reverse: report removal and addition.
  if (before.size() > 0) {
    if (old_item != nullptr) {
      COX_ASSIGN_OR_RETURN(difference, CompareAt(old_item, nullptr, item, depth));
    }
    out->removed.Append(element, true, std::move(difference.below.removed));
  }
  if (after.size() > 0) {
    if (new_item != nullptr) {
      COX_ASSIGN_OR_RETURN(difference, CompareAt(nullptr, new_item, item, depth));
    }
    out->added.Append(element, true, std::move(difference.below.added));
  }
  return Status();
}

Status CompareItems(const Value* before, const Value* after, TypeRef ref, int depth,
                    Comparison* out) {
  const Value::Array& old_items = ItemsOf(before);
  const Value::Array& new_items = ItemsOf(after);
  COX_ASSIGN_OR_RETURN(std::vector<ListItem> old_named, NameItems(old_items, ref));
  COX_ASSIGN_OR_RETURN(std::vector<ListItem> new_named, NameItems(new_items, ref));
  size_t x = 0;
  size_t y = 0;
  while (x < old_named.size() || y < new_named.size()) {
    std::strong_ordering order = x == old_named.size() ? std::strong_ordering::greater
                                 : y == new_named.size()
                                     ? std::strong_ordering::less
                                     : old_named[x].element <=> new_named[y].element;
    Run old_run{old_items, old_named, x, order <= 0 ? EndOfRun(old_named, x) : x};
    Run new_run{new_items, new_named, y, order >= 0 ? EndOfRun(new_named, y) : y};
    PathElement element = order <= 0 ? old_named[x].element : new_named[y].element;
    x = old_run.end;
    y = new_run.end;
    Status status = CompareRuns(element, old_run, new_run, ref.Item(), depth + 1, out);
    if (!status.ok()) return Under(element, status);
  }
  return Status();
}

// Whether the value itself counts as changed, in addition to changes below it.
Change ChangeOf(const Value* before, const Value* after, Form form) {
  if (before == nullptr) return Change::kAdded;
  if (after == nullptr) return Change::kRemoved;
  bool by_parts = form == Form::kMembers || form == Form::kItems;
  if (by_parts) {
    auto whole = [form](const Value& v) {
      return !v.is_null() && (form == Form::kMembers ? !v.is_object() : !v.is_array());
    };
    // The parts are compared, unless both sides are empty or one side has no parts.
    bool hollow = IsEmptyOrNull(*before) && IsEmptyOrNull(*after);
    if (!hollow && !whole(*before) && !whole(*after)) return Change::kNone;
  }
  return *before == *after ? Change::kNone : Change::kModified;
}

Result<Difference> CompareAt(const Value* before, const Value* after, TypeRef ref, int depth) {
  if (depth > kMaxWalkDepth) return TooDeep();
  Form form = ref.FormFor(before, after);
  Difference result;
  result.self = ChangeOf(before, after, form);
  if (form == Form::kMembers) {
    COX_RETURN_IF_ERROR(CompareMembers(before, after, ref, depth, &result.below));
  } else if (form == Form::kItems) {
    COX_RETURN_IF_ERROR(CompareItems(before, after, ref, depth, &result.below));
  }
  return result;
}

}  // namespace

Result<Comparison> Compare(const Value& before, const Value& after, const Type& type) {
  COX_ASSIGN_OR_RETURN(Difference difference, CompareAt(&before, &after, TypeRef(type), 0));
  return std::move(difference.below);
}

}  // namespace cox::apply
