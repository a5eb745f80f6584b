// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/store/store.h"

#include <charconv>

#include "apiserver/registry/store/decode_stored.h"
#include "apiserver/registry/store/fenced_context.h"
#include "apiserver/registry/store/names.h"
#include "apiserver/registry/unimplemented/unimplemented.h"
#include "base/strings.h"
#include "object/codec.h"
#include "object/validation/object_meta.h"

namespace cox::apiserver {
namespace {

// Upstream serves these two groups from separate API servers, which do not have this check.
bool WantsQualifiedFinalizers(const KindInfo& kind) {
  return kind.group != "apiextensions.k8s.io" && kind.group != "apiregistration.k8s.io";
}

// Attempts to generate a name that is not in use.
constexpr int kMaxNameAttempts = 8;

// The text of upstream's error.
std::string OtherUid(const std::string& key, const std::string& wanted, const std::string& uid) {
  return "StorageError: invalid object, Code: 4, Key: " + key +
         ", ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: " +
         wanted + ", UID in object meta: " + uid;
}

void AddWarnings(Warnings added, Warnings& warnings) {
  for (std::string& text : added) warnings.push_back(std::move(text));
}

}  // namespace

Result<storage::Revision> ParseResourceVersion(std::string_view text) {
  if (text.empty()) return 0;
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) {
    return Status(Reason::kUnknown,
                  "strconv.ParseUint: parsing " + Quote(text) + ": value out of range");
  }
  if (error != std::errc() || end != text.data() + text.size()) {
    return Status(Reason::kUnknown,
                  "strconv.ParseUint: parsing " + Quote(text) + ": invalid syntax");
  }
  return static_cast<storage::Revision>(value);
}

ResourceStore::ResourceStore(Options options)
    : options_(std::move(options)),
      prefix_(options_.root + "/" + std::string(options_.strategy->storage_prefix()) + "/") {
  auto entry_class = std::make_shared<storage::EntryClass>();
  for (std::string_view name : strategy().FieldNames()) entry_class->field_names.emplace_back(name);
  entry_class->namespaced = kind().namespaced;
  // These entries are used once: no space to keep their encodings.
  entry_class->encodings = std::make_shared<storage::EncodingBudget>(0);
  entry_class_ = std::move(entry_class);
}

std::string ResourceStore::Prefix(std::string_view ns) const {
  return ns.empty() ? prefix_ : prefix_ + std::string(ns) + "/";
}

std::string ResourceStore::Key(std::string_view ns, std::string_view name) const {
  std::string key = kind().namespaced ? Prefix(ns) : prefix_;
  return key.append(name);
}

Result<Object> ResourceStore::Decode(std::string_view value, storage::Revision revision) const {
  return DecodeStored(strategy(), value, revision);
}

storage::EntryPtr ResourceStore::MakeEntry(const storage::KeyValue& kv) const {
  storage::HeadBuilder head(strategy().FieldNames().size());
  ReadHead(strategy(), kv.value.view(), head);
  return storage::Entry::Create(entry_class_, kv.key, kv.value.view(), head.Finish(), kv.revision);
}

std::string ResourceStore::Encode(Object& object) const {
  std::string& version = object.object_meta()->resourceVersion;
  std::string kept = std::exchange(version, std::string());
  std::string bytes;
  EncodeObject(object, strategy().stored_as_json() ? Format::kJson : Format::kProtobuf, &bytes);
  version = std::move(kept);
  return bytes;
}

Result<storage::KeyValue> ResourceStore::GetStored(Context& ctx, std::string_view ns,
                                                   std::string_view name) const {
  COX_ASSIGN_OR_RETURN(storage::Store::GetResult found, storage().Get(ctx, Key(ns, name)));
  if (!found.kv) return NotFoundError(resource(), name);
  return std::move(*found.kv);
}

Result<Object> ResourceStore::Get(Context& ctx, std::string_view ns, std::string_view name,
                                  bool from_cache) const {
  COX_ASSIGN_OR_RETURN(Stored stored, Read(ctx, Key(ns, name), name, from_cache));
  return std::move(stored.object);
}

