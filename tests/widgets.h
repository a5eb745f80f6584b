// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "coxswain/resource.h"
#include "object/runtime_type.h"
#include "object/type/value.h"

// Objects of the kind of apiserver/testing/runtime_kind.h, as clients of the SDK send them.
namespace cox {

inline Resource Widgets(const std::string& version = "v1") {
  return Resource::Dynamic({"example.com", version, "Widget"}, "widgets", /*namespaced=*/true);
}

inline Object NewWidget(const ObjectKey& key, const std::string& version = "v1") {
  return {Widgets(version).gvk, types::kAny,
          Value::MakeObject(
              {{"apiVersion", "example.com/" + version},
               {"kind", "Widget"},
               {"metadata", Value::MakeObject({{"name", key.name}, {"namespace", key.ns}})}})};
}

}  // namespace cox
