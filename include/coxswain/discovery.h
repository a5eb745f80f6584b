// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/context.h"
#include "base/result.h"
#include "coxswain/client.h"
#include "coxswain/resource.h"

// All resources of a server, for programs that work on all kinds: garbage collectors, backups,
// namespace deletion. For a single kind use Client::Discover.
namespace cox {

// One resource in one version. Kinds with a C++ struct are typed (Resource::info), others are
// dynamic.
struct ServedResource {
  Resource resource;
  cox::List<std::string> verbs;
  // True for the preferred version of the resource.
  bool preferred = false;

  bool Can(std::string_view verb) const;
};

// Guarantees: each resource in the result was served at the time of the request. `failed` contains
//   group versions whose discovery failed (for example if an aggregated API server is not
//   available); their resources are unknown.
struct ServedResources {
  std::vector<ServedResource> resources;  // by group and version, in the server's order
  std::vector<std::pair<GroupVersion, Status>> failed;

  // The resource of a kind in that version; null if there is none.
  const Resource* Find(const GroupVersionKind& gvk) const;
};

// Sends requests on each call: two for aggregated discovery or, if the server does not support it,
// one per group version.
//
// Errors: those of the client if discovery fails completely. Failures of single group versions are
//   in the result.
Result<ServedResources> DiscoverAll(Context& ctx, Client& client);

}  // namespace cox
