// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "object/codec.h"
#include "object/object.h"

// Encoding of the stored objects that allocation uses in addition to the Service.
namespace cox::apiserver {

template <class T>
std::string EncodeStored(T value) {
  value.metadata.resourceVersion.clear();
  std::string bytes;
  EncodeObject(Object::Of(std::move(value)), Format::kProtobuf, &bytes);
  return bytes;
}

// Errors: Internal if the bytes are of another kind or malformed.
template <class T>
Result<T> DecodeStored(std::string_view bytes) {
  const GroupVersionKind expected{std::string(T::kKind.group), std::string(T::kKind.version),
                                  std::string(T::kKind.kind)};
  COX_ASSIGN_OR_RETURN(Object object,
                       DecodeObject(bytes, SniffFormat(bytes), Scheme::Builtin(), &expected));
  T* value = object.As<T>();
  if (value == nullptr) {
    return Status::Internal("stored object is a " + object.gvk().ToString() + ", not a " +
                            expected.ToString());
  }
  return std::move(*value);
}

}  // namespace cox::apiserver
