// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/context.h"
#include "base/lru_map.h"
#include "base/mutex.h"
#include "net/http.h"

namespace cox::sdk {

// Logs what the server warns of (Warning headers with code 299: a deprecated API, an unknown
// field), each text once as long as it is remembered.
//
// Threads: all methods may be called concurrently.
class Warnings {
 public:
  void Note(const Context& ctx, const net::Headers& headers);

 private:
  Mutex mu_;
  // So many different texts; more are a loop over names, and those that come back are logged again.
  LruMap<bool> seen_ COX_GUARDED_BY(mu_){1000};
};

// The text of a Warning header's value, `299 - "text"`; empty if it is no such warning.
std::string WarningText(std::string_view header);

}  // namespace cox::sdk
