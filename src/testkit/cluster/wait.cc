// SPDX-License-Identifier: Apache-2.0
#include "testkit/wait.h"

#include "object/selector/fields.h"

namespace cox::testkit {
namespace {

// Watches one object, initial state included. Returns the first object for which `holds` is true.
Result<ObjectPtr> WatchUntil(Context& ctx, Client& client, const Resource& resource,
                             const WatchOptions& options,
                             const std::function<bool(const ObjectPtr&)>& holds) {
  COX_ASSIGN_OR_RETURN(const std::unique_ptr<WatchStream> watch,
                       client.Watch(ctx, resource, options));
  ObjectPtr last;
  bool complete = false;  // the initial events have arrived
  for (;;) {
    Result<WatchEvent<Object>> event = watch->Next(ctx);
    if (!event.ok()) return event.status();
    if (event->type == EventType::kBookmark) {
      if (!event->initial_events_end) continue;
      complete = true;
      if (last == nullptr && holds(nullptr)) return last;
      continue;
    }
    last = event->type == EventType::kDeleted ? nullptr : event->object;
    if ((last != nullptr || complete) && holds(last)) return last;
  }
}

// Watch errors after which a new watch may succeed.
bool MayTryAgain(const Status& status) {
  return IsEndOfWatch(status) || status.Is(Reason::kExpired) || status.Is(Reason::kGone);
}

}  // namespace

Result<ObjectPtr> WaitForObject(Context& ctx, Client& client, const Resource& resource,
                                const ObjectKey& key,
                                const std::function<bool(const ObjectPtr&)>& holds) {
  WatchOptions options;
  options.list.ns = key.ns;
  COX_ASSIGN_OR_RETURN(options.list.fields, fields::Selector::Parse("metadata.name=" + key.name));
  options.send_initial_events = true;
  for (;;) {
    Result<ObjectPtr> found = WatchUntil(ctx, client, resource, options, holds);
    if (found.ok() || ctx.Done() || !MayTryAgain(found.status())) return found;
  }
}

Status WaitForCache(Context& ctx, SharedInformer& informer, const std::function<bool()>& holds) {
  Signal signal;
  const InformerHandle handle = informer.AddHandler([&signal](const Delta&) { signal.Changed(); });
  return signal.Await(ctx, holds);
}

}  // namespace cox::testkit
