// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>

#include "base/context.h"
#include "base/mutex.h"
#include "base/result.h"
#include "coxswain/resource.h"
#include "sdk/client/sender.h"

namespace cox::sdk {

// Maps kinds to resources through aggregated discovery (all kinds in two requests) or, for servers
// without it, the resource list of the group version.
//
// Found kinds are cached forever, because the resource of a kind does not change. Unknown kinds are
// looked up again, because a CustomResourceDefinition may be created later, but at most every few
// seconds.
// Threads: all methods may be called concurrently. No lock is held during requests; concurrent
//   callers may send duplicate requests.
class Discovery {
 public:
  explicit Discovery(Sender& sender) : sender_(sender) {}

  Result<Resource> Find(Context& ctx, const GroupVersionKind& gvk);

 private:
  using Found = std::map<GroupVersionKind, Resource>;
  // No value if the server does not support aggregated discovery.
  Result<std::optional<Found>> FetchAggregated(Context& ctx, std::string_view path);
  Result<Found> FetchVersion(Context& ctx, const GroupVersion& version);
  Result<Found> Fetch(Context& ctx, const GroupVersion& version);
  Result<std::string> Read(Context& ctx, const std::string& path, std::string_view accept);

  Sender& sender_;
  Mutex mu_;
  Found known_ COX_GUARDED_BY(mu_);
  // The time of the last request for a group version.
  std::map<GroupVersion, Clock::SteadyTime> requested_ COX_GUARDED_BY(mu_);
};

}  // namespace cox::sdk
