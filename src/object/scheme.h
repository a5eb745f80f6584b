// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "object/type/gvk.h"
#include "object/type/kind.h"

namespace cox {

// The mapping between a kind and a resource, and its scope.
struct RestMapping {
  GroupVersionKind gvk;
  GroupVersionResource gvr;
  bool namespaced = false;
  const KindInfo* info = nullptr;
};

// A registry of kinds: maps a kind to its Type for decoding, and kinds to resources and back for
// paths.
//
// Builtin() contains the kinds of api/*.api and is constant. Kinds that are defined at run time are
// in a separate Scheme that uses it as base and finds the kinds of both.
//
// Threads: concurrent reads are safe once the Scheme is no longer modified.
class Scheme {
 public:
  // Every built-in kind.
  static const Scheme& Builtin();

  Scheme() = default;
  explicit Scheme(std::span<const KindInfo* const> kinds);
  // Kinds that are not among `kinds` are looked up in `base`, which must outlive this.
  Scheme(std::span<const KindInfo* const> kinds, const Scheme& base);

  // `kind` must outlive the Scheme. An existing kind is replaced.
  void Add(const KindInfo& kind);

  // Options, Status, WatchEvent and similar kinds belong to every group version: they are found in
  // each group version that has a kind of its own.
  const KindInfo* FindKind(const GroupVersionKind& gvk) const;
  const KindInfo* FindResource(const GroupVersionResource& gvr) const;

  // Errors: NotFound with upstream's text: `no matches for kind "X" in version "v1"`.
  Result<RestMapping> MappingForKind(const GroupVersionKind& gvk) const;
  // Finds a resource by any name that a user may type: plural, singular or short name. Group and
  // version may be empty; then the most preferred match is returned. Errors: NotFound with `no
  // matches for /, Resource=x`.
  Result<RestMapping> MappingForResource(const GroupVersionResource& partial) const;

  // Kinds in the order of their addition, without those of the base.
  const std::vector<const KindInfo*>& kinds() const { return kinds_; }

 private:
  const KindInfo* FindMeta(std::string_view kind) const;
  const KindInfo* BestMatch(const GroupVersionResource& partial) const;

  const Scheme* base_ = nullptr;
  std::vector<const KindInfo*> kinds_;
  std::map<GroupVersionKind, const KindInfo*> by_kind_;
  std::map<GroupVersionResource, const KindInfo*> by_resource_;
  std::map<GroupVersion, int> group_versions_;
};

// The plural for kinds without a defined plural, by simple English rules: "Endpoints" ->
// "endpoints", "Ingress" -> "ingresses", "NetworkPolicy" -> "networkpolicies".
std::string GuessPlural(std::string_view kind);

}  // namespace cox
