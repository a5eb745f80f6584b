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

// Everything that a server serves, for those who work on all kinds there are: garbage collectors,
// backups, the deletion of namespaces. Who wants one kind asks Client::Discover.
namespace cox {

// One resource in one version. Kinds that have a C++ struct are typed (Resource::info), others
// dynamic.
struct ServedResource {
  Resource resource;
  cox::List<std::string> verbs;
  // The version to use, of those in which the resource is served.
  bool preferred = false;

  bool Can(std::string_view verb) const;
};

// Guarantees: a resource that is named here was served at the time of asking. Group versions that
//   could not be asked (an aggregated server is away) are in `failed`: what they serve is not
//   known.
struct ServedResources {
  std::vector<ServedResource> resources;  // by group and version as the server orders them
  std::vector<std::pair<GroupVersion, Status>> failed;

  // The resource of a kind, in that version; null if there is none.
  const Resource* Find(const GroupVersionKind& gvk) const;
};

// Asks the server, each time: by aggregated discovery in two requests, or, where there is none,
// one for each group version.
//
// Errors: those of the client, when nothing is known at all. Failures of single group versions are
//   in the result.
Result<ServedResources> DiscoverAll(Context& ctx, Client& client);

}  // namespace cox
