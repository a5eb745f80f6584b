// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/registry/served/served.h"
#include "base/bytes.h"
#include "base/mutex.h"
#include "net/http.h"

namespace cox::apiserver {

// Serves /openapi/v2 and /openapi/v3: the schemas of what the API serves, made at run time from the
// same tables that decode it.
//
// Guarantees: nothing is built before somebody asks. What was built is kept compressed (the whole
// v2
//   document is about 100 kB so), because most servers are asked rarely and memory is for objects.
//   Answers carry an ETag; requests that name it get 304, requests for a v3 document by its current
//   hash may be cached for good.
// Threads: all methods may be called concurrently. Whoever asks first builds, others wait for it.
class OpenApi {
 public:
  // `server_version` ("v1.36.4") is what the v2 document says of itself.
  OpenApi(std::vector<ServedKind> kinds, std::string server_version);
  ~OpenApi();

  // Answers GET and HEAD of any path below /openapi/. 404 for documents that are not there, 406 for
  // an Accept header that allows no form of them.
  net::Response Handle(const net::Request& request) const;

  // From now on describes these kinds instead.
  void Replace(std::vector<ServedKind> kinds);

 private:
  class State;

  std::shared_ptr<const State> state() const;

  const std::string server_version_;
  mutable Mutex mutex_;
  std::shared_ptr<const State> state_ COX_GUARDED_BY(mutex_);
};

}  // namespace cox::apiserver
