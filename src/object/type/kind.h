// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

#include "object/type/type.h"

namespace cox {

// A part of a resource with its own path and verbs: pods/status, deployments/scale.
struct SubresourceInfo {
  std::string_view name;   // "status", "scale"
  std::string_view group;  // of the kind it speaks; empty for core
  std::string_view version;
  std::string_view kind;
  std::span<const std::string_view> verbs;
};

// What discovery says about a kind, as constant data from api/*.api.
struct KindInfo {
  std::string_view group;  // empty for core
  std::string_view version;
  std::string_view kind;
  const Type* type = nullptr;
  // The rest is empty for kinds that are not resources (lists, options, Status).
  std::string_view plural;
  std::string_view singular;
  std::span<const std::string_view> short_names = {};
  std::span<const std::string_view> categories = {};
  bool namespaced = false;
  std::span<const std::string_view> verbs = {};
  std::span<const SubresourceInfo> subresources = {};

  bool IsResource() const { return !plural.empty(); }
};

// A group as `/apis` shows it.
struct GroupInfo {
  std::string_view group;                      // empty for core
  std::span<const std::string_view> versions;  // most preferred first
};

// Every built-in kind, by group version; every served group, in the order of discovery.
std::span<const KindInfo* const> AllKinds();
std::span<const GroupInfo> ServedGroups();

// Prose for `kubectl explain`, where the build had the packages that hold it; else empty.
// `key` is "core/v1.PodSpec" or "core/v1.PodSpec.containers".
std::string_view Description(std::string_view key);

}  // namespace cox
