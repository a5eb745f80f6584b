// SPDX-License-Identifier: Apache-2.0
#include "simulate/pernode/resource_watch.h"

#include <utility>

namespace cox::simulate {
namespace {

// The reflector of client-go waits between 0.8 s and 30 s after failures.
constexpr std::chrono::milliseconds kFirstWatchBackoff{800};
constexpr std::chrono::seconds kLongestWatchBackoff{30};
// Like those of kubelets, watches have a timeout of five to ten minutes, so that they are spread
// over several servers again after one was replaced.
constexpr int kShortestTimeout = 300;
// A watch that ends earlier counts as failed: without backoff, a server that ends each watch at
// once would receive requests without end.
constexpr std::chrono::seconds kShortest{1};

}  // namespace

// Forwards the response of one request to the watch while it is the current one.
class ResourceWatch::Attempt final : public net::ResponseObserver,
                                     public std::enable_shared_from_this<Attempt> {
 public:
  explicit Attempt(std::weak_ptr<ResourceWatch> watch) : watch_(std::move(watch)) {}

  void OnHeaders(int status, net::Headers) override {
    if (const auto watch = Current()) watch->OnHeaders(status);
  }
  void OnData(std::string_view bytes) override {
    if (const auto watch = Current()) watch->OnData(bytes);
  }
  void OnEnd(const Status& status) override {
    if (const auto watch = Current()) watch->OnEnd(status);
  }

 private:
  std::shared_ptr<ResourceWatch> Current() const {
    auto watch = watch_.lock();
    return watch != nullptr && watch->attempt_.get() == this ? watch : nullptr;
  }

  const std::weak_ptr<ResourceWatch> watch_;
};

ResourceWatch::ResourceWatch(NodeConnection& connection, WatchKind kind, std::string path,
                             std::string selector, WatchHandler* handler)
    : connection_(connection),
      kind_(kind),
      path_(std::move(path)),
      selector_(std::move(selector)),
      handler_(handler),
      backoff_(kFirstWatchBackoff, kLongestWatchBackoff) {}

ResourceWatch::~ResourceWatch() { End(); }

void ResourceWatch::Start() { Open(); }

void ResourceWatch::Relist() {
  version_.clear();
  OpenAfter(Clock::Duration());
}

std::string ResourceWatch::Target() const {
  const int timeout =
      kShortestTimeout + static_cast<int>(kShortestTimeout * connection_.shard().random());
  std::string target = path_ + "?watch=true&allowWatchBookmarks=true&timeoutSeconds=";
  target += std::to_string(timeout);
  if (!selector_.empty()) target += "&" + selector_;
  if (version_.empty()) {
    target += "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan";
  } else {
    target += "&resourceVersion=" + version_;
  }
  return target;
}

void ResourceWatch::Open() {
  End();
  const PerNodeMetrics::Watch& metrics = connection_.shard().metrics.Of(kind_);
  listing_ = version_.empty();
  if (!listing_) {
    metrics.restarts->Inc();
  } else if (listed_) {
    metrics.relists->Inc();
  }
  code_ = 0;
  began_ = connection_.shard().clock.Monotonic();
  reader_ = EventReader();
  if (listing_ && handler_ != nullptr) handler_->OnListBegin();
  attempt_ = std::make_shared<Attempt>(weak_from_this());
  observation_ = connection_.Watch(Target(), attempt_);
}

void ResourceWatch::End() {
  if (std::exchange(open_, false)) connection_.shard().metrics.Of(kind_).open->Dec();
  attempt_.reset();
  observation_.reset();
  timer_.Cancel();
}

void ResourceWatch::OpenAfter(Clock::Duration delay) {
  End();
  timer_.Set(connection_.shard(), delay, [weak = weak_from_this()] {
    if (const auto watch = weak.lock()) watch->Open();
  });
}

void ResourceWatch::OpenAfterBackoff() {
  const Clock::Duration lived = connection_.shard().clock.Monotonic() - began_;
  if (open_ && lived > kLongestWatchBackoff) backoff_.Reset();
  OpenAfter(backoff_.Next(connection_.shard().random()));
}

void ResourceWatch::OnHeaders(int code) {
  code_ = code;
  if (code != kHttpOk) return;
  open_ = true;
  connection_.shard().metrics.Of(kind_).open->Inc();
}

void ResourceWatch::OnData(std::string_view bytes) {
  if (!open_) return;
  const PerNodeMetrics::Watch& metrics = connection_.shard().metrics.Of(kind_);
  metrics.bytes->Inc(bytes.size());
  const Status read =
      reader_.Feed(bytes, [this](const WatchedEvent& event) { return TakeEvent(event) && open_; });
  if (read.ok()) return;
  metrics.failures->Inc();
  version_.clear();  // the position in the stream is not known
  OpenAfterBackoff();
}

bool ResourceWatch::TakeEvent(const WatchedEvent& event) {
  if (event.type == WatchedEvent::Type::kError) {
    TakeError(CodeOfStatus(event.object));
    return false;
  }
  ObjectView view;
  if (!ReadObjectView(event.object, &view)) {
    TakeError(0);
    return false;
  }
  if (event.type == WatchedEvent::Type::kBookmark) {
    TakeBookmark(view);
    return true;
  }
  connection_.shard().metrics.Of(kind_).events->Inc();
  // Initial events are not ordered by version: the bookmark after them has the list's version.
  if (!listing_) version_ = view.resource_version;
  if (handler_ != nullptr) handler_->OnEvent(event, view);
  return true;
}

void ResourceWatch::TakeBookmark(const ObjectView& view) {
  if (listing_ && !view.initial_events_end) return;
  version_ = view.resource_version;
  if (!std::exchange(listing_, false)) return;
  listed_ = true;
  backoff_.Reset();
  if (handler_ != nullptr) handler_->OnListEnd();
}

void ResourceWatch::TakeError(int code) {
  const PerNodeMetrics::Watch& metrics = connection_.shard().metrics.Of(kind_);
  if (code == kHttpGone) {
    metrics.expired->Inc();
    version_.clear();
  } else {
    metrics.failures->Inc();
  }
  OpenAfterBackoff();
}

void ResourceWatch::OnEnd(const Status& status) {
  if (!open_) return TakeError(code_);
  const bool short_lived = connection_.shard().clock.Monotonic() - began_ < kShortest;
  if (!status.ok() || short_lived || listing_) {
    connection_.shard().metrics.Of(kind_).failures->Inc();
    return OpenAfterBackoff();
  }
  backoff_.Reset();
  OpenAfter(Clock::Duration());
}

}  // namespace cox::simulate
