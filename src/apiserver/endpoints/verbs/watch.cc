// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <random>

#include "apiserver/endpoints/verbs/access_path.h"
#include "apiserver/endpoints/verbs/resource_handlers.h"
#include "apiserver/endpoints/verbs/respond.h"
#include "base/random.h"
#include "base/strings.h"
#include "object/codec/protobuf/protobuf.h"
#include "storage/unreadable.h"

// Watches: a stream of events, which the connection pulls when the client can receive more.
namespace cox::apiserver {
namespace {

using storage::Change;
using storage::ChangeType;

constexpr std::chrono::seconds kBookmarkEvery{60};
// The last bookmark is sent this long before the timeout of the watch.
constexpr std::chrono::seconds kBookmarkBeforeEnd{2};
// Changes per batch: enough to fill a buffer, but few enough not to delay other work on the thread.
constexpr size_t kBatch = 64;
constexpr std::string_view kInitialEventsEnd = "k8s.io/initial-events-end";

// Forwards wake-ups from the cache and from timers to the connection, whose waker is created after
// the cache's watcher.
class WakeRelay {
 public:
  void Connect(std::shared_ptr<net::Waker> waker) {
    std::atomic_store(&waker_, std::move(waker));
    Wake();
  }
  void Wake() {
    if (std::shared_ptr<net::Waker> waker = std::atomic_load(&waker_)) waker->Wake();
  }

 private:
  std::shared_ptr<net::Waker> waker_;  // access with std::atomic_load and std::atomic_store only
};

// Encodes events in the format and transformation that the client accepts.
class EventWriter {
 public:
  EventWriter(const ServedResource& resource, Accepted accepted, IncludeObject include,
              Clock& clock)
      : resource_(resource), accepted_(std::move(accepted)), include_(include), clock_(clock) {}

  // Writes an object of the cache with the encoding that all watchers share.
  void Write(std::string_view type, const storage::Entry& entry, std::vector<Bytes>* out) {
    if (accepted_.transform == Transform::kNone && !accepted_.pretty) {
      Result<Bytes> object = resource_.Encoded(entry, accepted_.format);
      if (object.ok()) Frame(type, std::move(*object), out);
      NoteUnreadable(entry.key(), entry.stored());
      return;
    }
    WriteAt(type, entry, entry.revision(), out);
  }

  // Writes an object with another revision, after it stopped matching the selectors.
  void WriteAt(std::string_view type, const storage::Entry& entry, storage::Revision revision,
               std::vector<Bytes>* out) {
    Result<Object> hub = resource_.store().Decode(entry.stored(), revision);
    if (hub.ok()) WriteObject(type, *hub, out);
    NoteUnreadable(entry.key(), entry.stored());
  }

  // Set after an object could not be decrypted. The watch then ends with an error, because the
  // client would otherwise miss an event.
  const Status& failure() const { return failure_; }

  void WriteObject(std::string_view type, const Object& hub, std::vector<Bytes>* out) {
    Result<std::string> text = EncodeShaped(resource_, hub, accepted_, include_, NowOf(clock_),
                                            /*with_columns=*/!columns_sent_);
    if (!text.ok()) return;
    columns_sent_ = true;
    if (accepted_.format == Format::kJson && text->ends_with('\n')) text->pop_back();
    Frame(type, Bytes(std::move(*text)), out);
  }

  void WriteStatus(const Status& status, std::vector<Bytes>* out) {
    Accepted plain{.format = accepted_.format};
    std::string text = EncodeStatus(status, plain);
    if (plain.format == Format::kJson) text.pop_back();
    Frame("ERROR", Bytes(std::move(text)), out);
  }

  // Writes a bookmark: an empty object that has only a resource version.
  void WriteBookmark(storage::Revision revision, bool initial_end, std::vector<Bytes>* out) {
    Object object(resource_.strategy().kind());
    object.object_meta()->resourceVersion = std::to_string(revision);
    if (initial_end) object.object_meta()->annotations[kInitialEventsEnd] = "true";
    WriteObject("BOOKMARK", object, out);
  }

