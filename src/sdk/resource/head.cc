// SPDX-License-Identifier: Apache-2.0
#include <charconv>

#include "api/meta/v1.h"
#include "coxswain/resource.h"

namespace cox {
namespace {

int64_t NumberOf(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : 0;
}

std::string TextOf(const Value& metadata, std::string_view member) {
  const Value* value = metadata.Find(member);
  return value != nullptr && value->is_string() ? std::string(value->as_string()) : "";
}

}  // namespace

ObjectHead HeadOf(const Object& object) {
  if (const meta::v1::ObjectMeta* meta = object.object_meta()) {
    return {.key = {meta->namespace_, meta->name},
            .uid = meta->uid,
            .version = NumberOf(meta->resourceVersion),
            .generation = meta->generation,
            .deleting = meta->deletionTimestamp.has_value()};
  }
  const Value* metadata = object.is_typed() ? nullptr : object.value().Find("metadata");
  if (metadata == nullptr) return {};
  const Value* generation = metadata->Find("generation");
  const Value* deletion = metadata->Find("deletionTimestamp");
  return {.key = {TextOf(*metadata, "namespace"), TextOf(*metadata, "name")},
          .uid = TextOf(*metadata, "uid"),
          .version = NumberOf(TextOf(*metadata, "resourceVersion")),
          .generation = generation != nullptr && generation->is_int() ? generation->as_int() : 0,
          .deleting = deletion != nullptr && !deletion->is_null()};
}

}  // namespace cox
