// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/meta/v1.h"
#include "apiserver/registry/store/table.h"
#include "apiserver/request/user.h"
#include "base/context.h"
#include "base/result.h"
#include "object/object.h"
#include "object/scheme.h"
#include "object/validation/field_error.h"
#include "object/validation/names.h"

// What a kind contributes. The generic registry (store.h) does the rest, the same for all kinds:
// names, uids, optimistic locking, finalizers, graceful deletion, field ownership, storage.
namespace cox::apiserver {

// Circumstances of a write, for strategies.
struct WriteContext {
  Context& ctx;
  const UserInfo& user;
  Time now;
  bool dry_run = false;
  // The version of the request, if it is not the hub (ServedVersion::kind); null: the hub.
  const KindInfo* served_as = nullptr;
};

using Warnings = std::vector<std::string>;
// Names and values that field selectors see.
using FieldPairs = std::vector<std::pair<std::string, std::string>>;

// One way of changing a stored object: the object itself, its /status, /resize, ...
//
// All methods are pure but for what PrepareForUpdate does to `object`. Both objects are of the
// strategy's kind.
class UpdateStrategy {
 public:
  virtual ~UpdateStrategy() = default;
  // Makes `object` what may be stored in place of `old`: takes over from `old` what this way must
  // not change (the status, or all but the status), bumps metadata.generation where the kind has
  // one.
  virtual void PrepareForUpdate(const WriteContext& w, Object& object, const Object& old) const = 0;
  // What is wrong with the change, apart from metadata, which is checked before by the registry.
  virtual FieldErrorList ValidateUpdate(const WriteContext& w, const Object& object,
                                        const Object& old) const = 0;
  // For the Warning header.
  virtual Warnings WarnOnUpdate(const WriteContext&, const Object&, const Object&) const {
    return {};
  }
  // Brings a valid object into its normal form, last before storage.
  virtual void Canonicalize(Object&) const {}
  // Fields that writers on this way can never own, as paths ("status",
  // "metadata.deletionTimestamp").
  virtual std::span<const std::string_view> ResetFields() const { return {}; }
};

// Another version of a kind, or its twin in another group, over the same storage.
class ServedVersion {
 public:
  virtual ~ServedVersion() = default;
  virtual const KindInfo& kind() const = 0;
  // Converts an object of this version to the hub, and an object of the hub to this version.
  virtual Object ToHub(const Object& object) const = 0;
  virtual Object FromHub(const Object& hub) const = 0;
  // Sets the defaults of this version, before ToHub.
  virtual void SetDefaults(Object&) const {}
  // The names of selectable fields in this version, with their names in the hub. Empty: the names
  // are the same.
  using FieldLabels = std::span<const std::pair<std::string_view, std::string_view>>;
  virtual FieldLabels field_labels() const { return {}; }
};

enum class Propagation : uint8_t { kBackground, kForeground, kOrphan };

// A kind. `kind()` is its hub: the version that is stored and that all methods see. The strategy of
// a kind that is defined at run time owns the definition, with everything that its methods return.
class Strategy : public UpdateStrategy {
 public:
  virtual const KindInfo& kind() const = 0;
  // The kinds that requests and stored objects may name.
  virtual const Scheme& scheme() const { return Scheme::Builtin(); }
  // Under /registry, without slashes at the ends: "pods", "services/specs". Namespace and name
  // follow.
  virtual std::string_view storage_prefix() const = 0;
  virtual validation::NameRule name_rule() const { return validation::NameIsDNSSubdomain; }
  // The form that rests in etcd has no protobuf: JSON (custom resources and their definitions'
  // kin).
  virtual bool stored_as_json() const { return false; }

  // May PUT create it?
  virtual bool AllowCreateOnUpdate() const { return false; }
  // May an update leave resourceVersion out?
  virtual bool AllowUnconditionalUpdate() const { return true; }

  // Defaults that depend on other fields. The constant ones of the API tables are set already.
  // Also called for objects read from storage. Idempotent.
  virtual void SetDefaults(Object&) const {}
  // Drops what a client may not set, sets generation.
  virtual void PrepareForCreate(const WriteContext& w, Object& object) const = 0;
  virtual FieldErrorList Validate(const WriteContext& w, const Object& object) const = 0;
  virtual Warnings WarnOnCreate(const WriteContext&, const Object&) const { return {}; }

  // The strategy of a subresource that is the whole object changed in another way: "status",
  // "resize", "ephemeralcontainers", "approval", "finalize". Null if there is none.
  virtual const UpdateStrategy* Subresource(std::string_view) const { return nullptr; }

  // Selectable fields besides metadata.name and metadata.namespace.
  virtual std::span<const std::string_view> FieldNames() const { return {}; }
  // Their values, those that are empty too.
  virtual FieldPairs Fields(const Object&) const { return {}; }

  // What a selector on any other field is told. `as` is the version the client speaks.
  virtual Status UnknownField(const KindInfo& as, std::string_view field) const;

  // `kubectl get`. The default is Name and Created At... Age.
  virtual std::span<const Column> Columns() const;
  virtual Cells Row(const Object& object, const Time& now) const;
  // Whether the rows are sorted by RowBefore. Otherwise they have the order of the list, by key.
  virtual bool SortsRows() const { return false; }
  virtual bool RowBefore(const Object&, const Object&) const { return false; }

  // What deletion without a policy does with dependents.
  virtual Propagation DefaultPropagation(const Object&) const { return Propagation::kBackground; }
  // Whether deletion takes time: sets options.gracePeriodSeconds to what is granted. Pods only.
  virtual bool GracefulDeletion(const Object&, meta::v1::DeleteOptions*) const { return false; }

