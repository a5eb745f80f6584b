// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/apiextensions/v1.h"
#include "api/meta/v1.h"
#include "object/type/api_types.h"
#include "object/type/kind.h"
#include "object/type/type.h"
#include "object/type/type_ops.h"

// Custom resources: a plain struct, described once with the macros below, works with the client,
// the cache and the codecs, and its CustomResourceDefinition is generated from the description.
//
//   // backup.h
//   struct BackupSpec {
//     std::string schedule;
//     std::optional<int32_t> keep;
//     static const cox::Type kType;
//   };
//   struct Backup {
//     cox::meta::v1::ObjectMeta metadata;
//     BackupSpec spec;
//     static const cox::Type kType;
//     static const cox::KindInfo kKind;
//   };
//
//   // backup.cc
//   COX_STRUCT(BackupSpec, "Configuration of a backup.",
//              COX_FIELD(schedule).Required().Pattern("^[^ ]+( [^ ]+){4}$").Doc("Cron schedule."),
//              COX_FIELD(keep).Default("7").Minimum(1))
//   COX_KIND(Backup, (cox::KindOptions{.group = "example.com", .version = "v1"}),
//            COX_FIELD(spec).Required())
//
// Supported member types: bool, int32_t, int64_t, double, std::string, Quantity, IntOrString, Time,
// MicroTime, Duration, RawJson, API structs and described structs, and std::vector and cox::Map of
// these. Use std::optional of a scalar or Box of a struct if an absent value differs from the zero
// value. A member named namespace_ is `namespace` in JSON.
//
// To generate such a header from a CustomResourceDefinition, use `coxswain generate types` or
// coxswain_types() in CMake. To generate YAML from the structs, use coxswain_crds() in CMake or
// CrdOf<>() in a program.
namespace cox {

// Schema constraints and documentation of a field.
struct FieldNotes {
  std::string doc;
  std::string pattern;
  std::string format;
  std::optional<double> minimum, maximum;
  std::optional<int64_t> min_length, max_length, min_items, max_items;
  std::vector<std::string> enum_values;
  std::vector<std::pair<std::string, std::string>> rules;  // CEL expression and failure message
};

// One field of a struct, created by COX_FIELD. Each method returns the field for chaining.
class FieldDescription {
 public:
  FieldDescription(std::string_view json_name, size_t offset, const Type* type, uint16_t flags);

  FieldDescription&& Required() &&;
  // Default value as JSON: "7", "\"daily\"", "{}". The API server applies it.
  FieldDescription&& Default(std::string_view json) &&;
  FieldDescription&& Doc(std::string_view text) &&;
  FieldDescription&& Pattern(std::string_view re2) &&;
  FieldDescription&& Format(std::string_view format) &&;
  FieldDescription&& Minimum(double limit) &&;
  FieldDescription&& Maximum(double limit) &&;
  FieldDescription&& MinLength(int64_t limit) &&;
  FieldDescription&& MaxLength(int64_t limit) &&;
  FieldDescription&& MinItems(int64_t limit) &&;
  FieldDescription&& MaxItems(int64_t limit) &&;
  FieldDescription&& OneOf(std::vector<std::string> values) &&;
  // List type for server-side apply: a set, or a map keyed by these fields of its items.
  FieldDescription&& ListSet() &&;
  FieldDescription&& ListMap(std::vector<std::string> keys) &&;
  FieldDescription&& Rule(std::string_view cel, std::string_view message) &&;

