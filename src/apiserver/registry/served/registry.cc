// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/served/registry.h"

#include "base/check.h"
#include "base/strings.h"
#include "object/codec/json/json.h"
#include "object/type/kind_names.h"

namespace cox::apiserver {
namespace {

// Ways of writing that have owners of their own.
constexpr std::string_view kSubresources[] = {
    "", "status", "scale", "resize", "ephemeralcontainers", "approval", "finalize", "binding"};

apply::FieldSet ResetFieldsOf(const UpdateStrategy& strategy) {
  apply::FieldSet fields;
  for (std::string_view text : strategy.ResetFields()) {
    apply::Path path;
    for (std::string_view name : Split(text, '.')) path.push_back(apply::PathElement::Field(name));
    fields.Insert(path);
  }
  return fields;
}

}  // namespace

// The versions of a kind that has several, for owners who write different ones.
class ServedResource::Versions final : public apply::Versions {
 public:
  explicit Versions(const Strategy& strategy) : strategy_(strategy) {}

  const Type* TypeAt(std::string_view version) const override {
    if (version == ApiVersionOf(strategy_.kind())) return strategy_.kind().type;
    const ServedVersion* served = Find(version);
    return served == nullptr ? nullptr : served->kind->type;
  }

  Result<Value> Convert(const Value& object, std::string_view version) const override {
    const Value* from = object.Find("apiVersion");
    if (from == nullptr || !from->is_string() || from->as_string() == version) return object;
    COX_ASSIGN_OR_RETURN(Object hub, ToHub(object, from->as_string()));
    if (version == ApiVersionOf(strategy_.kind())) return hub.ToValue();
    const ServedVersion* served = Find(version);
    if (served == nullptr) return Status::NotFound("no version " + Quote(version));
    return served->from_hub(hub).ToValue();
  }

 private:
  const ServedVersion* Find(std::string_view version) const {
    for (const ServedVersion& served : strategy_.Versions()) {
      if (ApiVersionOf(*served.kind) == version) return &served;
    }
    return nullptr;
  }

  Result<Object> ToHub(const Value& value, std::string_view version) const {
    const ServedVersion* served = Find(version);
    Object object(served == nullptr ? strategy_.kind() : *served->kind);
    COX_RETURN_IF_ERROR(object.FromValue(value));
    return served == nullptr || served->to_hub == nullptr ? std::move(object)
                                                          : served->to_hub(object);
  }

  const Strategy& strategy_;
};

ServedResource::ServedResource(const KindInfo& kind, ResourceStore& store,
                               const ServedVersion* version, uint8_t slot)
    : kind_(kind), store_(store), version_(version), slot_(slot) {
  type_meta_size_ = std::string_view(R"({"kind":"","apiVersion":"",)").size() + kind.kind.size() +
                    ApiVersionOf(kind).size();
  if (!strategy().Versions().empty()) versions_ = std::make_unique<Versions>(strategy());
  for (std::string_view subresource : kSubresources) {
    const UpdateStrategy* how =
        subresource.empty() ? &strategy() : strategy().Subresource(subresource);
    managers_.emplace(subresource,
                      std::make_unique<apply::FieldManager>(
                          *kind.type, apply::FieldManager::Options{
                                          .api_version = ApiVersionOf(kind),
                                          .kind = std::string(kind.kind),
                                          .subresource = std::string(subresource),
                                          .reset_fields = how != nullptr ? ResetFieldsOf(*how)
                                                                         : apply::FieldSet(),
                                          .versions = versions_.get()}));
  }
}

GroupVersionKind ServedResource::gvk() const { return GvkOf(kind_); }

Object ServedResource::ToHub(Object served) const {
  if (version_ == nullptr || version_->to_hub == nullptr) return served;
  return version_->to_hub(served);
}

Object ServedResource::FromHub(const Object& hub) const {
  return version_ == nullptr || version_->from_hub == nullptr ? hub : version_->from_hub(hub);
}

void ServedResource::SetDefaults(Object& served) const {
  if (version_ == nullptr) return strategy().SetDefaults(served);
  if (version_->set_defaults != nullptr) version_->set_defaults(served);
}

const apply::FieldManager& ServedResource::field_manager(std::string_view subresource) const {
  auto at = managers_.find(subresource);
  return *(at == managers_.end() ? managers_.find("") : at)->second;
}

Result<Bytes> ServedResource::Encoded(const storage::Entry& entry, Format format) const {
  const uint8_t slot = static_cast<uint8_t>(slot_ + (format == Format::kProtobuf ? 1 : 0));
  return entry.Encoding(
      slot, [&](const storage::Entry& e) { return Encode(e.stored(), e.revision(), format); });
}

Result<Bytes> ServedResource::Encode(std::string_view stored, storage::Revision revision,
                                     Format format) const {
  COX_ASSIGN_OR_RETURN(Object hub, store_.Decode(stored, revision));
  std::string text;
  // Not FromHub where the hub is what is served: that would copy it.
  if (version_ != nullptr) hub = FromHub(hub);
  EncodeObject(hub, format, &text, Embedded::kNamed);
  if (format == Format::kJson && text.ends_with('\n')) text.pop_back();
  return Bytes::Copy(text);
}

// Reads what selectors look at, once, when an object enters the cache.
class Registry::Heads final : public storage::HeadReader {
 public:
  // Set before the cache starts to read.
  void set_store(const ResourceStore& store) { store_ = &store; }
  std::vector<std::string> field_names() const override {
    const std::span<const std::string_view> names = store_->strategy().FieldNames();
    return {names.begin(), names.end()};
  }
  void Read(std::string_view, std::string_view value, storage::HeadBuilder& head) const override {
    store_->ReadHead(value, head);
  }