Result<ResourceStore::Stored> ResourceStore::Read(Context& ctx, const std::string& key,
                                                  std::string_view name, bool allow_cached) const {
  if (allow_cached && cache() != nullptr) {
    if (storage::SnapshotPtr snapshot = cache()->Current()) {
      if (storage::EntryPtr entry = snapshot->Find(key)) {
        COX_ASSIGN_OR_RETURN(Object object, Decode(entry->stored(), entry->revision()));
        return Stored{std::move(object), entry->revision(), entry->value(), /*fresh=*/false,
                      /*stale=*/false};
      }
    }
  }
  COX_ASSIGN_OR_RETURN(storage::Store::GetResult found, storage().Get(ctx, key));
  if (!found.kv) return NotFoundError(resource(), name);
  COX_ASSIGN_OR_RETURN(Object object, Decode(found.kv->value.view(), found.kv->revision));
  return Stored{std::move(object), found.kv->revision, std::move(found.kv->value),
                /*fresh=*/true, found.kv->stale};
}

std::chrono::seconds ResourceStore::TtlOf(const Object& object) const {
  const std::chrono::seconds usual{strategy().TtlSeconds(object)};
  return usual.count() > 0 && options_.ttl.count() > 0 ? options_.ttl : usual;
}

bool ResourceStore::KeptByFinalizers(const Object& object) const {
  const meta::v1::ObjectMeta& meta = *object.object_meta();
  return !meta.finalizers.empty() || strategy().HasKindFinalizers(object);
}

Status ResourceStore::PrepareCreate(const WriteContext& w, Object& object,
                                    Warnings* warnings) const {
  meta::v1::ObjectMeta& meta = *object.object_meta();
  meta.deletionTimestamp.reset();
  meta.deletionGracePeriodSeconds.reset();
  meta.creationTimestamp = w.now;
  meta.uid = NewUid();
  meta.resourceVersion.clear();
  meta.selfLink.clear();
  if (meta.name.empty() && !meta.generateName.empty()) meta.name = GenerateName(meta.generateName);
  // After name and uid are set: Jobs write them into the labels of their pod template.
  strategy().PrepareForCreate(w, object);
  FieldErrorList errors = ValidateMeta(meta, kind().namespaced, strategy().name_rule());
  if (WantsQualifiedFinalizers(kind())) Append(errors, ValidateFinalizersQualified(meta));
  Append(errors, strategy().Validate(w, object));
  if (!errors.empty()) return NewInvalid(kind().group, kind().kind, meta.name, errors);
  if (warnings != nullptr) {
    AddWarnings(strategy().WarnOnCreate(w, object), *warnings);
    AddWarnings(UnimplementedWarnings(w.user, object, nullptr), *warnings);
  }
  strategy().Canonicalize(object);
  return {};
}

Result<Object> ResourceStore::Create(const WriteContext& w, Object object,
                                     const ValidateFunc& validate, Warnings* warnings) {
  if (!object.object_meta()->name.empty() || object.object_meta()->generateName.empty()) {
    return CreateOnce(w, std::move(object), validate, warnings);
  }
  for (int attempt = 1;; ++attempt) {
    Result<Object> created = CreateOnce(w, object, validate, attempt == 1 ? warnings : nullptr);
    if (created.ok() || !created.status().Is(Reason::kAlreadyExists)) return created;
    if (attempt == kMaxNameAttempts) {
      StatusDetails details = created.status().details();
      details.retry_after_seconds = 1;
      return Status(Reason::kAlreadyExists,
                    created.status().message() +
                        ", the server was not able to generate a unique name for the object",
                    std::move(details));
    }
  }
}

Status ResourceStore::NameInUseError(const WriteContext& w, const std::string& name,
                                     const storage::KeyValue& by) const {
  Status taken = AlreadyExistsError(RequestedResource(w), name);
  Result<Object> existing = Decode(by.value.view(), by.revision);
  if (!existing.ok() || !existing->object_meta()->deletionTimestamp) return taken;
  return Status(taken.reason(), "object is being deleted: " + taken.message(), taken.details());
}

