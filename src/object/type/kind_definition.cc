// SPDX-License-Identifier: Apache-2.0
#include "object/type/kind_definition.h"

#include <utility>

#include "base/check.h"

namespace cox {

KindDefinition::KindDefinition(Options options) : options_(std::move(options)) {
  COX_CHECK(options_.type != nullptr) << "a kind needs a type";
  for (const Subresource& subresource : options_.subresources) {
    subresources_.push_back({.name = subresource.name,
                             .group = subresource.gvk.group,
                             .version = subresource.gvk.version,
                             .kind = subresource.gvk.kind,
                             .verbs = Views(subresource.verbs)});
  }
  info_ = {.group = options_.gvk.group,
           .version = options_.gvk.version,
           .kind = options_.gvk.kind,
           .type = options_.type.get(),
           .plural = options_.plural,
           .singular = options_.singular,
           .short_names = Views(options_.short_names),
           .categories = Views(options_.categories),
           .namespaced = options_.namespaced,
           .verbs = Views(options_.verbs),
           .subresources = subresources_};
}

std::span<const std::string_view> KindDefinition::Views(const std::vector<std::string>& texts) {
  return views_.emplace_back(texts.begin(), texts.end());
}

}  // namespace cox
