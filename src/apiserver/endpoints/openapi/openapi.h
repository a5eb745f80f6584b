// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "apiserver/registry/served/served_set.h"
#include "net/http.h"

namespace cox::apiserver {

// Serves /openapi/v2 and /openapi/v3: the schemas of what the API serves, made at run time from the
// same tables that decode it. It follows the set of served kinds: after a change only the v3
// documents of the groups that have changed, and the v2 document, are built again.
//
// Guarantees: nothing is built before somebody asks. What was built is kept compressed (the whole
// v2
//   document is about 100 kB then), because most servers are asked rarely and memory is for
//   objects. Answers carry an ETag; requests that name it get 304, requests for a v3 document by
//   its current hash may be cached for good.
// Threads: all methods may be called concurrently. The first request builds, others wait for it.
class OpenApi {
 public:
  // `server_version` ("v1.36.4") is the version in the v2 document.
  OpenApi(CurrentServedSet served, std::string server_version);
  ~OpenApi();

  // Answers GET and HEAD of any path below /openapi/. 404 for documents that do not exist, 406 for
  // an Accept header that allows no form of them.
  net::Response Handle(const net::Request& request) const;

 private:
  class Documents;

  const std::unique_ptr<Documents> documents_;
};

}  // namespace cox::apiserver
