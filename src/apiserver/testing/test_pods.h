// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "api/core/v1.h"
#include "apiserver/registry/kinds/core/pod/defaults.h"
#include "object/codec/json/json.h"
#include "object/defaults.h"
#include "object/validation/field_error.h"

// Pods for tests, written as JSON.
namespace cox::apiserver {

template <class T>
T FromJson(std::string_view text) {
  Result<T> object = json::Decode<T>(text);
  EXPECT_TRUE(object.ok()) << text << ": " << object.status().message();
  return object.ok() ? *std::move(object) : T{};
}

// A Pod with one valid container c and additional members of its spec, with defaults set. A member
// "containers" replaces the container.
inline core::v1::Pod PodWith(std::string_view spec_members, std::string_view meta_members = "") {
  std::string text = R"({"metadata":{"name":"p")";
  if (!meta_members.empty()) text.append(",").append(meta_members);
  text += R"(},"spec":{)";
  if (spec_members.find("\"containers\"") == std::string_view::npos) {
    text += R"("containers":[{"name":"c","image":"registry.example/app:1"}])";
    if (!spec_members.empty()) text += ",";
  }
  text.append(spec_members).append("}}");
  core::v1::Pod pod = FromJson<core::v1::Pod>(text);
  ApplyDefaults(&pod);
  SetPodDefaults(pod);
  return pod;
}

// A Pod whose container c has additional members.
inline core::v1::Pod PodWithContainer(std::string_view members,
                                      std::string_view spec_members = "") {
  std::string spec = R"("containers":[{"name":"c","image":"registry.example/app:1",)";
  spec.append(members).append("}]");
  if (!spec_members.empty()) spec.append(",").append(spec_members);
  return PodWith(spec);
}

inline std::vector<std::string> Texts(const FieldErrorList& errors) {
  std::vector<std::string> texts;
  for (const FieldError& error : errors) texts.push_back(error.ToString());
  return texts;
}

}  // namespace cox::apiserver
