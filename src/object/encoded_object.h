// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "object/object.h"

namespace cox {

// An object in encoded form, which needs about a fifth of the memory of its struct.
//
// Guarantees: immutable. Returned views stay valid while the EncodedObject exists.
// Threads: all methods may be called concurrently.
class EncodedObject {
 public:
  virtual ~EncodedObject() = default;

  virtual std::string_view ns() const = 0;  // empty for objects without a namespace
  virtual std::string_view name() const = 0;
  virtual std::string_view uid() const = 0;
  virtual int64_t version() const = 0;  // metadata.resourceVersion
  // nullopt if the object does not have the label.
  virtual std::optional<std::string_view> Label(std::string_view key) const = 0;
  // The decoded object. Several calls may return the same one.
  virtual ObjectPtr Decode() const = 0;
};
using EncodedObjectPtr = std::shared_ptr<const EncodedObject>;

}  // namespace cox
