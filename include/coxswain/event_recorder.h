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

// Records Kubernetes Events (events.k8s.io/v1), which kubectl describe and kubectl events show.
//
//   events.Record(*pod, EventKind::kWarning, "FailedMount", "Mounting", "no volume " + name);
//
// `reason` is a short CamelCase reason, `action` the action taken or attempted, `note` a readable
// description. Events that differ only in their note form a series: the first Event, with a count
// and the time of the last occurrence. A series ends after six minutes without an occurrence.
// Events about cluster-scoped objects are created in "default".
//
// Guarantees: never blocks the caller and never returns an error. The second occurrence in a series
//   is written at once, later counts every 30 seconds. Requests per object are rate limited (a
//   burst of 25, then one per 5 minutes, as in client-go); counts are not lost by that. At most
//   1000 events are queued. Transient send failures are retried for some minutes, a rejection with
//   429 by an overloaded server once; rejected events and events that wait too long are dropped and
//   counted. Long texts are truncated: note to 1024 bytes, reason and action to 128.
// Threads: all methods may be called concurrently.
class EventRecorder {
 public:
  struct Options {
    std::string controller;  // reportingController: "example.com/backup-operator"
    std::string instance;    // reportingInstance; empty: the host name
    // Registers coxswain_events_total by result: created, counted (in a series), filtered (rate
    // limit per object), dropped. A registry supports one recorder.
    MetricsRegistry* metrics = nullptr;
  };
  // Sends from its own thread until `ctx` stops; events recorded later are dropped.
  // Lifetime: the client must outlive the recorder.
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

  // Waits until all recorded events and series counts have been sent or dropped, or `ctx` stops.
  virtual Status Flush(Context& ctx) = 0;

  // The object that an event is about.
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
