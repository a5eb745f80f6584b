// SPDX-License-Identifier: Apache-2.0
#include "apiserver/endpoints/openapi/schema.h"

#include <algorithm>

#include "api/discovery/v1.h"

namespace cox::apiserver::openapi {
namespace {

// Scalars that are definitions.
struct ScalarDefinition {
  const Type* type;
  std::string_view name;
  std::string_view key;
  std::string_view v2;
  std::string_view v3;
};

constexpr std::string_view kDateTime = R"("type":"string","format":"date-time")";
constexpr std::string_view kObject = R"("type":"object")";

const ScalarDefinition kScalars[] = {
    {&types::kQuantity, "io.k8s.apimachinery.pkg.api.resource.Quantity", "Quantity",
     R"("type":"string")", R"("oneOf":[{"type":"string"},{"type":"number"}])"},
    {&types::kIntOrString, "io.k8s.apimachinery.pkg.util.intstr.IntOrString", "IntOrString",
     R"("type":"string","format":"int-or-string")",
     R"("format":"int-or-string","oneOf":[{"type":"integer"},{"type":"string"}])"},
    {&types::kTime, "io.k8s.apimachinery.pkg.apis.meta.v1.Time", "Time", kDateTime, kDateTime},
    {&types::kMicroTime, "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime", "MicroTime", kDateTime,
     kDateTime},
    {&types::kDuration, "io.k8s.apimachinery.pkg.apis.meta.v1.Duration", "Duration",
     R"("type":"string")", R"("type":"string")"},
    {&types::kRawExtension, "io.k8s.apimachinery.pkg.runtime.RawExtension", "RawExtension", kObject,
     kObject},
    {&types::kFieldsV1, "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1", "FieldsV1", kObject,
     kObject},
    {&types::kJson, "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON",
     "apiextensions/v1.JSON", "", ""},
    // The body of PATCH, which has no type in the tables.
    {nullptr, "io.k8s.apimachinery.pkg.apis.meta.v1.Patch", "meta/v1.Patch", kObject, kObject},
};

// The schema of /version, which is not an API object.
constexpr std::string_view kVersionInfoName = "io.k8s.apimachinery.pkg.version.Info";
#define COX_VERSION_REQUIRED                                                            \
  R"("required":["major","minor","gitVersion","gitCommit","gitTreeState","buildDate",)" \
  R"("goVersion","compiler","platform"])"
constexpr std::string_view kVersionInfoV2 =
    R"("type":"object","properties":{"buildDate":{"type":"string"},"compiler":{"type":"string"},)"
    R"("emulationMajor":{"type":"string"},"emulationMinor":{"type":"string"},)"
    R"("gitCommit":{"type":"string"},"gitTreeState":{"type":"string"},)"
    R"("gitVersion":{"type":"string"},"goVersion":{"type":"string"},"major":{"type":"string"},)"
    R"("minCompatibilityMajor":{"type":"string"},"minCompatibilityMinor":{"type":"string"},)"
    R"("minor":{"type":"string"},"platform":{"type":"string"}},)" COX_VERSION_REQUIRED;
constexpr std::string_view kVersionInfoV3 =
    R"("type":"object","properties":{"buildDate":{"type":"string","default":""},)"
    R"("compiler":{"type":"string","default":""},"emulationMajor":{"type":"string"},)"
    R"("emulationMinor":{"type":"string"},"gitCommit":{"type":"string","default":""},)"
    R"("gitTreeState":{"type":"string","default":""},"gitVersion":{"type":"string","default":""},)"
    R"("goVersion":{"type":"string","default":""},"major":{"type":"string","default":""},)"
    R"("minCompatibilityMajor":{"type":"string"},"minCompatibilityMinor":{"type":"string"},)"
    R"("minor":{"type":"string","default":""},"platform":{"type":"string","default":""}},)" COX_VERSION_REQUIRED;
#undef COX_VERSION_REQUIRED

// Members of single schemas that the tables do not contain. They belong to the definition or to one
// of its properties.
struct Extra {
  std::string_view definition;  // key of the definition: "core/v1.PodSpec"
  std::string_view property;    // empty: the definition itself
  std::string_view members;
};
constexpr std::string_view kGranular = R"("x-kubernetes-map-type":"granular")";
constexpr std::string_view kLocalhostUnion =
    R"("x-kubernetes-unions":[{"discriminator":"type","fields-to-discriminateBy":)"
    R"({"localhostProfile":"LocalhostProfile"}}])";
constexpr Extra kExtras[] = {
    {"core/v1.AppArmorProfile", "", kLocalhostUnion},
    {"core/v1.SeccompProfile", "", kLocalhostUnion},
    {"core/v1.PersistentVolumeClaimStatus", "allocatedResourceStatuses", kGranular},
    {"core/v1.PersistentVolumeSpec", "claimRef", kGranular},
    {"core/v1.PodSchedulingGroup", "",
     R"("x-kubernetes-unions":[{"fields-to-discriminateBy":{"podGroupName":"PodGroupName"}}])"},
    {"flowcontrol/v1.LimitResponse", "",
     R"("x-kubernetes-unions":[{"discriminator":"type","fields-to-discriminateBy":)"
     R"({"queuing":"Queuing"}}])"},
    {"flowcontrol/v1.PriorityLevelConfigurationSpec", "",
     R"("x-kubernetes-unions":[{"discriminator":"type","fields-to-discriminateBy":)"
     R"({"exempt":"Exempt","limited":"Limited"}}])"},
    {"flowcontrol/v1.Subject", "",
     R"("x-kubernetes-unions":[{"discriminator":"kind","fields-to-discriminateBy":)"
     R"({"group":"Group","serviceAccount":"ServiceAccount","user":"User"}}])"},
    {"apiregistration/v1.APIServiceSpec", "caBundle", R"("x-kubernetes-list-type":"atomic")"},
};

void WriteExtra(std::string_view definition, std::string_view property, JsonText* json) {
  for (const Extra& extra : kExtras) {
    if (extra.definition == definition && extra.property == property) json->Raw(extra.members);
  }
}

// Fields without a description are a bare $ref. All others wrap the reference in allOf, because a
// $ref cannot have siblings.
bool RefersPlainly(std::string_view definition, std::string_view property) {
  return (definition == "apiextensions/v1.JSONSchemaProps" && property != "default") ||
         (definition == "networking/v1.IngressRule" && property == "http");
}

// Reports whether kinds of the group are read and written with options, such as DeleteOptions.
bool HasOptions(std::string_view group) {
  return group != "meta.k8s.io" && group != "metrics.k8s.io" && group != "apidiscovery.k8s.io";
}

// "io.k8s.api.core.v1." for "core/v1": the Go package, as reversed domain.
std::string PrefixOf(std::string_view path) {
  const size_t slash = path.find('/');
  const std::string_view folder = path.substr(0, slash);
  std::string prefix = "io.k8s.api.";
  if (folder == "meta") prefix = "io.k8s.apimachinery.pkg.apis.";
  if (folder == "apiextensions") prefix = "io.k8s.apiextensions-apiserver.pkg.apis.";
  if (folder == "apiregistration") prefix = "io.k8s.kube-aggregator.pkg.apis.";
  prefix.append(folder).append(".").append(path.substr(slash + 1)).append(".");
  return prefix;
}

// Kinds of the meta package that belong to every group version.
bool IsShared(const KindInfo& kind) { return kind.group == "meta.k8s.io"; }

std::string_view ZeroOf(Shape shape) {
  switch (shape) {
    case Shape::kBool:
      return "false";
    case Shape::kInt32:
    case Shape::kInt64:
    case Shape::kDouble:
      return "0";
    case Shape::kString:
      return "\"\"";
    case Shape::kStruct:
      return "{}";
    default:
      return {};
  }
}

bool IsObject(const Type& type) {
  return type.shape == Shape::kStruct && type.codec == Codec::kFields;
}

std::string_view DefaultOf(const Field& field) {
  if (!field.default_json.empty()) return field.default_json;
  if (field.Has(Field::kPointer)) return {};
  if (field.type->shape == Shape::kStruct) return IsObject(*field.type) ? "{}" : "";
  const bool may_be_absent = field.Has(Field::kOmitEmpty) || field.Has(Field::kOmitZero);
  return may_be_absent ? std::string_view() : ZeroOf(field.type->shape);
}

std::string_view PatchStrategy(const Field& field) {
  if (field.Has(Field::kPatchMerge) && field.Has(Field::kPatchRetainKeys)) {
    return "merge,retainKeys";
  }
  if (field.Has(Field::kPatchMerge)) return "merge";
  if (field.Has(Field::kPatchReplace)) return "replace";
  if (field.Has(Field::kPatchRetainKeys)) return "retainKeys";
  return {};
}

void WriteStrings(std::span<const std::string_view> strings, JsonText* json) {
  json->BeginArray();
  for (const std::string_view text : strings) json->String(text);
  json->EndArray();
}

// Writes the "x-kubernetes-..." members of a field.
void WriteExtensions(const Field& field, bool says_atomic, JsonText* json) {
  const Type& type = *field.type;
  if (type.shape == Shape::kList) {
    if (type.list_type == ListType::kMap) {
      json->Key("x-kubernetes-list-map-keys");
      WriteStrings(type.keys, json);
      json->Member("x-kubernetes-list-type", "map");
    } else if (type.list_type == ListType::kSet) {
      json->Member("x-kubernetes-list-type", "set");
    } else if (says_atomic) {
      json->Member("x-kubernetes-list-type", "atomic");
    }
  }
  if (field.Has(Field::kAtomic)) json->Member("x-kubernetes-map-type", "atomic");
  if (!field.merge_key.empty()) json->Member("x-kubernetes-patch-merge-key", field.merge_key);
  const std::string_view strategy = PatchStrategy(field);
  if (!strategy.empty()) json->Member("x-kubernetes-patch-strategy", strategy);
}

void WriteDescription(const std::string& key, JsonText* json) {
  const std::string_view text = Description(key);
  if (!text.empty()) json->Member("description", text);
}

}  // namespace

Schemas::Schemas() {
  for (const ScalarDefinition& row : kScalars) {
    Definition& definition = definitions_[std::string(row.name)];
    definition.key = row.key;
    definition.v2 = row.v2;
    definition.v3 = row.v3;
    if (row.type != nullptr) names_[row.type] = row.name;
  }
  Definition& version = definitions_[std::string(kVersionInfoName)];
  version.v2 = kVersionInfoV2;
  version.v3 = kVersionInfoV3;
  for (const PackageInfo& package : AllPackages()) {
    const std::string prefix = PrefixOf(package.path);
    for (const StructInfo& info : package.structs) {
      std::string name = prefix + std::string(info.name);
      Definition& definition = definitions_[name];
      definition.type = info.type;
      definition.key = std::string(package.path) + "." + std::string(info.name);
      definition.atomic_lists = info.atomic_lists;
      names_.emplace(info.type, std::move(name));
    }
    for (const Type* type : package.closed_enums) closed_enums_[type] = true;
  }
  for (const KindInfo* kind : AllKinds()) {
    const auto name = names_.find(kind->type);
    if (name != names_.end()) definitions_[name->second].kinds.push_back(kind);
  }
  for (const KindInfo* kind : AllKinds()) {
    if (HasOptions(kind->group)) {
      group_versions_.insert({std::string(kind->group), std::string(kind->version)});
    }
  }
}

std::string_view Schemas::NameOf(const Type& type) const {
  const auto found = names_.find(&type);
  return found == names_.end() ? std::string_view() : std::string_view(found->second);
}

bool Schemas::IsClosed(const Type& type) const { return closed_enums_.contains(&type); }

void Schemas::WriteRef(std::string_view definition, Dialect dialect, JsonText* json) const {
  std::string ref = dialect == Dialect::kV2 ? "#/definitions/" : "#/components/schemas/";
  ref.append(definition);
  json->BeginObject();
  json->Member("$ref", ref);
  json->EndObject();
}

// Writes the members of a schema for a type that is not a definition.
void Schemas::WriteType(const Type& type, Dialect dialect, JsonText* json) const {
  switch (type.shape) {
    case Shape::kBool:
      return json->Member("type", "boolean");
    case Shape::kInt32:
    case Shape::kInt64:
      json->Member("type", "integer");
      return json->Member("format", type.shape == Shape::kInt32 ? "int32" : "int64");
    case Shape::kDouble:
      json->Member("type", "number");
      return json->Member("format", "double");
    case Shape::kBytes:
      json->Member("type", "string");
      return json->Member("format", "byte");
    case Shape::kString:
      json->Member("type", "string");
      if (IsClosed(type)) {
        std::vector<std::string_view> values(type.enum_values.begin(), type.enum_values.end());
        if (&type == &discovery::v1::types::AddressType) {
          // Two of its constants are defined by constants of another type, which the tables do not
          // resolve.
          values.insert(values.end(), {"IPv4", "IPv6"});
        }
        std::sort(values.begin(), values.end());
        json->Key("enum");
        WriteStrings(values, json);
      }
      return;
    case Shape::kList:
      json->Member("type", "array");
      json->Key("items");
      return WriteItem(*type.element, dialect, json);
    case Shape::kMap:
      json->Member("type", "object");
      json->Key("additionalProperties");
      return WriteItem(*type.element, dialect, json);
    default:
      return;  // any value
  }
}

// Writes the schema of list elements or map values.
void Schemas::WriteItem(const Type& type, Dialect dialect, JsonText* json) const {
  const std::string_view name = NameOf(type);
  const bool has_default = dialect == Dialect::kV3;
  if (name.empty()) {
    json->BeginObject();
    WriteType(type, dialect, json);
    const std::string_view zero = ZeroOf(type.shape);
    if (has_default && !zero.empty()) json->RawMember("default", zero);
    json->EndObject();
    return;
  }
  if (!has_default || !IsObject(type)) return WriteRef(name, dialect, json);
  json->BeginObject();
  json->RawMember("default", "{}");
  json->Key("allOf");
  json->BeginArray();
  WriteRef(name, dialect, json);
  json->EndArray();
  json->EndObject();
}

void Schemas::WriteProperty(const Definition& definition, const Field& field, Dialect dialect,
                            JsonText* json) const {
  json->Key(field.name);
  json->BeginObject();
  const bool of_kind = field.number == 0 && (field.name == "apiVersion" || field.name == "kind");
  WriteDescription((of_kind ? "meta/v1.TypeMeta" : definition.key) + "." + std::string(field.name),
                   json);
  const std::string_view name = NameOf(*field.type);
  if (name.empty()) {
    WriteType(*field.type, dialect, json);
  } else if (dialect == Dialect::kV2) {
    json->Member("$ref", "#/definitions/" + std::string(name));
  } else if (RefersPlainly(definition.key, field.name)) {
    json->Member("$ref", "#/components/schemas/" + std::string(name));
  } else {
    json->Key("allOf");
    json->BeginArray();
    WriteRef(name, dialect, json);
    json->EndArray();
  }
  if (dialect == Dialect::kV3) {
    const std::string_view value = DefaultOf(field);
    if (!value.empty()) json->RawMember("default", value);
  }
  const auto& lists = definition.atomic_lists;
  WriteExtensions(field, std::find(lists.begin(), lists.end(), field.name) != lists.end(), json);
  WriteExtra(definition.key, field.name, json);
  json->EndObject();
}

void Schemas::WriteStruct(const Definition& definition, Dialect dialect, JsonText* json) const {
  const Type& type = *definition.type;
  if (!IsObject(type)) return;  // its JSON is not an object with its fields: any value
  json->Member("type", "object");
  std::vector<const Field*> fields;
  for (const Field& field : type.fields) {
    if (!field.Has(Field::kInline)) fields.push_back(&field);
  }
  if (std::any_of(fields.begin(), fields.end(),
                  [](const Field* field) { return field->Has(Field::kRequired); })) {
    json->Key("required");
    json->BeginArray();
    for (const Field* field : fields) {
      if (field->Has(Field::kRequired)) json->String(field->name);
    }
    json->EndArray();
  }
  // Every kind has these two members, which are not fields of its struct.
  static constexpr Field kTypeMeta[] = {
      {.name = "apiVersion", .type = &types::kString, .flags = Field::kOmitEmpty},
      {.name = "kind", .type = &types::kString, .flags = Field::kOmitEmpty}};
  for (const Field& field : kTypeMeta) {
    if (type.type_meta && type.Find(field.name) == nullptr) fields.push_back(&field);
  }
  std::sort(fields.begin(), fields.end(),
            [](const Field* a, const Field* b) { return a->name < b->name; });
  if (!fields.empty()) {
    json->Key("properties");
    json->BeginObject();
    for (const Field* field : fields) WriteProperty(definition, *field, dialect, json);
    json->EndObject();
  }
  if (type.atomic) json->Member("x-kubernetes-map-type", "atomic");
  WriteExtra(definition.key, "", json);
}

void Schemas::WriteKinds(const Definition& definition, const GroupVersion& of,
                         JsonText* json) const {
  struct Row {
    std::string_view group, version, kind;
  };
  std::vector<Row> rows;
  for (const KindInfo* kind : definition.kinds) {
    if (!IsShared(*kind)) {
      rows.push_back({kind->group, kind->version, kind->kind});
      continue;
    }
    rows.push_back({"", "v1", kind->kind});
    // Options and watch events are read and written in the group version of the resource.
    if (kind->kind != "DeleteOptions" && kind->kind != "WatchEvent") continue;
    for (const GroupVersion& gv : group_versions_) {
      const bool shown = of.empty() || of == gv;
      if (shown && !(gv == GroupVersion{"", "v1"}))
        rows.push_back({gv.group, gv.version, kind->kind});
    }
  }
  if (rows.empty()) return;
  json->Key("x-kubernetes-group-version-kind");
  json->BeginArray();
  for (const Row& row : rows) {
    json->BeginObject();
    json->Member("group", row.group);
    json->Member("kind", row.kind);
    json->Member("version", row.version);
    json->EndObject();
  }
  json->EndArray();
}

void Schemas::WriteDefinition(std::string_view name, Dialect dialect, const GroupVersion& of,
                              JsonText* json) const {
  json->BeginObject();
  const auto found = definitions_.find(name);
  if (found != definitions_.end()) {
    const Definition& definition = found->second;
    WriteDescription(definition.key, json);
    if (definition.type != nullptr) {
      WriteStruct(definition, dialect, json);
      WriteKinds(definition, of, json);
    } else {
      const std::string_view members = dialect == Dialect::kV2 ? definition.v2 : definition.v3;
      if (!members.empty()) json->Raw(members);
    }
  }
  json->EndObject();
}

void Schemas::Reach(std::string_view name, std::set<std::string_view>* reached) const {
  const auto found = definitions_.find(name);
  if (found == definitions_.end() || !reached->insert(found->first).second) return;
  const Type* type = found->second.type;
  if (type == nullptr || !IsObject(*type)) return;
  for (const Field& field : type->fields) {
    if (field.Has(Field::kInline)) continue;
    const Type* inner = field.type;
    while (inner->shape == Shape::kList || inner->shape == Shape::kMap) inner = inner->element;
    const std::string_view next = NameOf(*inner);
    if (!next.empty()) Reach(next, reached);
  }
}

}  // namespace cox::apiserver::openapi