  // Whether something besides finalizers keeps an object that is being deleted: spec.finalizers of
  // namespaces.
  virtual bool HoldsDeletion(const Object&) const { return false; }
  // Called when deletion begins and does not end at once: the object's own marks of it.
  virtual void MarkDeleting(const WriteContext&, Object&) const {}
  // Whether a deletion is answered with the object that is gone, instead of with a Status.
  virtual bool ReturnsDeletedObject() const { return false; }

  // For the Warning header of a deletion, of one object or of many, as the client asked for it.
  virtual Warnings WarnOnDelete(const meta::v1::DeleteOptions&) const { return {}; }
  // Takes out of `meta` what only the whole object shows: for PartialObjectMetadata and for the
  // rows of tables.
  virtual void TrimPartialMetadata(meta::v1::ObjectMeta&) const {}

  // How long a new or updated object lives; 0: until deleted. Events.
  virtual int64_t TtlSeconds(const Object&) const { return 0; }

  // The versions that it is served as besides kind(). They live as long as the strategy.
  virtual std::span<const ServedVersion* const> Versions() const { return {}; }
};

// Casts once, so that a kind is written in its own struct:
//
//   class ConfigMapStrategy final : public StrategyOf<core::v1::ConfigMap> { ... };
template <class T>
class StrategyOf : public Strategy {
 public:
  const KindInfo& kind() const final { return T::kKind; }

  void SetDefaults(Object& o) const final { Default(*o.As<T>()); }
  void PrepareForCreate(const WriteContext& w, Object& o) const final {
    PrepareCreate(w, *o.As<T>());
  }
  void PrepareForUpdate(const WriteContext& w, Object& o, const Object& old) const final {
    PrepareUpdate(w, *o.As<T>(), *old.As<T>());
  }
  FieldErrorList Validate(const WriteContext& w, const Object& o) const final {
    return Check(w, *o.As<T>());
  }
  FieldErrorList ValidateUpdate(const WriteContext& w, const Object& o,
                                const Object& old) const final {
    return CheckUpdate(w, *o.As<T>(), *old.As<T>());
  }
  Warnings WarnOnCreate(const WriteContext& w, const Object& o) const final {
    return Warn(w, *o.As<T>(), nullptr);
  }
  Warnings WarnOnUpdate(const WriteContext& w, const Object& o, const Object& old) const final {
    return Warn(w, *o.As<T>(), old.As<T>());
  }
  void Canonicalize(Object& o) const final { Normalize(*o.As<T>()); }
  FieldPairs Fields(const Object& o) const final { return FieldsOf(*o.As<T>()); }
  Cells Row(const Object& o, const Time& now) const final { return RowOf(*o.As<T>(), now); }
  Propagation DefaultPropagation(const Object& o) const final { return PropagationOf(*o.As<T>()); }
  bool GracefulDeletion(const Object& o, meta::v1::DeleteOptions* options) const final {
    return Graceful(*o.As<T>(), options);
  }

 protected:
  virtual void Default(T&) const {}
  virtual void PrepareCreate(const WriteContext&, T&) const {}
  virtual void PrepareUpdate(const WriteContext&, T&, const T&) const {}
  virtual FieldErrorList Check(const WriteContext&, const T&) const { return {}; }
  virtual FieldErrorList CheckUpdate(const WriteContext& w, const T& object, const T&) const {
    return Check(w, object);
  }
  // `old` is null for a new object.
  virtual Warnings Warn(const WriteContext&, const T&, const T*) const { return {}; }
  virtual void Normalize(T&) const {}
  virtual FieldPairs FieldsOf(const T&) const { return {}; }
  virtual Cells RowOf(const T& object, const Time& now) const {
    return {object.metadata.name, Age(object.metadata.creationTimestamp, now)};
  }
  virtual Propagation PropagationOf(const T&) const { return Propagation::kBackground; }
  virtual bool Graceful(const T&, meta::v1::DeleteOptions*) const { return false; }
};

// The same for one way of updating.
template <class T>
class UpdateStrategyOf : public UpdateStrategy {
 public:
  void PrepareForUpdate(const WriteContext& w, Object& o, const Object& old) const final {
    PrepareUpdate(w, *o.As<T>(), *old.As<T>());
  }
  FieldErrorList ValidateUpdate(const WriteContext& w, const Object& o,
                                const Object& old) const final {
    return CheckUpdate(w, *o.As<T>(), *old.As<T>());
  }
  Warnings WarnOnUpdate(const WriteContext& w, const Object& o, const Object& old) const final {
    return Warn(w, *o.As<T>(), *old.As<T>());
  }

 protected:
  virtual void PrepareUpdate(const WriteContext&, T& object, const T& old) const = 0;
  virtual FieldErrorList CheckUpdate(const WriteContext&, const T&, const T&) const { return {}; }
  virtual Warnings Warn(const WriteContext&, const T&, const T&) const { return {}; }
};

// Writes of /status for kinds where nothing needs checking: the new status and metadata stay, the
// rest comes from the old object. Metadata: what users own (labels, annotations) may change.
template <class T>
class PlainStatusStrategy : public UpdateStrategyOf<T> {
 public:
  std::span<const std::string_view> ResetFields() const override {
    static constexpr std::string_view kReset[] = {"spec"};
    return kReset;
  }

 protected:
  void PrepareUpdate(const WriteContext&, T& object, const T& old) const override {
    object.spec = old.spec;
  }
};

using StrategyPtr = std::unique_ptr<const Strategy>;
// Kinds in the registry are shared with the requests that use them.
using SharedStrategy = std::shared_ptr<const Strategy>;

}  // namespace cox::apiserver
