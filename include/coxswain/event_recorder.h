// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/context.h"
#include "base/metrics.h"
#include "coxswain/client.h"
#include "object/type/kind_names.h"

namespace cox {

enum class EventKind : uint8_t { kNormal, kWarning };

// Tells users what a controller did, as Event objects of events.k8s.io/v1 (kubectl describe,
// kubectl events).
//
//   events.Record(*pod, EventKind::kWarning, "FailedMount", "Mounting", "no volume " + name);
//
// `reason` says why in a word, `action` what was done or tried, `note` the rest for people. Events
// that are equal but for their note are one series: the Event of the first, with a count and the
// time of the last. A series ends when there was none of it for six minutes. Events about objects
// without a namespace are in "default".
//
// Guarantees: never blocks and never fails the caller. The second of a series is written at once, a
//   count that goes on growing every half minute. Requests about one object are bounded (25 at
//   once, then one in 5 minutes, as client-go does); counts are not lost by that. At most 1000
//   events wait for those being sent. What cannot be sent for a passing reason is tried again for
//   some minutes; what is refused, or waits for too long, is dropped and counted. Texts that are
//   too long are cut: note 1024 bytes, reason and action 128.
// Threads: all methods may be called concurrently.
class EventRecorder {
 public:
  struct Options {
    std::string controller;  // reportingController: "example.com/backup-operator"
    std::string instance;    // reportingInstance; empty: the host's name
    // Gets coxswain_events_total by result: created, counted (in a series), filtered (too many
    // about one object), dropped. A registry takes it of one recorder.
    MetricsRegistry* metrics = nullptr;
  };
  // Sends on a thread of its own until `ctx` stops; what is recorded later is dropped. The client
  // outlives it.
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

  // Waits until what was recorded has been sent or given up, counts of series too, or `ctx` stops.
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
    return {.gvk = GvkOf(kind),
            .key = {meta.namespace_, meta.name},
            .uid = meta.uid,
            .resource_version = meta.resourceVersion};
  }
};

}  // namespace cox
