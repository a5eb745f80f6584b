// SPDX-License-Identifier: Apache-2.0
#include "sdk/webhook/bootstrap/object_watches.h"

#include <algorithm>
#include <chrono>
#include <memory>

#include "base/check.h"

namespace cox::sdk {
namespace {

using std::chrono::seconds;
// Delay after a normal end of a watch; doubled up to the maximum after errors.
constexpr Clock::Duration kPause = seconds(1);
constexpr Clock::Duration kMaxPause = seconds(30);

}  // namespace

ObjectWatches::ObjectWatches(const Context& ctx, Client& client,
                             std::vector<std::pair<Resource, ObjectKey>> objects,
                             std::function<void()> changed)
    : client_(client), changed_(std::move(changed)), scope_(ctx, "webhook-watches") {
  for (auto& [resource, key] : objects) {
    const Status started = scope_.Go(
        "watch-" + key.name,
        [this, resource = resource, key = key](Context& watch) { Follow(watch, resource, key); });
    // The periodic check still covers this object.
    if (!started.ok()) COX_ERROR(ctx.log(), started, "Could not start watch", {"name", key.name});
  }
}

ObjectWatches::~ObjectWatches() {
  scope_.Stop();
  scope_.Wait();
}

void ObjectWatches::Follow(Context& ctx, const Resource& resource, const ObjectKey& key) {
  WatchOptions options;
  options.list.ns = key.ns;
  options.list.fields = fields::Selector::OneTermEqual("metadata.name", key.name);
  Clock::Duration pause = kPause;
  while (!ctx.Done()) {
    // Without a version, the watch begins with the current object, so that no change is missed.
    Result<std::unique_ptr<WatchStream>> stream = client_.Watch(ctx, resource, options);
    Status ended = stream.status();
    while (ended.ok()) {
      const Result<WatchEvent<Object>> event = (*stream)->Next(ctx);
      ended = event.status();
      if (ended.ok() && event->type == EventType::kBookmark) continue;
      // Also at the end of the watch: a deletion before the next watch begins would be missed.
      changed_();
      if (ended.ok()) pause = kPause;
    }
    if (ctx.Done()) return;
    if (!IsEndOfWatch(ended)) {
      COX_V(ctx.log(), 1, "Watch failed", {"resource", resource.ToString()}, {"name", key.name},
            {"err", ended.message()});
    }
    if (!ctx.Sleep(pause).ok()) return;
    pause = IsEndOfWatch(ended) ? kPause : std::min(2 * pause, kMaxPause);
  }
}

}  // namespace cox::sdk
