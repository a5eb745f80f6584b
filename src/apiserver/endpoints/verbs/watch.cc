// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "apiserver/endpoints/verbs/access_path.h"
#include "apiserver/endpoints/verbs/resource_handlers.h"
#include "apiserver/endpoints/verbs/respond.h"
#include "apiserver/endpoints/verbs/watch_source.h"
#include "apiserver/filters/metrics/request_metrics.h"
#include "base/random.h"

// Starts watches. See watch_source.h for a running watch.
namespace cox::apiserver {
namespace {

// A random timeout between once and twice the minimum, so that watches that started together do not
// end together.
std::chrono::nanoseconds WatchTimeout(const ReadOptions& options, std::chrono::seconds minimum) {
  if (options.timeout_seconds && *options.timeout_seconds > 0) {
    return std::chrono::seconds(*options.timeout_seconds);
  }
  const int64_t spread = std::max<int64_t>(minimum.count() * 1000, 1);
  return minimum + std::chrono::milliseconds(RandomBelow(static_cast<uint64_t>(spread)));
}

// The initial state of a watch.
struct Beginning {
  storage::Revision after = 0;  // changes after this revision follow
  std::vector<storage::EntryPtr> initial;
};

Result<Beginning> ReadBeginning(Call& call, const ServedResource& resource,
                                const ReadOptions& options, const AccessPath& path) {
  using Match = storage::Freshness::Match;
  COX_ASSIGN_OR_RETURN(const storage::Revision version, ReadVersion(options.resource_version));
  const bool initial_events = options.send_initial_events.value_or(false);
  if (!initial_events && version != 0) return Beginning{version, {}};
  const storage::Freshness freshness =
      options.resource_version.empty() ? storage::Freshness{Match::kLatest, 0}
      : version == 0                   ? storage::Freshness{Match::kAny, 0}
                                       : storage::Freshness{Match::kNotOlderThan, version};
  storage::WatchCache& cache = *resource.store().cache();
  if (!initial_events) {
    COX_ASSIGN_OR_RETURN(const storage::SnapshotPtr snapshot, cache.Read(call.ctx(), freshness));
    return Beginning{snapshot->revision(), {}};
  }
  COX_ASSIGN_OR_RETURN(storage::Selection found, ReadCurrent(call.ctx(), cache, path, freshness));
  std::erase_if(found.entries, [&](const storage::EntryPtr& entry) {
    return !Selects(options, *entry, SplitKey(resource, entry->key()).ns);
  });
  return Beginning{found.revision, std::move(found.entries)};
}

}  // namespace

Status ResourceHandlers::Watch(Call& call, const ServedResource& resource) {
  const Clock::SteadyTime begun = call.ctx().clock().Monotonic();
  COX_ASSIGN_OR_RETURN(const Accepted accepted, call.Negotiate(ResponseKind::kWatch));
  COX_ASSIGN_OR_RETURN(const ReadOptions options, ParseReadOptions(call, resource));
  COX_ASSIGN_OR_RETURN(const IncludeObject include, ParseIncludeObject(call.query, accepted));
  const AccessPath path = AccessPathOf(resource, call.info.namespace_, options);
  COX_ASSIGN_OR_RETURN(Beginning beginning, ReadBeginning(call, resource, options, path));
  auto relay = std::make_shared<WakeRelay>();
  auto source = std::make_unique<WatchSource>(
      resource, options, EventWriter(resource, accepted, include, call.ctx().clock()), relay);
  // The end of the initial events is marked only if the client has set sendInitialEvents.
  const bool mark_end = call.query.Has("sendInitialEvents") &&
                        options.send_initial_events.value_or(false) && options.allow_bookmarks;
  source->set_initial(std::move(beginning.initial), beginning.after, mark_end);
  if (mark_end && watch_list_seconds_ != nullptr) {
    const RequestInfo& info = call.info;
    source->set_initial_seconds(
        watch_list_seconds_->With({info.group, info.version, info.resource, ScopeOf(info)}), begun);
  }
  storage::WatchOptions changes = path.ToWatchOptions(beginning.after);
  changes.wake = [relay] { relay->Wake(); };
  Result<std::unique_ptr<storage::Watcher>> watcher =
      resource.store().cache()->Watch(std::move(changes));
  if (watcher.ok()) {
    source->set_watcher(std::move(*watcher));
  } else {
    source->set_failure(watcher.status());
  }
  source->set_clock(call.ctx(), WatchTimeout(options, min_watch_));
  source->set_held(call.TakeHeld());
  const std::string_view type = accepted.format == Format::kJson
                                    ? "application/json"
                                    : "application/vnd.kubernetes.protobuf;stream=watch";
  relay->Connect(call.RespondStream(type, std::move(source)));
  return {};
}

}  // namespace cox::apiserver
