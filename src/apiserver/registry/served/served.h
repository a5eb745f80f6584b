// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "object/type/gvk.h"
#include "object/type/kind.h"

// The kinds that the API serves, with their data for discovery and OpenAPI.
namespace cox::apiserver {

class ServedResource;

// A kind that is served at a path.
struct ServedKind {
  const KindInfo* kind = nullptr;  // constant, or kept alive by `resource`
  // The kind under which objects are stored. Empty: `kind` itself.
  GroupVersionKind storage;
  // Whether the kind is defined at run time. For such kinds discovery includes the group and
  // version, which it omits for built-in kinds.
  bool custom = false;
  // Null for kinds that are not stored: reviews and bindings.
  std::shared_ptr<const ServedResource> resource;
};

// Whether a server without --runtime-config serves this resource. An empty `resource` stands for
// the group version as a whole. The tables are at the top of served.cc.
//
// They do not contain alpha and beta versions, which are off by default, nor the two groups that
// have no other versions.
bool IsServedByDefault(std::string_view group, std::string_view version,
                       std::string_view resource = {});

// Every built-in resource that is served by default, by group in the order of discovery, then by
// version (preferred first), then by name.
std::vector<ServedKind> DefaultServedKinds();

// A group with the kinds that are served in it.
//
// Threads: immutable. Ownership: keeps its resources alive.
class ServedGroup {
 public:
  // REQUIRES: `kinds` is not empty, and all are of group `name`.
  ServedGroup(std::string name, std::vector<ServedKind> kinds);

  const std::string& name() const { return name_; }  // empty for core
  // Most preferred first.
  const std::vector<std::string>& versions() const { return versions_; }
  // By version, most preferred first, then by plural.
  const std::vector<ServedKind>& kinds() const { return kinds_; }
  // Whether all its kinds are defined at run time.
  bool custom() const;
  // Null if it is not served.
  const ServedKind* Find(std::string_view version, std::string_view plural) const;

 private:
  std::string name_;
  std::vector<std::string> versions_;
  std::vector<ServedKind> kinds_;
  // Indexes into kinds_ by version and plural, which are views into the kinds.
  std::map<std::pair<std::string_view, std::string_view>, size_t> by_path_;
};

// The groups of `kinds`, in the order of discovery.
std::vector<ServedGroup> GroupsOf(std::span<const ServedKind> kinds);
// Whether group `a` comes before `b` in discovery: built-in groups in the order of ServedGroups(),
// then the others by name.
bool GroupBefore(std::string_view a, std::string_view b);

// A hash by which clients detect that the storage version of a resource has changed: eight bytes of
// SHA-256 over "group/version/Kind", in base64.
std::string StorageVersionHash(std::string_view group, std::string_view version,
                               std::string_view kind);
// The same for a served kind; empty if it is not stored (bindings, reviews).
std::string StorageVersionHash(const ServedKind& served);

// Orders versions as kubectl prefers them: v2, v1, v2beta1, v1beta2, v1alpha1, then all versions of
// another form, by name. True if `a` comes before `b`.
bool VersionBefore(std::string_view a, std::string_view b);

}  // namespace cox::apiserver
