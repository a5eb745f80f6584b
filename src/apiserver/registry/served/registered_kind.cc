// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/served/registered_kind.h"

#include <algorithm>
#include <utility>

#include "apiserver/registry/store/decode_stored.h"

namespace cox::apiserver {

// Extracts uid, labels and selectable fields once, when an object enters the cache.
class RegisteredKind::Heads final : public storage::HeadReader {
 public:
  explicit Heads(SharedStrategy strategy) : strategy_(std::move(strategy)) {}
  std::vector<std::string> field_names() const override {
    const std::span<const std::string_view> names = strategy_->FieldNames();
    return {names.begin(), names.end()};
  }
  std::optional<size_t> indexed_field() const override {
    const std::span<const std::string_view> names = strategy_->FieldNames();
    const auto at = std::find(names.begin(), names.end(), strategy_->IndexedField());
    if (at == names.end()) return std::nullopt;
    return static_cast<size_t>(at - names.begin());
  }
  bool namespaced() const override { return strategy_->kind().namespaced; }
  storage::ObjectDecoder decoder() const override { return MakeDecoder(strategy_); }
  void Read(std::string_view, std::string_view value, storage::HeadBuilder& head) const override {
    ReadHead(*strategy_, value, head);
  }

 private:
  const SharedStrategy strategy_;
};

RegisteredKind::RegisteredKind(const Context& ctx, SharedStrategy strategy, storage::Store& storage,
                               std::shared_ptr<storage::RevisionReader> revisions,
                               const Shared& shared,
                               const std::function<bool(const KindInfo&)>& serves)
    : strategy_(std::move(strategy)),
      metrics_(shared.metrics),
      store_(std::make_unique<ResourceStore>(ResourceStore::Options{.strategy = strategy_.get(),
                                                                    .storage = &storage,
                                                                    .root = shared.root,
                                                                    .ttl = shared.ttl})),
      heads_(std::make_unique<Heads>(strategy_)) {
  const KindInfo& hub = strategy_->kind();
  if (shared.watch_cache) {
    cache_ = storage::WatchCache::Create(ctx, storage,
                                         {.group = std::string(hub.group),
                                          .resource = std::string(hub.plural),
                                          .prefix = store_->root_prefix(),
                                          .head_reader = heads_.get(),
                                          .metrics = metrics_.get(),
                                          .encodings = shared.encodings,
                                          .revisions = std::move(revisions)});
    store_->set_cache(cache_.get());
  }
  uint8_t slot = 0;
  const auto add = [&](const KindInfo& kind, const ServedVersion* version) {
    if (serves && !serves(kind)) return;
    resources_.push_back(std::make_unique<const ServedResource>(*this, kind, version, slot));
    slot = static_cast<uint8_t>(slot + 2);  // JSON and protobuf
  };
  add(hub, nullptr);
  for (const ServedVersion* version : strategy_->Versions()) add(version->kind(), version);
}

RegisteredKind::~RegisteredKind() = default;

Status RegisteredKind::WaitReady(Context& ctx) const {
  return cache_ == nullptr ? Status() : cache_->WaitReady(ctx);
}

bool RegisteredKind::ready() const { return cache_ == nullptr || cache_->ready(); }

void RegisteredKind::End() {
  if (cache_ != nullptr) cache_->End();
}

}  // namespace cox::apiserver
