// SPDX-License-Identifier: Apache-2.0
// Types from schemas: the input is a schema, a zero byte and an object. Pruning and defaulting are
// idempotent.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "object/apply/typed.h"
#include "object/codec/json/json.h"
#include "object/runtime_type.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view input(reinterpret_cast<const char*>(data), size);
  size_t zero = input.find('\0');
  auto schema = cox::json::Parse(input.substr(0, zero));
  if (!schema.ok()) return 0;
  auto type = cox::RuntimeType::FromSchema(*schema);
  auto definition = cox::RuntimeType::FromDefinitions(*schema, "A", {});
  if (!type.ok()) type = definition;
  if (!type.ok()) return 0;
  auto object = cox::json::Parse(zero == std::string_view::npos ? "{}" : input.substr(zero + 1));
  if (!object.ok()) return 0;
  const cox::Type& root = (*type)->type();
  cox::Prune(*object, root);
  if (!cox::Prune(*object, root).empty()) std::abort();
  cox::ApplyDefaults(*object, root);
  cox::Value once = *object;
  cox::ApplyDefaults(*object, root);
  if (!(once == *object)) std::abort();
  if (cox::apply::Validate(*object, root).ok()) {
    auto same = cox::apply::Compare(*object, *object, root);
    if (!same.ok() || !same->Same()) std::abort();
  }
  return 0;
}