 private:
  void NoteUnreadable(std::string_view key, std::string_view stored) {
    if (const auto why = storage::WhyUnreadable(stored)) {
      failure_ = Status::Internal("Internal error occurred: unable to transform key " + Quote(key) +
                                  ": " + std::string(*why));
    }
  }

  void Frame(std::string_view type, Bytes object, std::vector<Bytes>* out) {
    if (accepted_.format == Format::kJson) {
      out->emplace_back("{\"type\":\"" + std::string(type) + "\",\"object\":");
      out->push_back(std::move(object));
      out->push_back(Bytes::Static("}\n"));
      return;
    }
    // A WatchEvent message, preceded by its length in four bytes: the type in field 1, a
    // RawExtension with the encoded object in field 2.
    std::string raw_head;
    proto::AppendLengthPrefix(&raw_head, 1, object.size());
    std::string head;
    proto::AppendLengthPrefix(&head, 1, type.size());
    head += type;
    proto::AppendLengthPrefix(&head, 2, raw_head.size() + object.size());
    head += raw_head;
    const size_t size = head.size() + object.size();
    std::string length;
    for (int shift = 24; shift >= 0; shift -= 8) length += static_cast<char>(size >> shift);
    out->emplace_back(length + head);
    out->push_back(std::move(object));
  }

  const ServedResource& resource_;
  const Accepted accepted_;
  const IncludeObject include_;
  Clock& clock_;
  bool columns_sent_ = false;
  Status failure_;
};

// One running watch as a body source of the connection.
class WatchSource final : public net::BodySource {
 public:
  WatchSource(const ServedResource& resource, ReadOptions options, EventWriter writer,
              std::shared_ptr<WakeRelay> relay)
      : resource_(resource.Hold()),
        options_(std::move(options)),
        writer_(std::move(writer)),
        relay_(std::move(relay)) {}

  void set_initial(std::vector<storage::EntryPtr> initial, storage::Revision revision,
                   bool mark_end) {
    initial_ = std::move(initial);
    revision_ = revision;
    mark_end_ = mark_end;
  }
  // Released when the initial events have been sent.
  void set_held(std::shared_ptr<void> held) { held_ = std::move(held); }
  void set_watcher(std::unique_ptr<storage::Watcher> watcher) { watcher_ = std::move(watcher); }
  void set_failure(Status failure) { failure_ = std::move(failure); }
  void set_clock(Context ctx, std::chrono::nanoseconds timeout);

  State Pull(size_t budget, std::vector<Bytes>* out) override;

 private:
  // The number of bytes from piece number `from` on.
  static size_t SizeOf(const std::vector<Bytes>& pieces, size_t from) {
    size_t size = 0;
    for (size_t i = from; i < pieces.size(); ++i) size += pieces[i].size();
    return size;
  }
  bool Selected(const storage::EntryPtr& entry) const {
    if (entry == nullptr) return false;
    return Selects(options_, *entry, SplitKey(*resource_, entry->key()).ns);
  }
  // Sends an ERROR event as the last event.
  State Fail(const Status& why, std::vector<Bytes>* out) {
    writer_.WriteStatus(why, out);
    return State::kEnd;
  }
  void WriteChange(const Change& change, std::vector<Bytes>* out);
  void MaybeBookmark(std::vector<Bytes>* out);

