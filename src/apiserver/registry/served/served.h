// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "object/type/gvk.h"
#include "object/type/kind.h"

// Which of the API's group versions this server offers, and what it says about how they are kept.
namespace cox::apiserver {

// A kind that is offered at a path, as discovery and OpenAPI need to know it.
//
// Ownership: borrows `kind`, which lives at least as long as `owner`.
struct ServedKind {
  const KindInfo* kind = nullptr;
  // The kind objects rest as in storage. Empty: as `kind` itself.
  GroupVersionKind storage;
  // From a definition, at run time. Discovery names the group of such kinds where it leaves out
  // that of built-in ones.
  bool custom = false;
  // Keeps a KindInfo of run time alive for documents that are built late; null for built-in ones.
  std::shared_ptr<const void> owner;
};

// Whether a server without --runtime-config serves this. `resource` may be empty to ask for the
// group version as a whole. The tables are at the top of served.cc.
//
// What they leave out: alpha and beta versions, which are off until somebody asks for them, and the
// two groups that have nothing else.
bool IsServedByDefault(std::string_view group, std::string_view version,
                       std::string_view resource = {});

// Every built-in resource that is served by default, by group in the order of discovery, then by
// version (preferred first), then by name.
std::vector<ServedKind> DefaultServedKinds();

// The groups of `kinds` with their versions. Built-in groups stand in the order of ServedGroups()
// and their versions as there; then come the others, by name, their versions most stable first.
struct ServedGroup {
  std::string name;                   // empty for core
  std::vector<std::string> versions;  // preferred first
};
std::vector<ServedGroup> GroupsOf(std::span<const ServedKind> kinds);

// Lets a client see that a resource is kept in another version than it was: eight bytes of
// SHA-256 over "group/version/Kind", in base64.
std::string StorageVersionHash(std::string_view group, std::string_view version,
                               std::string_view kind);
// The same for what is served, empty for what is not stored (bindings, reviews).
std::string StorageVersionHash(const ServedKind& served);

// Orders versions as kubectl prefers them: v2, v1, v2beta1, v1beta2, v1alpha1, then all that are
// not of that form, by name. True if `a` comes before `b`.
bool VersionBefore(std::string_view a, std::string_view b);

}  // namespace cox::apiserver
