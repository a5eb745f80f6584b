// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/served/served_resource.h"

#include <utility>

#include "apiserver/registry/served/registered_kind.h"
#include "base/strings.h"
#include "object/codec/json/json.h"
#include "object/type/kind_names.h"

namespace cox::apiserver {
namespace {

apply::FieldSet ResetFieldsOf(const UpdateStrategy& strategy) {
  apply::FieldSet fields;
  for (std::string_view text : strategy.ResetFields()) {
    apply::Path path;
    for (std::string_view name : Split(text, '.')) path.push_back(apply::PathElement::Field(name));
    fields.Insert(path);
  }
  return fields;
}

}  // namespace

// The versions of a kind that has several: field managers may use different ones.
class ServedResource::Versions final : public apply::Versions {
 public:
  explicit Versions(const Strategy& strategy) : strategy_(strategy) {}

  const Type* TypeAt(std::string_view version) const override {
    if (version == ApiVersionOf(strategy_.kind())) return strategy_.kind().type;
    const ServedVersion* served = Find(version);
    return served == nullptr ? nullptr : served->kind().type;
  }

  Result<Value> Convert(const Value& object, std::string_view version) const override {
    const Value* from = object.Find("apiVersion");
    if (from == nullptr || !from->is_string() || from->as_string() == version) return object;
    COX_ASSIGN_OR_RETURN(Object hub, ToHub(object, from->as_string()));
    if (version == ApiVersionOf(strategy_.kind())) return hub.ToValue();
    const ServedVersion* served = Find(version);
    if (served == nullptr) return Status::NotFound("no version " + Quote(version));
    return served->FromHub(hub).ToValue();
  }

 private:
  const ServedVersion* Find(std::string_view version) const {
    for (const ServedVersion* served : strategy_.Versions()) {
      if (ApiVersionOf(served->kind()) == version) return served;
    }
    return nullptr;
  }

  Result<Object> ToHub(const Value& value, std::string_view version) const {
    const ServedVersion* served = Find(version);
    Object object(served == nullptr ? strategy_.kind() : served->kind());
    COX_RETURN_IF_ERROR(object.FromValue(value));
    return served == nullptr ? std::move(object) : served->ToHub(object);
  }

  const Strategy& strategy_;
};

ServedResource::ServedResource(const RegisteredKind& owner, const KindInfo& kind,
                               const ServedVersion* version, uint8_t slot)
    : owner_(owner),
      kind_(kind),
      store_(owner.store()),
      version_(version),
      slot_(slot),
      type_meta_size_(std::string_view(R"({"kind":"","apiVersion":"",)").size() + kind.kind.size() +
                      ApiVersionOf(kind).size()) {
  if (!strategy().Versions().empty()) versions_ = std::make_unique<Versions>(strategy());
  AddFieldManager("");
  for (const SubresourceInfo& subresource : kind.subresources) AddFieldManager(subresource.name);
}

ServedResource::~ServedResource() = default;

void ServedResource::AddFieldManager(std::string_view subresource) {
  const UpdateStrategy* how =
      subresource.empty() ? &strategy() : strategy().Subresource(subresource);
  managers_.emplace(
      subresource,
      std::make_unique<apply::FieldManager>(
          *kind_.type, apply::FieldManager::Options{
                           .api_version = ApiVersionOf(kind_),
                           .kind = std::string(kind_.kind),
                           .subresource = std::string(subresource),
                           .reset_fields = how != nullptr ? ResetFieldsOf(*how) : apply::FieldSet(),
                           .versions = versions_.get()}));
}

std::shared_ptr<const ServedResource> ServedResource::Hold() const {
  return {owner_.shared_from_this(), this};
}

std::span<const std::unique_ptr<const ServedResource>> ServedResource::versions() const {
  return owner_.resources();
}

GroupVersionKind ServedResource::gvk() const { return GvkOf(kind_); }

Object ServedResource::ToHub(Object served) const {
  return version_ == nullptr ? std::move(served) : version_->ToHub(served);
}

Object ServedResource::FromHub(const Object& hub) const {
  return version_ == nullptr ? hub : version_->FromHub(hub);
}

void ServedResource::SetDefaults(Object& served) const {
  if (version_ == nullptr) return strategy().SetDefaults(served);
  version_->SetDefaults(served);
}

const apply::FieldManager& ServedResource::field_manager(std::string_view subresource) const {
  auto at = managers_.find(subresource);
  return *(at == managers_.end() ? managers_.find("") : at)->second;
}

Result<Bytes> ServedResource::Encoded(const storage::Entry& entry, Format format) const {
  const uint8_t slot = static_cast<uint8_t>(slot_ + (format == Format::kProtobuf ? 1 : 0));
  return entry.Encoding(
      slot, [&](const storage::Entry& e) { return Encode(e.stored(), e.revision(), format); });
}

Result<Bytes> ServedResource::Encode(std::string_view stored, storage::Revision revision,
                                     Format format) const {
  COX_ASSIGN_OR_RETURN(Object hub, store_.Decode(stored, revision));
  std::string text;
  // FromHub would copy the hub itself.
  if (version_ != nullptr) hub = FromHub(hub);
  EncodeObject(hub, format, &text, Embedded::kNamed);
  if (format == Format::kJson && text.ends_with('\n')) text.pop_back();
  return Bytes::Copy(text);
}

}  // namespace cox::apiserver
