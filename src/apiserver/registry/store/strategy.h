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

// The parts that a kind implements. The generic registry (store.h) does the rest, the same for all
// kinds: names, uids, optimistic locking, finalizers, graceful deletion, field ownership, storage.
namespace cox::apiserver {

// The context of a write, for strategies.
struct WriteContext {
  Context& ctx;
  const UserInfo& user;
  Time now;
  bool dry_run = false;
  // The version of the request (ServedVersion::kind); null: the hub.
  const KindInfo* served_as = nullptr;
};

using Warnings = std::vector<std::string>;
// Names and values of fields for field selectors.
using FieldPairs = std::vector<std::pair<std::string, std::string>>;

// One way of changing a stored object: the object itself, its /status, /resize, ...
//
// All methods are pure, except that PrepareForUpdate changes `object`. Both objects are of the
// strategy's kind.
class UpdateStrategy {
 public:
  virtual ~UpdateStrategy() = default;
  // Makes `object` storable in place of `old`: copies from `old` the fields that this update must
  // not change (the status, or all but the status), and increments metadata.generation if the kind
  // has one.
  virtual void PrepareForUpdate(const WriteContext& w, Object& object, const Object& old) const = 0;
  // Validates the change, except for metadata, which the registry has already checked.
  virtual FieldErrorList ValidateUpdate(const WriteContext& w, const Object& object,
                                        const Object& old) const = 0;
  // For the Warning header.
  virtual Warnings WarnOnUpdate(const WriteContext&, const Object&, const Object&) const {
    return {};
  }
  // Normalizes a valid object, as the last step before storage.
  virtual void Canonicalize(Object&) const {}
  // Paths of fields that writers of this kind of update never own ("status",
  // "metadata.deletionTimestamp").
  virtual std::span<const std::string_view> ResetFields() const { return {}; }
};

// Another version of a kind, or the same kind in another group, with the same storage.
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

// A kind. `kind()` is its hub: the version that is stored and that all methods use. The strategy of
// a kind that is defined at run time owns the definition and everything that its methods return.
class Strategy : public UpdateStrategy {
 public:
  virtual const KindInfo& kind() const = 0;
  // The kinds that request bodies and stored objects may have.
  virtual const Scheme& scheme() const { return Scheme::Builtin(); }
  // Under /registry, without slashes at the ends: "pods", "services/specs". Namespace and name
  // follow.
  virtual std::string_view storage_prefix() const = 0;
  virtual validation::NameRule name_rule() const { return validation::NameIsDNSSubdomain; }
  // Whether objects are stored as JSON instead of protobuf: custom resources,
  // CustomResourceDefinitions and APIServices.
  virtual bool stored_as_json() const { return false; }

  // Whether PUT may create the object.
  virtual bool AllowCreateOnUpdate() const { return false; }
  // Whether an update may omit resourceVersion.
  virtual bool AllowUnconditionalUpdate() const { return true; }

  // Sets defaults that depend on other fields. The constant defaults of the API tables are already
  // set. Also called for objects that are read from storage. Idempotent.
  virtual void SetDefaults(Object&) const {}
  // Clears fields that a client must not set, and sets the generation.
  virtual void PrepareForCreate(const WriteContext& w, Object& object) const = 0;
  virtual FieldErrorList Validate(const WriteContext& w, const Object& object) const = 0;
  virtual Warnings WarnOnCreate(const WriteContext&, const Object&) const { return {}; }

  // The strategy of a subresource that is another way to update the whole object: "status",
  // "resize", "ephemeralcontainers", "approval", "finalize". Null if there is none.
  virtual const UpdateStrategy* Subresource(std::string_view) const { return nullptr; }

  // Selectable fields besides metadata.name and metadata.namespace.
  virtual std::span<const std::string_view> FieldNames() const { return {}; }
  // The values of these fields, including empty ones.
  virtual FieldPairs Fields(const Object&) const { return {}; }

  // The one of these fields by which lists and watches are indexed; empty: none. An index is for a
  // field by which thousands of clients select small parts of all objects.
  virtual std::string_view IndexedField() const { return {}; }

  // The error for a selector on any other field. `as` is the version of the request.
  virtual Status UnknownField(const KindInfo& as, std::string_view field) const;

  // The table of `kubectl get`. The default columns are Name and Age.
  virtual std::span<const Column> Columns() const;
  virtual Cells Row(const Object& object, const Time& now) const;
  // Whether the rows are sorted by RowBefore. Otherwise they are in the order of the list, by key.
  virtual bool SortsRows() const { return false; }
  virtual bool RowBefore(const Object&, const Object&) const { return false; }

  // The propagation policy if the deletion has none.
  virtual Propagation DefaultPropagation(const Object&) const { return Propagation::kBackground; }
  // Whether objects of the kind are deleted after a grace period. Pods only.
  virtual bool DeletesGracefully() const { return false; }
  // The grace period of a deletion that begins now. `requested` is that of the request, if any.
  virtual int64_t GracePeriodSeconds(const Object&, std::optional<int64_t> /*requested*/) const {
    return 0;
  }

  // Whether something besides metadata.finalizers keeps an object that is being deleted:
  // spec.finalizers of namespaces.
  virtual bool HasKindFinalizers(const Object&) const { return false; }
  // Called when a deletion starts that is not immediate: sets the kind's own fields for it.
  virtual void MarkDeleting(const WriteContext&, Object&) const {}
  // Whether the response to a deletion is the deleted object instead of a Status.
  virtual bool ReturnsDeletedObject() const { return false; }

  // For the Warning header of delete and deletecollection, given the options of the request.
  virtual Warnings WarnOnDelete(const meta::v1::DeleteOptions&) const { return {}; }
  // Removes from `meta` the entries that only the full object contains: for PartialObjectMetadata
  // and for the rows of tables.
  virtual void TrimPartialMetadata(meta::v1::ObjectMeta&) const {}

  // The time to live of a new or updated object; 0: no limit. Used by Events.
  virtual int64_t TtlSeconds(const Object&) const { return 0; }

  // The served versions besides kind(). They live as long as the strategy.
  virtual std::span<const ServedVersion* const> Versions() const { return {}; }
};

// Casts to the struct of the kind, so that subclasses use that struct only:
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
  int64_t GracePeriodSeconds(const Object& o, std::optional<int64_t> requested) const final {
    return GraceOf(*o.As<T>(), requested);
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
  virtual int64_t GraceOf(const T&, std::optional<int64_t> /*requested*/) const { return 0; }
};

// The same for an UpdateStrategy.
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

// Updates of /status for kinds without validation of the status: status and metadata (labels,
// annotations) come from the new object, the spec from the old one.
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
