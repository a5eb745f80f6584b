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

// Which resource a kind is, as the server says: by aggregated discovery, all kinds in two requests,
// and by the list of its group version from servers that have none.
//
// What was found is remembered for good: kinds do not move. What was not is asked for again, since
// a CustomResourceDefinition may come later, but the whole of it no more often than every few
// seconds.
// Threads: all methods may be called concurrently. No lock is held while the server is asked; who
//   asks at once may ask twice.
class Discovery {
 public:
  explicit Discovery(Sender& sender) : sender_(sender) {}

  Result<Resource> Find(Context& ctx, const GroupVersionKind& gvk);

 private:
  using Found = std::map<GroupVersionKind, Resource>;
  // None if the server knows no aggregated discovery.
  Result<std::optional<Found>> FetchAggregated(Context& ctx, std::string_view path);
  Result<Found> FetchVersion(Context& ctx, const GroupVersion& version);
  Result<Found> Fetch(Context& ctx, const GroupVersion& version);
  Result<std::string> Read(Context& ctx, const std::string& path, std::string_view accept);

  Sender& sender_;
  Mutex mu_;
  Found known_ COX_GUARDED_BY(mu_);
  // When a group version was last asked for.
  std::map<GroupVersion, Clock::SteadyTime> asked_ COX_GUARDED_BY(mu_);
};

}  // namespace cox::sdk