  // Keeps the resource alive if it is removed while the watch runs. The writer refers to it, too.
  const std::shared_ptr<const ServedResource> resource_;
  const ReadOptions options_;
  EventWriter writer_;
  const std::shared_ptr<WakeRelay> relay_;
  std::vector<storage::EntryPtr> initial_;
  size_t next_initial_ = 0;
  bool mark_end_ = false;
  std::shared_ptr<void> held_;
  std::unique_ptr<storage::Watcher> watcher_;
  Status failure_;
  storage::Revision revision_ = 0;
  std::shared_ptr<std::atomic<bool>> over_ = std::make_shared<std::atomic<bool>>(false);
  std::shared_ptr<std::atomic<bool>> bookmark_due_ = std::make_shared<std::atomic<bool>>(false);
  std::optional<Context> ctx_;
  StopHandle on_stop_;
  Timer end_timer_, bookmark_timer_, last_bookmark_timer_;
};

void WatchSource::set_clock(Context ctx, std::chrono::nanoseconds timeout) {
  ctx_ = std::move(ctx);
  auto flag = [this](std::shared_ptr<std::atomic<bool>> flag) {
    return [flag = std::move(flag), relay = relay_] {
      flag->store(true);
      relay->Wake();
    };
  };
  end_timer_ = ctx_->clock().After(timeout, flag(over_));
  on_stop_ = ctx_->OnStop(flag(over_));
  if (!options_.allow_bookmarks) return;
  bookmark_timer_ = ctx_->clock().After(kBookmarkEvery, flag(bookmark_due_));
  last_bookmark_timer_ = ctx_->clock().After(
      std::max<std::chrono::nanoseconds>(timeout - kBookmarkBeforeEnd, {}), flag(bookmark_due_));
}

void WatchSource::WriteChange(const Change& change, std::vector<Bytes>* out) {
  const bool now = change.type != ChangeType::kDeleted && Selected(change.entry);
  const bool before = Selected(change.previous);
  if (now) {
    writer_.Write(before ? "MODIFIED" : "ADDED", *change.entry, out);
  } else if (before) {
    if (change.type == ChangeType::kDeleted) {
      writer_.Write("DELETED", *change.entry, out);
    } else {
      // The object no longer matches the selectors: send DELETED with its previous state.
      writer_.WriteAt("DELETED", *change.previous, change.revision, out);
    }
  }
}

void WatchSource::MaybeBookmark(std::vector<Bytes>* out) {
  if (!bookmark_due_->exchange(false)) return;
  writer_.WriteBookmark(revision_, /*initial_end=*/false, out);
  bookmark_timer_ = ctx_->clock().After(kBookmarkEvery, [due = bookmark_due_, relay = relay_] {
    due->store(true);
    relay->Wake();
  });
}

net::BodySource::State WatchSource::Pull(size_t budget, std::vector<Bytes>* out) {
  if (!failure_.ok()) return Fail(failure_, out);
  if (over_->load()) return State::kEnd;
  size_t written = 0;
  while (next_initial_ < initial_.size()) {
    if (written >= budget) return State::kMore;
    const size_t before = out->size();
    writer_.Write("ADDED", *initial_[next_initial_], out);
    initial_[next_initial_++].reset();
    if (!writer_.failure().ok()) return Fail(writer_.failure(), out);
    written += SizeOf(*out, before);
  }
  if (std::exchange(mark_end_, false)) {
    writer_.WriteBookmark(revision_, /*initial_end=*/true, out);
  }
  held_.reset();
  if (!initial_.empty()) std::vector<storage::EntryPtr>().swap(initial_), next_initial_ = 0;
  while (written < budget) {
    Result<storage::Watcher::Batch> batch = watcher_->Take(kBatch);
    if (!batch.ok()) return Fail(batch.status(), out);
    for (const storage::ChangePtr& change : batch->changes) {
      const size_t before = out->size();
      WriteChange(*change, out);
      if (!writer_.failure().ok()) return Fail(writer_.failure(), out);
      written += SizeOf(*out, before);
    }
    revision_ = std::max(revision_, batch->revision);
    if (batch->ended) return State::kEnd;
    if (!batch->more) {
      MaybeBookmark(out);
      return State::kWait;
    }
  }
  return State::kMore;
}

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