  Field field;
  FieldNotes notes;
};

struct PrinterColumn {
  std::string name;
  std::string type = "string";  // integer, number, boolean, date
  std::string json_path;        // ".status.phase"
  std::string description;
  int32_t priority = 0;  // above 0: shown only with -o wide
};

struct KindOptions {
  std::string group;
  std::string version;
  std::string plural;  // empty: the kind in lower case with an English plural
  std::string singular;
  std::vector<std::string> short_names;
  std::vector<std::string> categories;
  bool namespaced = true;
  bool status = true;  // has the /status subresource
  // Enables /scale: paths such as ".spec.replicas", ".status.replicas", ".status.selector".
  std::string scale_spec_path, scale_status_path, scale_selector_path;
  std::vector<PrinterColumn> columns;
  std::string deprecation_warning;  // for a deprecated version
  bool served = true;
  std::string doc;
};

// The CustomResourceDefinition of a kind in one or more versions. The first is the storage version.
// REQUIRES: all versions are described by COX_KIND with the same group and plural (otherwise the
//   process aborts).
apiextensions::v1::CustomResourceDefinition MakeCrd(std::span<const KindInfo* const> versions);
template <class... Versions>
apiextensions::v1::CustomResourceDefinition CrdOf() {
  const KindInfo* const versions[] = {&Versions::kKind...};
  return MakeCrd(versions);
}
// YAML for kubectl apply.
std::string CrdYaml(const apiextensions::v1::CustomResourceDefinition& definition);

namespace internal {

Type DescribeStruct(const Type& self, std::string_view name, std::string_view doc,
                    std::vector<FieldDescription> fields, const ItemOps& ops);
Type DescribeKind(const Type& self, std::string_view name, std::vector<FieldDescription> fields,
                  const ItemOps& ops);
KindInfo MakeKind(const KindInfo& self, std::string_view kind, const Type& type,
                  KindOptions options);
const Type* ListOf(const Type* element, const ListOps& ops);
const Type* MapOf(const Type* element, const MapOps& ops);

// The Type of a member.
template <class M>
struct MemberType {
  static const Type* Get() { return &M::kType; }
  static constexpr uint16_t kFlags = 0;
};
#define COX_SCALAR_MEMBER(cpp, name)                         \
  template <>                                                \
  struct MemberType<cpp> {                                   \
    static const Type* Get() { return &::cox::types::name; } \
    static constexpr uint16_t kFlags = 0;                    \
  };
COX_SCALAR_MEMBER(bool, kBool)
COX_SCALAR_MEMBER(Bool, kBool)
COX_SCALAR_MEMBER(int32_t, kInt32)
COX_SCALAR_MEMBER(int64_t, kInt64)
COX_SCALAR_MEMBER(double, kDouble)
COX_SCALAR_MEMBER(std::string, kString)
COX_SCALAR_MEMBER(Quantity, kQuantity)
COX_SCALAR_MEMBER(IntOrString, kIntOrString)
COX_SCALAR_MEMBER(Time, kTime)
COX_SCALAR_MEMBER(MicroTime, kMicroTime)
COX_SCALAR_MEMBER(Duration, kDuration)
COX_SCALAR_MEMBER(RawJson, kJson)
#undef COX_SCALAR_MEMBER
template <class M>
struct MemberType<std::optional<M>> {
  static const Type* Get() { return MemberType<M>::Get(); }
  static constexpr uint16_t kFlags = Field::kPointer;
};
template <class M>
struct MemberType<Box<M>> {
  static const Type* Get() { return MemberType<M>::Get(); }
  static constexpr uint16_t kFlags = Field::kPointer;
};
template <class M>
struct MemberType<List<M>> {
  static const Type* Get() { return ListOf(MemberType<M>::Get(), kListOps<M>); }
  static constexpr uint16_t kFlags = 0;
};
template <class M>
struct MemberType<std::vector<M>> {
  static const Type* Get() { return ListOf(MemberType<M>::Get(), kVectorOps<M>); }
  static constexpr uint16_t kFlags = 0;
};
template <class M>
struct MemberType<Map<M>> {
  static const Type* Get() { return MapOf(MemberType<M>::Get(), kMapOps<M>); }
  static constexpr uint16_t kFlags = 0;
};

// Members whose name would be a C++ keyword end with an underscore.
constexpr std::string_view JsonName(std::string_view member) {
  if (member.ends_with('_')) member.remove_suffix(1);
  return member;
}

template <class S, class M>
FieldDescription DescribeField(std::string_view json_name, M S::*member) {
  // Computes the offset of the member from a sample object.
  static const S sample{};
  const auto* base = reinterpret_cast<const char*>(&sample);
  const auto* at = reinterpret_cast<const char*>(&(sample.*member));
  return FieldDescription(json_name, static_cast<size_t>(at - base), MemberType<M>::Get(),
                          MemberType<M>::kFlags);
}

}  // namespace internal
}  // namespace cox

// Describes a member. COX_FIELD uses its C++ name without a trailing underscore as the JSON name;
// COX_FIELD_NAMED takes the JSON name as a literal.
#define COX_FIELD(member) \
  ::cox::internal::DescribeField(::cox::internal::JsonName(#member), &Described::member)
#define COX_FIELD_NAMED(member, json) ::cox::internal::DescribeField(json, &Described::member)

// Defines S::kType. Use once per program, at namespace scope, in the namespace of S.
#define COX_STRUCT(S, doc, ...)                                              \
  const ::cox::Type S::kType = [] {                                          \
    using Described [[maybe_unused]] = S;                                    \
    return ::cox::internal::DescribeStruct(S::kType, #S, doc, {__VA_ARGS__}, \
                                           ::cox::Items<S>::kOps);           \
  }();
// Defines S::kType and S::kKind. `metadata` is added automatically; list the other fields.
#define COX_KIND(S, options, ...)                                                               \
  const ::cox::Type S::kType = [] {                                                             \
    using Described [[maybe_unused]] = S;                                                       \
    return ::cox::internal::DescribeKind(                                                       \
        S::kType, #S, {COX_FIELD(metadata) __VA_OPT__(, ) __VA_ARGS__}, ::cox::Items<S>::kOps); \
  }();                                                                                          \
  const ::cox::KindInfo S::kKind = ::cox::internal::MakeKind(S::kKind, #S, S::kType, options);