Result<Object> ResourceStore::CreateOnce(const WriteContext& w, Object object,
                                         const ValidateFunc& validate, Warnings* warnings) {
  std::unique_ptr<WriteTransaction> transaction;
  // Before validation, because hooks set fields that are validated: addresses and ports.
  if (options_.hooks != nullptr) {
    COX_ASSIGN_OR_RETURN(transaction, options_.hooks->BeforeCreate(w, object));
  }
  COX_RETURN_IF_ERROR(PrepareCreate(w, object, warnings));
  meta::v1::ObjectMeta& meta = *object.object_meta();
  if (validate) COX_RETURN_IF_ERROR(validate(object, nullptr));
  const std::string key = Key(meta.namespace_, meta.name);
  if (w.dry_run) {
    COX_ASSIGN_OR_RETURN(storage::Store::GetResult found, storage().Get(w.ctx, key));
    if (found.kv) return NameInUseError(w, meta.name, *found.kv);
    return object;
  }
  const std::chrono::seconds ttl = TtlOf(object);
  Result<storage::Revision> revision = storage().Create(w.ctx, key, Encode(object), ttl);
  if (!revision.ok()) {
    if (!revision.status().Is(Reason::kAlreadyExists)) return revision.status();
    COX_ASSIGN_OR_RETURN(storage::Store::GetResult found, storage().Get(w.ctx, key));
    if (found.kv) return NameInUseError(w, meta.name, *found.kv);
    return AlreadyExistsError(RequestedResource(w), meta.name);
  }
  if (transaction != nullptr) transaction->Commit();
  meta.resourceVersion = std::to_string(*revision);
  return object;
}

// The resourceVersion of the update must be the stored one, or empty for an unconditional update.
Status ResourceStore::CheckVersion(const WriteContext& w, const UpdateRequest& request,
                                   const Object& object, const Object& old) const {
  const std::string& stored = old.object_meta()->resourceVersion;
  COX_ASSIGN_OR_RETURN(const storage::Revision wanted,
                       ParseResourceVersion(object.object_meta()->resourceVersion));
  if (wanted == 0) {
    if (strategy().AllowUnconditionalUpdate()) return {};
    FieldErrorList errors = {FieldError::Invalid(FieldPath("metadata").Child("resourceVersion"), 0,
                                                 "must be specified for an update")};
    return NewInvalid(kind().group, kind().plural, request.name, errors);
  }
  if (std::to_string(wanted) != stored) return ModifiedError(RequestedResource(w), request.name);
  return {};
}

Status ResourceStore::PrepareUpdate(const WriteContext& w, const UpdateRequest& request,
                                    Object& object, const Object& old) const {
  const UpdateStrategy& how = request.how != nullptr ? *request.how : strategy();
  meta::v1::ObjectMeta& meta = *object.object_meta();
  const meta::v1::ObjectMeta& old_meta = *old.object_meta();
  meta.generation = old_meta.generation;
  how.PrepareForUpdate(w, object, old);
  // Restore server-managed metadata that the writer may omit.
  meta.resourceVersion = old_meta.resourceVersion;
  meta.selfLink.clear();
  if (meta.uid.empty()) meta.uid = old_meta.uid;
  meta.creationTimestamp = old_meta.creationTimestamp;
  if (!meta.deletionTimestamp) meta.deletionTimestamp = old_meta.deletionTimestamp;
  if (!meta.deletionGracePeriodSeconds) {
    meta.deletionGracePeriodSeconds = old_meta.deletionGracePeriodSeconds;
  }
  // Twice, as upstream, whose errors contain each cause twice: once from the generic registry, once
  // from the kind.
  FieldErrorList errors = ValidateMeta(meta, kind().namespaced, validation::NameIsPathSegment);
  Append(errors, ValidateMetaUpdate(meta, old_meta));
  Append(errors, ValidateMetaUpdate(meta, old_meta));
  Append(errors, how.ValidateUpdate(w, object, old));
  if (!errors.empty()) return NewInvalid(kind().group, kind().kind, meta.name, errors);
  if (request.warnings != nullptr) {
    AddWarnings(how.WarnOnUpdate(w, object, old), *request.warnings);
    if (request.how == nullptr) {
      AddWarnings(UnimplementedWarnings(w.user, object, &old), *request.warnings);
    }
  }
  how.Canonicalize(object);
  return {};
}

