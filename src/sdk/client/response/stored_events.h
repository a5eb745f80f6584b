// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "base/context.h"
#include "base/result.h"
#include "coxswain/client.h"
#include "net/http.h"
#include "object/encoded_object.h"

// The events of a watch of an API server in the same process: their objects are those of the
// server's cache, so that caches in this process need no memory for copies.
namespace cox::sdk {

struct StoredEvent {
  EventType type = EventType::kAdded;
  EncodedObjectPtr object = nullptr;  // null for bookmarks
  int64_t version = 0;                // resourceVersion of the event
  bool initial_events_end = false;    // true on the bookmark that ends the initial events
};

// The server's end of a watch.
// Threads: one thread at a time.
class StoredEventSource : public net::Content {
 public:
  // The kind of the decoded objects.
  virtual const KindInfo& kind() const = 0;
  // Does not block. No value if no event has occurred; the Waker of the response is called after
  // the next one. Errors: as WatchStream::Next. No events follow an error.
  virtual Result<std::optional<StoredEvent>> Take() = 0;
};

// The client's end of a watch.
// Threads: one thread at a time.
class StoredEventStream : public net::Content {
 public:
  virtual const KindInfo& kind() const = 0;
  // As the methods of WatchStream.
  virtual Result<StoredEvent> Next(const Context& ctx) = 0;
  virtual Result<std::optional<StoredEvent>> TryNext(const std::function<void()>& ready) = 0;
};

}  // namespace cox::sdk
