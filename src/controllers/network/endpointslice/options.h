// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace cox::controllers {

struct EndpointSliceOptions {
  // --concurrent-service-endpoint-syncs
  int concurrent_syncs = 5;
};

}  // namespace cox::controllers