Result<ResourceStore::UpdateResult> ResourceStore::Update(const WriteContext& w,
                                                          const UpdateRequest& request) {
  const std::string key = Key(request.ns, request.name);
  bool allow_cached = true;
  for (int race = 0; race < kMaxRaces; ++race) {
    Result<Stored> stored = Read(w.ctx, key, request.name, allow_cached);
    if (!stored.ok()) {
      if (!stored.status().Is(Reason::kNotFound) || !request.may_create) return stored.status();
      COX_ASSIGN_OR_RETURN(Object object, request.change(nullptr));
      Result<Object> created =
          Create(w, std::move(object), request.validate_create, request.warnings);
      if (created.ok()) return UpdateResult{std::move(*created), /*created=*/true};
      if (!created.status().Is(Reason::kAlreadyExists)) return created.status();
      continue;  // created concurrently: update it
    }
    // An attempt with a cached object may fail because the object is outdated: retry with storage.
    auto attempt = [&](bool* raced) -> Result<UpdateResult> {
      const std::string& uid = stored->object.object_meta()->uid;
      if (!request.uid.empty() && request.uid != uid) {
        return ConflictError(resource(), request.name, OtherUid(key, request.uid, uid));
      }
      COX_ASSIGN_OR_RETURN(Object object, request.change(&stored->object));
      COX_RETURN_IF_ERROR(CheckVersion(w, request, object, stored->object));
      std::unique_ptr<WriteTransaction> transaction;
      // Not for subresources: only PrepareUpdate restores the fields that they must not change.
      if (options_.hooks != nullptr && request.how == nullptr) {
        COX_ASSIGN_OR_RETURN(transaction, options_.hooks->BeforeUpdate(w, object, stored->object));
      }
      COX_RETURN_IF_ERROR(PrepareUpdate(w, request, object, stored->object));
      if (request.validate) COX_RETURN_IF_ERROR(request.validate(object, &stored->object));
      COX_ASSIGN_OR_RETURN(UpdateResult result, Write(w, key, std::move(object), *stored, raced));
      if (!*raced && transaction != nullptr) transaction->Commit();
      return result;
    };
    bool raced = false;
    Warnings before = request.warnings != nullptr ? *request.warnings : Warnings();
    Result<UpdateResult> result = attempt(&raced);
    if (result.ok() && !raced) return result;
    if (!result.ok() && stored->fresh) return result;
    allow_cached = false;
    if (request.warnings != nullptr) *request.warnings = std::move(before);
  }
  return ModifiedError(resource(), request.name);
}

Result<ResourceStore::UpdateResult> ResourceStore::Write(const WriteContext& w,
                                                         const std::string& key, Object object,
                                                         const Stored& old, bool* raced) {
  meta::v1::ObjectMeta& meta = *object.object_meta();
  // The last finalizer was removed: delete the object.
  if (meta.deletionTimestamp && meta.deletionGracePeriodSeconds.value_or(0) == 0 &&
      !KeptByFinalizers(object) && KeptByFinalizers(old.object)) {
    if (w.dry_run) return UpdateResult{std::move(object)};
    COX_ASSIGN_OR_RETURN(storage::WriteResult removed, storage().Delete(w.ctx, key, old.revision));
    *raced = !removed.written;
    if (!*raced && options_.hooks != nullptr) options_.hooks->AfterDelete(w, object);
    return UpdateResult{std::move(object)};
  }
  const std::string bytes = Encode(object);
  if (w.dry_run) return UpdateResult{std::move(object)};
  if (bytes == old.bytes.view()) {
    // Nothing has changed. Storage must confirm this, because the cache may be behind, or the term
    // of a fenced write may have ended. Values in an outdated form (an old encryption key) are
    // rewritten, as upstream does for storage migration.
    bool stale = old.stale;
    if (!old.fresh || IsFenced(w.ctx)) {
      Context confirming = InsteadOfWrite(w.ctx);
      COX_ASSIGN_OR_RETURN(storage::Store::GetResult now, storage().Get(confirming, key));
      *raced = !now.kv || now.kv->revision != old.revision;
      stale = now.kv && now.kv->stale;
    }
    if (*raced || !stale) return UpdateResult{std::move(object)};
  }
  const std::chrono::seconds ttl = TtlOf(object);
  COX_ASSIGN_OR_RETURN(storage::WriteResult written,
                       storage().Update(w.ctx, key, bytes, old.revision, ttl));
  *raced = !written.written;
  if (written.written) meta.resourceVersion = std::to_string(written.revision);
  return UpdateResult{std::move(object)};
}

}  // namespace cox::apiserver
