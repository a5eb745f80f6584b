// SPDX-License-Identifier: Apache-2.0
#include "sdk/cache/item.h"

#include <array>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "api/meta/v1.h"
#include "base/check.h"
#include "base/strings.h"
#include "base/tail.h"
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

bool HasManagedFields(const Object& object) {
  if (const meta::v1::ObjectMeta* meta = object.object_meta()) return !meta->managedFields.empty();
  return !object.is_typed() && object.value().At({"metadata", "managedFields"}) != nullptr;
}

void RemoveManagedFields(Object& object) {
  if (meta::v1::ObjectMeta* meta = object.object_meta()) {
    meta->managedFields.clear();
  } else {
    object.value().Find("metadata")->as_object().Erase("managedFields");
  }
}

// A copy has no spare capacity. Decoders grow lists by doubling: a list of three containers has
// space for four, about 1 KB each.
ObjectPtr Shrunk(const Object& object) { return std::make_shared<const Object>(object); }

}  // namespace

// How the objects of one ItemForm are packed.
struct ItemForm::Packing {
  GroupVersionKind gvk;
  const KindInfo* info;  // null for JSON values
  bool protobuf;         // the kind has a protobuf encoding
};

// An object that its informer has encoded, in one block of memory.
class ItemForm::Packed final : public EncodedObject {
 public:
  enum Part { kNs, kName, kUid, kLabels, kBody, kParts };
  using Parts = std::array<std::string_view, kParts>;

  // `data` has space for all parts.
  Packed(char* data, const Parts& parts, int64_t version, std::shared_ptr<const Packing> packing)
      : packing_(std::move(packing)), version_(version), data_(data) {
    size_t end = 0;
    for (size_t i = 0; i < kParts; ++i) {
      parts[i].copy(data + end, parts[i].size());
      end += parts[i].size();
      ends_[i] = static_cast<uint32_t>(end);
    }
  }
  static size_t SizeOf(const Parts& parts) {
    size_t size = 0;
    for (const std::string_view part : parts) size += part.size();
    return size;
  }

  std::string_view ns() const override { return Get(kNs); }
  std::string_view name() const override { return Get(kName); }
  std::string_view uid() const override { return Get(kUid); }
  int64_t version() const override { return version_; }
  size_t bytes() const {
    constexpr size_t kCounts = 16;
    return sizeof(Packed) + kCounts + ends_[kParts - 1];
  }
  std::optional<std::string_view> Label(std::string_view key) const override {
    for (std::string_view rest = Get(kLabels); !rest.empty();) {
      const std::string_view name = TakeText(rest);
      const std::string_view value = TakeText(rest);
      if (name == key) return value;
    }
    return std::nullopt;
  }
  ObjectPtr Decode() const override {
    const std::string_view body = Get(kBody);
    const KindInfo* const info = packing_->info;
    if (info == nullptr) {
      Result<Value> value = json::Parse(body);
      COX_CHECK_OK(value.status());  // encoded by Pack
      return std::make_shared<const Object>(packing_->gvk, types::kAny, *std::move(value));
    }
    auto object = std::make_shared<Object>(*info);
    COX_CHECK_OK(packing_->protobuf ? proto::Decode(body, *info->type, object->data())
                                    : json::Decode(body, *info->type, object->data()));
    return object;
  }

 private:
  std::string_view Get(Part part) const {
    const size_t begin = part == kNs ? 0 : ends_[part - 1];
    return {data_ + begin, ends_[part] - begin};
  }

  const std::shared_ptr<const Packing> packing_;
  const int64_t version_;
  const char* const data_;
  std::array<uint32_t, kParts> ends_;
};

std::string_view Item::ns() const {
  if (encoded_ != nullptr) return encoded_->ns();
  if (const meta::v1::ObjectMeta* meta = object_->object_meta()) return meta->namespace_;
  return object_->is_typed() ? std::string_view() : TextIn(*object_, "namespace");
}

std::string_view Item::name() const {
  if (encoded_ != nullptr) return encoded_->name();
  if (const meta::v1::ObjectMeta* meta = object_->object_meta()) return meta->name;
  return object_->is_typed() ? std::string_view() : TextIn(*object_, "name");
}

std::string_view Item::uid() const {
  if (empty()) return {};
  if (encoded_ != nullptr) return encoded_->uid();
  if (const meta::v1::ObjectMeta* meta = object_->object_meta()) return meta->uid;
  return object_->is_typed() ? std::string_view() : TextIn(*object_, "uid");
}

ObjectPtr Item::Read() const {
  return object_ != nullptr || encoded_ == nullptr ? object_ : encoded_->Decode();
}

bool Item::IsVersionOf(const Item& other) const {
  return version_ != 0 && version_ == other.version_ && uid() == other.uid();
}

bool Item::Matches(const labels::Selector& labels) const {
  if (labels.Empty()) return true;
  if (encoded_ != nullptr) {
    return labels.Matches([this](std::string_view key) { return encoded_->Label(key); });
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
      managed_fields_(scope.managed_fields),
      transform_(scope.transform),
      labels_(scope.labels),
      fields_(scope.fields),
      info_(metadata_only ? &meta::v1::PartialObjectMetadata::kKind : resource.info),
      shares_objects_(!metadata_only && info_ != nullptr && !managed_fields_ &&
                      (!transform_ || scope.transform_is_optional)),
      packing_(std::make_shared<const Packing>(Packing{
          .gvk = resource.gvk,
          .info = info_,
          .protobuf =
              info_ != nullptr &&
              Scheme::Builtin().FindKind({std::string(info_->group), std::string(info_->version),
                                          std::string(info_->kind)}) == info_})) {}

Item ItemForm::Make(ObjectPtr object) const {
  if (transform_ || (!managed_fields_ && HasManagedFields(*object))) {
    auto changed = std::make_shared<Object>(*object);
    if (!managed_fields_) RemoveManagedFields(*changed);
    if (transform_) transform_(*changed);
    object = std::move(changed);
  }
  Item item;
  item.version_ = HeadOf(*object).version;
  if (keep_ == CacheScope::Keep::kBytes) {
    std::shared_ptr<const Packed> packed = Pack(*object);
    item.bytes_ = static_cast<uint32_t>(packed->bytes());
    item.encoded_ = std::move(packed);
    item.object_ = std::move(object);
  } else {
    item.object_ = Shrunk(*object);
    item.bytes_ = static_cast<uint32_t>(SizeInMemory(*item.object_));
  }
  return item;
}

Item ItemForm::Share(EncodedObjectPtr object) {
  Item item;
  item.version_ = object->version();
  item.encoded_ = std::move(object);
  item.shared_ = true;
  return item;
}

std::shared_ptr<const ItemForm::Packed> ItemForm::Pack(const Object& object) const {
  const ObjectHead head = HeadOf(object);
  const std::string labels = PackLabels(object);
  std::string body;
  if (packing_->protobuf && object.is_typed()) {
    proto::Encode(object.type(), object.data(), &body);
  } else if (object.is_typed()) {
    json::Encode(object.type(), object.data(), &body);
  } else {
    json::WriteTo(object.value(), &body);
  }
  const Packed::Parts parts{head.key.ns, head.key.name, head.uid, labels, body};
  return MakeSharedWithTail<Packed>(Packed::SizeOf(parts), parts, head.version, packing_);
}

Item ItemForm::WithoutObject(Item item) {
  if (item.encoded_ != nullptr) item.object_.reset();
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
