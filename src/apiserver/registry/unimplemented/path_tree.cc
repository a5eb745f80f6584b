// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/unimplemented/path_tree.h"

#include <utility>

#include "base/strings.h"
#include "object/type/pointer.h"

namespace cox::apiserver {
namespace {

constexpr std::string_view kItems = "[]";

bool IsPresent(const FieldRef& value) {
  switch (value.type->shape) {
    case Shape::kBool:
      return *static_cast<const bool*>(value.at);
    case Shape::kString:
      return !static_cast<const std::string*>(value.at)->empty();
    case Shape::kList:
      return value.type->list_ops->items(value.at).count > 0;
    case Shape::kMap:
      return value.type->map_ops->Entries(value.at).count > 0;
    default:
      return true;
  }
}

bool KeyMatches(std::string_view key, std::string_view pattern) {
  if (!pattern.ends_with('*')) return key == pattern;
  return key.starts_with(pattern.substr(0, pattern.size() - 1));
}

Status NoSuchPath(std::string_view path) {
  return Status::BadRequest("there is no field " + Quote(path));
}

}  // namespace

Status PathTree::Add(std::string_view path, int id) {
  size_t at = 0;
  std::string_view rest = path;
  while (!rest.empty()) {
    const size_t items = rest.find(kItems);
    COX_ASSIGN_OR_RETURN(const std::vector<PathStep> steps, ParsePath(rest.substr(0, items)));
    Result<size_t> next = AddSteps(at, steps);
    if (!next.ok()) return NoSuchPath(path);
    at = *next;
    if (items == std::string_view::npos) break;
    const Type& list = *nodes_[at].type;
    if (list.shape != Shape::kList) return NoSuchPath(path);
    at = Step(at, {.type = list.element});
    rest.remove_prefix(items + kItems.size());
    if (rest.starts_with('.')) rest.remove_prefix(1);
  }
  nodes_[at].ids.push_back(id);
  return {};
}

Result<size_t> PathTree::AddSteps(size_t from, const std::vector<PathStep>& steps) {
  for (const PathStep& step : steps) {
    const Type& type = *nodes_[from].type;
    if (type.shape == Shape::kStruct) {
      const Field* field = type.Find(step.name);
      if (field == nullptr || field->Has(Field::kInline)) return NoSuchPath(step.name);
      from = Step(from, {.type = field->type, .field = field});
    } else if (type.shape == Shape::kMap) {
      from = Step(from, {.type = type.element, .key = step.name});
    } else {
      return NoSuchPath(step.name);
    }
  }
  return from;
}

// Returns the child of `from` that is like `to`; adds it if there is none.
size_t PathTree::Step(size_t from, const Node& to) {
  for (const size_t child : nodes_[from].children) {
    if (nodes_[child].field == to.field && nodes_[child].key == to.key) return child;
  }
  nodes_.push_back(to);
  nodes_[from].children.push_back(nodes_.size() - 1);
  return nodes_.size() - 1;
}

void PathTree::Visit(const void* object, const Visitor& visit) const {
  const FieldRef root{nodes_.front().type, object};
  VisitNode(nodes_.front(), root, root, nullptr, visit);
}

void PathTree::VisitNode(const Node& node, FieldRef parent, FieldRef value, const Trail* trail,
                         const Visitor& visit) const {
  for (const int id : node.ids) visit({id, value, parent, [trail] { return Text(trail); }});
  for (const size_t child : node.children) VisitChild(nodes_[child], value, trail, visit);
}

void PathTree::VisitChild(const Node& child, FieldRef value, const Trail* trail,
                          const Visitor& visit) const {
  const Type& type = *value.type;
  const char* const at = static_cast<const char*>(value.at);
  if (type.shape == Shape::kStruct) {
    FieldRef member{child.type, at + child.field->offset};
    if (child.field->Has(Field::kPointer)) {
      member.at = PointedTo(*child.type, member.at);
      if (member.at == nullptr) return;
    } else if (!IsPresent(member)) {
      return;
    }
    const Trail here{trail, &child, 0, {}};
    VisitNode(child, value, member, &here, visit);
  } else if (type.shape == Shape::kList) {
    const ItemSpan items = type.list_ops->items(at);
    for (size_t i = 0; i < items.count; ++i) {
      const Trail here{trail, &child, i, {}};
      const char* const item = static_cast<const char*>(items.data) + i * type.list_ops->stride;
      VisitNode(child, value, {child.type, item}, &here, visit);
    }
  } else {
    const ItemSpan entries = type.map_ops->Entries(at);
    for (size_t i = 0; i < entries.count; ++i) {
      const char* const entry = static_cast<const char*>(entries.data) + i * type.map_ops->stride;
      const auto& key = *reinterpret_cast<const std::string*>(entry);
      if (!KeyMatches(key, child.key)) continue;
      const Trail here{trail, &child, 0, key};
      VisitNode(child, value, {child.type, entry + type.map_ops->value_offset}, &here, visit);
    }
  }
}

std::string PathTree::Text(const Trail* trail) {
  if (trail == nullptr) return "";
  std::string text = Text(trail->outer);
  if (trail->node->field != nullptr) {
    if (!text.empty()) text += '.';
    return text.append(trail->node->field->name);
  }
  if (trail->node->key.empty()) return text + "[" + std::to_string(trail->index) + "]";
  return text.append("['").append(trail->key).append("']");
}

}  // namespace cox::apiserver
