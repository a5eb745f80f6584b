// SPDX-License-Identifier: Apache-2.0
#include "sdk/cache/item.h"

#include <cstring>
#include <string>
#include <utility>

#include "api/meta/v1.h"
#include "base/check.h"
#include "base/strings.h"
#include "object/codec.h"
#include "object/codec/json/json.h"
#include "object/codec/protobuf/protobuf.h"
#include "object/object_size.h"
#include "object/scheme.h"

namespace cox::sdk {
namespace {

std::string_view TextIn(const Object& object, std::string_view member) {
  const Value* value = object.value().At({"metadata", member});
  return value != nullptr && value->is_string() ? value->as_string() : std::string_view();
}

void AppendLength(std::string& out, size_t length) {
  const auto number = static_cast<uint32_t>(length);
  out.append(reinterpret_cast<const char*>(&number), sizeof(number));
}

void AppendText(std::string& out, std::string_view text) {
  AppendLength(out, text.size());
  out += text;
}

std::string_view TakeText(std::string_view& rest) {
  uint32_t length = 0;
  std::memcpy(&length, rest.data(), sizeof(length));
  const std::string_view text = rest.substr(sizeof(length), length);
  rest.remove_prefix(sizeof(length) + length);
  return text;
}

std::string PackLabels(const Object& object) {
  std::string out;
  if (const meta::v1::ObjectMeta* meta = object.object_meta()) {
    for (const auto& [key, value] : meta->labels) {
      AppendText(out, key);
      AppendText(out, value);
    }
  } else if (const Value* labels =
                 object.is_typed() ? nullptr : object.value().At({"metadata", "labels"});
             labels != nullptr && labels->is_object()) {
    for (const auto& [key, value] : labels->as_object()) {
      AppendText(out, key);
      AppendText(out, value.is_string() ? value.as_string() : std::string_view());
    }
  }
  return out;
}

// The scalar at a field selector's path, in the selector's notation.
std::string FieldText(const Value& object, std::string_view path) {
  const Value* at = &object;
  for (std::string_view part : Split(path, '.')) {
    at = at->Find(part);
    if (at == nullptr) return "";
  }
  if (at->is_string()) return std::string(at->as_string());
  if (at->is_bool()) return at->as_bool() ? "true" : "false";
  return at->is_int() ? std::to_string(at->as_int()) : "";
}

// A copy has no spare capacity. Decoders grow lists by doubling: a list of three containers has
// space for four, about 1 KB each.
ObjectPtr Shrunk(const Object& object) { return std::make_shared<const Object>(object); }

}  // namespace

struct Item::Head {
  uint32_t length[kParts] = {};
};

std::string_view Item::Packed(Part part) const {
  Head head;
  std::memcpy(&head, packed_.get(), sizeof(head));
  size_t at = sizeof(head);
  for (int i = 0; i < part; ++i) at += head.length[i];
  return {packed_.get() + at, head.length[part]};
}

std::string_view Item::ns() const {
  if (packed_ != nullptr) return Packed(kNs);
  if (const meta::v1::ObjectMeta* meta = object_->object_meta()) return meta->namespace_;
  return object_->is_typed() ? std::string_view() : TextIn(*object_, "namespace");
}

std::string_view Item::name() const {
  if (packed_ != nullptr) return Packed(kName);
  if (const meta::v1::ObjectMeta* meta = object_->object_meta()) return meta->name;
  return object_->is_typed() ? std::string_view() : TextIn(*object_, "name");
}

std::string_view Item::uid() const {
  if (empty()) return {};
  if (packed_ != nullptr) return Packed(kUid);
  if (const meta::v1::ObjectMeta* meta = object_->object_meta()) return meta->uid;
  return object_->is_typed() ? std::string_view() : TextIn(*object_, "uid");
}

bool Item::Matches(const labels::Selector& labels) const {
  if (labels.Empty()) return true;
  if (packed_ != nullptr) {
    return labels.Matches([all = Packed(kLabels)](std::string_view key) {
      std::optional<std::string_view> found;
      for (std::string_view rest = all; !rest.empty() && !found;) {
        const std::string_view name = TakeText(rest);
        const std::string_view value = TakeText(rest);
        if (name == key) found = value;
      }
      return found;
    });
  }
  if (const meta::v1::ObjectMeta* meta = object_->object_meta()) {
    return labels.Matches(meta->labels);
  }
  const Value* all = object_->is_typed() ? nullptr : object_->value().At({"metadata", "labels"});
  return labels.Matches([all](std::string_view key) -> std::optional<std::string_view> {
    const Value* value = all == nullptr ? nullptr : all->Find(key);
    if (value == nullptr || !value->is_string()) return std::nullopt;
    return value->as_string();
  });
}

ItemForm::ItemForm(const Resource& resource, bool metadata_only, const CacheScope& scope)
    : resource_(resource),
      metadata_only_(metadata_only),
      keep_(scope.keep),
      transform_(metadata_only && !scope.transform ? StripManagedFields : scope.transform),
      labels_(scope.labels),
      fields_(scope.fields),
      info_(metadata_only ? &meta::v1::PartialObjectMetadata::kKind : resource.info),
      protobuf_(info_ != nullptr &&
                Scheme::Builtin().FindKind({std::string(info_->group), std::string(info_->version),
                                            std::string(info_->kind)}) == info_) {}

Item ItemForm::Make(ObjectPtr object) const {
  if (transform_) {
    auto changed = std::make_shared<Object>(*object);
    transform_(*changed);
    object = std::move(changed);
  }
  Item item;
  if (keep_ == CacheScope::Keep::kBytes) {
    item = Pack(*object);
    item.object_ = std::move(object);
    return item;
  }
  item.version_ = HeadOf(*object).version;
  item.object_ = Shrunk(*object);
  item.bytes_ = static_cast<uint32_t>(SizeInMemory(*item.object_));
  return item;
}

Item ItemForm::Pack(const Object& object) const {
  const ObjectHead head = HeadOf(object);
  const std::string labels = PackLabels(object);
  std::string body;
  if (protobuf_ && object.is_typed()) {
    proto::Encode(object.type(), object.data(), &body);
  } else if (object.is_typed()) {
    json::Encode(object.type(), object.data(), &body);
  } else {
    json::WriteTo(object.value(), &body);
  }
  Item::Head lengths;
  const std::string_view parts[] = {head.key.ns, head.key.name, head.uid, labels, body};
  size_t total = sizeof(lengths);
  for (int i = 0; i < Item::kParts; ++i) {
    lengths.length[i] = static_cast<uint32_t>(parts[i].size());
    total += parts[i].size();
  }
  const std::shared_ptr<char[]> packed = std::make_shared_for_overwrite<char[]>(total);
  std::memcpy(packed.get(), &lengths, sizeof(lengths));
  char* at = packed.get() + sizeof(lengths);
  for (std::string_view part : parts) {
    std::memcpy(at, part.data(), part.size());
    at += part.size();
  }
  Item item;
  item.packed_ = packed;
  item.version_ = head.version;
  item.bytes_ = static_cast<uint32_t>(total + 32);
  return item;
}

ObjectPtr ItemForm::Read(const Item& item) const {
  if (item.object_ != nullptr || item.packed_ == nullptr) return item.object_;
  const std::string_view body = item.Packed(Item::kBody);
  if (info_ == nullptr) {
    Result<Value> value = json::Parse(body);
    COX_CHECK_OK(value.status());  // encoded by Pack
    return std::make_shared<const Object>(resource_.gvk, types::kAny, *std::move(value));
  }
  auto object = std::make_shared<Object>(*info_);
  COX_CHECK_OK(protobuf_ ? proto::Decode(body, *info_->type, object->data())
                         : json::Decode(body, *info_->type, object->data()));
  return object;
}

Item ItemForm::WithoutObject(Item item) {
  if (item.packed_ != nullptr) item.object_.reset();
  return item;
}

bool ItemForm::Selects(const Object& object) const {
  if (!labels_.Empty()) {
    Item item;
    item.object_ = ObjectPtr(ObjectPtr(), &object);  // borrowed for the call
    if (!item.Matches(labels_)) return false;
  }
  if (fields_.Empty()) return true;
  const Value value = object.ToValue();
  std::vector<std::pair<std::string, std::string>> wanted;
  for (const fields::Requirement& requirement : fields_.requirements()) {
    std::string text = FieldText(value, requirement.field);
    // Zero values are omitted from JSON.
    const bool zero = requirement.value == "false" || requirement.value == "0";
    if (text.empty() && zero) text = requirement.value;
    wanted.emplace_back(requirement.field, std::move(text));
  }
  return fields_.Matches(wanted);
}

ObjectPtr ItemForm::Convert(ObjectPtr object) const {
  if (info_ == nullptr) {
    if (!object->is_typed()) return object;
    return std::make_shared<const Object>(resource_.gvk, types::kAny, object->ToValue());
  }
  if (object->is_typed() && &object->type() == info_->type) return object;
  auto out = std::make_shared<Object>(*info_);
  if (!metadata_only_) {
    if (object->is_typed() || !out->FromValue(object->value()).ok()) return nullptr;
    return out;
  }
  meta::v1::ObjectMeta& metadata = out->As<meta::v1::PartialObjectMetadata>()->metadata;
  if (const meta::v1::ObjectMeta* all = object->object_meta()) {
    metadata = *all;
  } else {
    const Value* value = object->is_typed() ? nullptr : object->value().Find("metadata");
    if (value == nullptr || !json::FromValue(*value, metadata.kType, &metadata).ok()) {
      return nullptr;
    }
  }
  return out;
}

}  // namespace cox::sdk
