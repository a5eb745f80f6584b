// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/context.h"
#include "base/lru_map.h"
#include "base/mutex.h"
#include "net/http.h"

namespace cox::sdk {

// Logs warnings of the server (Warning headers with code 299: deprecated APIs, unknown fields). A
// text is logged once while it is in the LRU cache.
//
// Threads: all methods may be called concurrently.
class Warnings {
 public:
  void Note(const Context& ctx, const net::Headers& headers);

 private:
  Mutex mu_;
  // Limits memory if warnings contain varying names; evicted texts are logged again.
  LruMap<bool> seen_ COX_GUARDED_BY(mu_){1000};
};

// The text of a Warning header, `299 - "text"`; empty if it has another form.
std::string WarningText(std::string_view header);

}  // namespace cox::sdk
