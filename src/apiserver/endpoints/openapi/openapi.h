// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "apiserver/registry/served/served_set.h"
#include "net/http.h"

namespace cox::apiserver {

// Serves /openapi/v2 and /openapi/v3: the schemas of the served kinds, built at run time from the
// tables that decode them. After a change of the served kinds, only the v3 documents of the changed
// groups and the v2 document are built again.
//
// Guarantees: documents are built at the first request. They are kept compressed (the v2 document
//   then takes about 100 kB), because requests for them are rare and memory is scarce.
//   Responses have an ETag; requests with a matching If-None-Match get 304. Responses for a v3
//   document that is requested by its current hash are marked as immutable.
// Threads: all methods may be called concurrently. The first request builds, others wait for it.
class OpenApi {
 public:
  // `server_version` ("v1.36.4") is the version in the v2 document.
  OpenApi(CurrentServedSet served, std::string server_version);
  ~OpenApi();

  // Handles GET and HEAD for every path below /openapi/. Responds 404 for unknown documents and 406
  // if the Accept header allows no supported media type.
  net::Response Handle(const net::Request& request) const;

 private:
  class Documents;

  const std::unique_ptr<Documents> documents_;
};

}  // namespace cox::apiserver
