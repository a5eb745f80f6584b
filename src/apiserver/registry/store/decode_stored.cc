// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/store/decode_stored.h"

#include <memory>
#include <span>
#include <string>
#include <utility>

#include "api/meta/v1.h"
#include "object/codec.h"
#include "object/defaults.h"
#include "object/type/kind_names.h"
#include "storage/unreadable.h"

namespace cox::apiserver {
namespace {

// Converts an object of any version to the hub.
Object ToHub(const Strategy& strategy, Object object) {
  for (const ServedVersion* version : strategy.Versions()) {
    if (GvkOf(version->kind()) == object.gvk()) return version->ToHub(object);
  }
  return object;
}

}  // namespace

Result<Object> DecodeStored(const Strategy& strategy, std::string_view value,
                            storage::Revision revision) {
  if (const auto why = storage::WhyUnreadable(value)) {
    return Status::Internal("Internal error occurred: " + std::string(*why));
  }
  const GroupVersionKind expected = GvkOf(strategy.kind());
  COX_ASSIGN_OR_RETURN(Object object,
                       DecodeObject(value, SniffFormat(value), strategy.scheme(), &expected));
  if (object.gvk() != expected) object = ToHub(strategy, std::move(object));
  meta::v1::ObjectMeta* meta = object.object_meta();
  if (&object.type() != strategy.kind().type || meta == nullptr) {
    return Status::Internal("stored object is a " + object.gvk().ToString() + ", not a " +
                            expected.ToString());
  }
  ApplyDefaults(object.type(), object.data());
  strategy.SetDefaults(object);
  meta->resourceVersion = std::to_string(revision);
  return object;
}

void ReadHead(const Strategy& strategy, std::string_view value, storage::HeadBuilder& head) {
  const Result<Object> object = DecodeStored(strategy, value, 0);
  if (!object.ok()) return;
  head.Uid(object->object_meta()->uid);
  for (const auto& [key, text] : object->object_meta()->labels) head.Label(key, text);
  const std::span<const std::string_view> names = strategy.FieldNames();
  if (names.empty()) return;
  const FieldPairs fields = strategy.Fields(*object);
  for (size_t i = 0; i < names.size(); ++i) {
    for (const auto& [name, text] : fields) {
      if (name == names[i]) head.Field(i, text);
    }
  }
}

storage::ObjectDecoder MakeDecoder(SharedStrategy strategy) {
  return [strategy = std::move(strategy)](std::string_view value,
                                          storage::Revision revision) -> ObjectPtr {
    Result<Object> object = DecodeStored(*strategy, value, revision);
    if (!object.ok()) return nullptr;
    object->object_meta()->managedFields.clear();
    return std::make_shared<const Object>(*std::move(object));
  };
}

}  // namespace cox::apiserver
