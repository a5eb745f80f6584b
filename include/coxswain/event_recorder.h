// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/context.h"
#include "coxswain/client.h"

namespace cox {

enum class EventKind : uint8_t { kNormal, kWarning };

// Tells users what a controller did, as Event objects (kubectl describe, kubectl events).
//
//   events.Record(*pod, EventKind::kWarning, "FailedMount", "Mounting", "no volume " + name);
//
// Guarantees: never blocks and never fails the caller. Equal events within some minutes become one
//   with a count (series); many about one object are held back (25 at once, then one in 5 minutes,
//   as client-go does). What cannot be sent is tried again for a while, then dropped and counted.
// Threads: all methods may be called concurrently.
class EventRecorder {
 public:
  struct Options {
    std::string controller;  // reportingController: "example.com/backup-operator"
    std::string instance;    // reportingInstance; empty: the host's name
  };
  // Sends on a thread of its own until `ctx` stops. The client outlives it.
  static std::unique_ptr<EventRecorder> Create(const Context& ctx, Client& client, Options options);
  virtual ~EventRecorder() = default;

  virtual void Record(const Object& about, EventKind kind, std::string_view reason,
                      std::string_view action, std::string_view note) = 0;
  template <class T>
    requires requires { T::kKind; }
  void Record(const T& about, EventKind kind, std::string_view reason, std::string_view action,
              std::string_view note) {
    RecordAbout(ReferenceTo(T::kKind, about.metadata), kind, reason, action, note);
  }

  // Waits until what was recorded has been sent or given up, or `ctx` stops.
  virtual Status Flush(Context& ctx) = 0;

  // What an event is about.
  struct Reference {
    GroupVersionKind gvk;
    ObjectKey key;
    std::string uid;
    std::string resource_version;
  };
  virtual void RecordAbout(const Reference& about, EventKind kind, std::string_view reason,
                           std::string_view action, std::string_view note) = 0;

 private:
  template <class Meta>
  static Reference ReferenceTo(const KindInfo& kind, const Meta& meta) {
    return {.gvk = {std::string(kind.group), std::string(kind.version), std::string(kind.kind)},
            .key = {meta.namespace_, meta.name},
            .uid = meta.uid,
            .resource_version = meta.resourceVersion};
  }
};

}  // namespace cox