 private:
  const ResourceStore* store_ = nullptr;
};

Registry::Registry(const Context& ctx, Options options)
    : strategies_(BuiltinKinds()),
      encodings_(std::make_shared<storage::EncodingBudget>()),
      cache_metrics_(options.metrics == nullptr
                         ? nullptr
                         : std::make_unique<storage::WatchCacheMetrics>(*options.metrics)) {
  for (const StrategyPtr& strategy : strategies_) {
    storage::Store& storage = options.storage(strategy->kind());
    auto heads = std::make_unique<Heads>();
    auto store = std::make_unique<ResourceStore>(ResourceStore::Options{.strategy = strategy.get(),
                                                                        .storage = &storage,
                                                                        .root = options.root,
                                                                        .ttl = options.event_ttl});
    heads->set_store(*store);
    if (options.watch_cache) {
      caches_.push_back(
          storage::WatchCache::Create(ctx, storage,
                                      {.group = std::string(strategy->kind().group),
                                       .resource = std::string(strategy->kind().plural),
                                       .prefix = store->root_prefix(),
                                       .head_reader = heads.get(),
                                       .metrics = cache_metrics_.get(),
                                       .encodings = encodings_,
                                       .revisions = RevisionsOf(ctx, storage)}));
      store->set_cache(caches_.back().get());
    }
    heads_.push_back(std::move(heads));
    stores_.push_back(std::move(store));
    Add(*strategy, *stores_.back(), options);
  }
}

Registry::~Registry() {
  // They read through the stores until they are gone.
  caches_.clear();
}

std::shared_ptr<storage::RevisionReader> Registry::RevisionsOf(const Context& ctx,
                                                               storage::Store& store) {
  std::shared_ptr<storage::RevisionReader>& revisions = revisions_[&store];
  if (revisions == nullptr) revisions = std::make_shared<storage::RevisionReader>(ctx, store);
  return revisions;
}

void Registry::Add(const Strategy& strategy, ResourceStore& store, const Options& options) {
  uint8_t slot = 0;
  auto add = [&](const KindInfo& kind, const ServedVersion* version) {
    if (options.serves && !options.serves(kind)) return;
    served_.push_back(std::make_unique<ServedResource>(kind, store, version, slot));
    slot = static_cast<uint8_t>(slot + 2);
    by_path_[{kind.group, kind.version, kind.plural}] = served_.back().get();
  };
  add(strategy.kind(), nullptr);
  for (const ServedVersion& version : strategy.Versions()) {
    if (version.kind->type != strategy.kind().type) add(*version.kind, &version);
  }
}

const ServedResource* Registry::Find(std::string_view group, std::string_view version,
                                     std::string_view resource) const {
  auto at = by_path_.find({group, version, resource});
  return at == by_path_.end() ? nullptr : at->second;
}

const ServedResource& Registry::Hub(const KindInfo& kind) const {
  const ServedResource* found = Find(kind.group, kind.version, kind.plural);
  COX_CHECK(found != nullptr);
  return *found;
}

Status Registry::WaitReady(Context& ctx) const {
  for (const auto& cache : caches_) COX_RETURN_IF_ERROR(cache->WaitReady(ctx));
  return {};
}

bool Registry::ready() const {
  for (const auto& cache : caches_) {
    if (!cache->ready()) return false;
  }
  return true;
}

}  // namespace cox::apiserver
