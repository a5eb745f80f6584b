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

// How a kind and a resource belong together, and where it lives.
struct RestMapping {
  GroupVersionKind gvk;
  GroupVersionResource gvr;
  bool namespaced = false;
  const KindInfo* info = nullptr;
};

// Knows kinds by name: kind to Type for decoding, kind to resource and back for paths.
//
// Builtin() holds what api/*.api describes. It is constant. Kinds that are defined at run time have
// a Scheme of their own over it, which knows the kinds of both.
//
// Threads: a Scheme that is no longer added to may be read concurrently.
class Scheme {
 public:
  // Every built-in kind.
  static const Scheme& Builtin();

  Scheme() = default;
  explicit Scheme(std::span<const KindInfo* const> kinds);
  // Kinds that are not among `kinds` are looked up in `base`, which must outlive this.
  Scheme(std::span<const KindInfo* const> kinds, const Scheme& base);

  // `kind` must outlive the Scheme. A kind known already is replaced.
  void Add(const KindInfo& kind);

  // Options, Status, WatchEvent and the like belong to every group version: they are found under
  // each that has a kind of its own.
  const KindInfo* FindKind(const GroupVersionKind& gvk) const;
  const KindInfo* FindResource(const GroupVersionResource& gvr) const;

  // NotFound with upstream's text: `no matches for kind "X" in version "v1"`.
  Result<RestMapping> MappingForKind(const GroupVersionKind& gvk) const;
  // A resource by any name a user may type: plural, singular or short name; group and version may
  // be empty, then the most preferred that has it answers. NotFound as `no matches for /,
  // Resource=x`.
  Result<RestMapping> MappingForResource(const GroupVersionResource& partial) const;

  // Kinds in the order they were added, without those of the base.
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

// "pods" -> "Pod" needs a table; the reverse guess for kinds that name no plural is English enough:
// "Endpoints" -> "endpoints", "Ingress" -> "ingresses", "NetworkPolicy" -> "networkpolicies".
std::string GuessPlural(std::string_view kind);

}  // namespace cox
