// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

#include "object/type/type.h"

namespace cox {

// A part of a resource with its own path and verbs: pods/status, deployments/scale.
struct SubresourceInfo {
  std::string_view name;   // "status", "scale"
  std::string_view group;  // of the kind of its objects; empty for core
  std::string_view version;
  std::string_view kind;
  std::span<const std::string_view> verbs;
};

// The discovery data of a kind, as constant data from api/*.api.
struct KindInfo {
  std::string_view group;  // empty for core
  std::string_view version;
  std::string_view kind;
  const Type* type = nullptr;
  // The following fields are empty for kinds that are not resources (lists, options, Status).
  std::string_view plural;
  std::string_view singular;
  std::span<const std::string_view> short_names = {};
  std::span<const std::string_view> categories = {};
  bool namespaced = false;
  std::span<const std::string_view> verbs = {};
  std::span<const SubresourceInfo> subresources = {};

  bool IsResource() const { return !plural.empty(); }
};

// A group in `/apis`.
struct GroupInfo {
  std::string_view group;                      // empty for core
  std::span<const std::string_view> versions;  // most preferred first
};

// Every built-in kind, by group version; every served group, in the order of discovery.
std::span<const KindInfo* const> AllKinds();
std::span<const GroupInfo> ServedGroups();

// The text for `kubectl explain` if the build included the descriptions, else empty.
// `key` is "core/v1.PodSpec" or "core/v1.PodSpec.containers".
std::string_view Description(std::string_view key);

}  // namespace cox
