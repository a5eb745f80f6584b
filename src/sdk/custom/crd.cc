// SPDX-License-Identifier: Apache-2.0
#include "base/check.h"
#include "object/codec/json/json.h"
#include "object/codec/yaml/yaml.h"
#include "object/object.h"
#include "sdk/custom/descriptions.h"

namespace cox {
namespace {

using apiextensions::v1::CustomResourceDefinition;
using apiextensions::v1::CustomResourceDefinitionVersion;

CustomResourceDefinitionVersion VersionOf(const KindInfo& kind, const KindOptions& options) {
  CustomResourceDefinitionVersion version;
  version.name = options.version;
  version.served = options.served;
  version.schema.ensure().openAPIV3Schema = sdk::SchemaOf(*kind.type);
  if (!options.doc.empty()) version.schema->openAPIV3Schema->description = options.doc;
  if (!options.deprecation_warning.empty()) {
    version.deprecated = true;
    version.deprecationWarning = options.deprecation_warning;
  }
  if (options.status) version.subresources.ensure().status.ensure();
  if (!options.scale_spec_path.empty()) {
    auto& scale = version.subresources.ensure().scale.ensure();
    scale.specReplicasPath = options.scale_spec_path;
    scale.statusReplicasPath = options.scale_status_path;
    if (!options.scale_selector_path.empty()) {
      scale.labelSelectorPath = options.scale_selector_path;
    }
  }
  for (const PrinterColumn& column : options.columns) {
    auto& out = version.additionalPrinterColumns.emplace_back();
    out.name = column.name;
    out.type = column.type;
    out.jsonPath = column.json_path;
    out.description = column.description;
    out.priority = column.priority;
  }
  return version;
}

}  // namespace

CustomResourceDefinition MakeCrd(std::span<const KindInfo* const> versions) {
  COX_CHECK(!versions.empty());
  const KindInfo& first = *versions.front();
  CustomResourceDefinition definition;
  definition.metadata.name = std::string(first.plural) + "." + std::string(first.group);
  definition.spec.group = first.group;
  definition.spec.names.plural = first.plural;
  definition.spec.names.singular = first.singular;
  definition.spec.names.kind = first.kind;
  definition.spec.names.listKind = std::string(first.kind) + "List";
  for (std::string_view name : first.short_names) {
    definition.spec.names.shortNames.emplace_back(name);
  }
  for (std::string_view name : first.categories) {
    definition.spec.names.categories.emplace_back(name);
  }
  definition.spec.scope = first.namespaced ? "Namespaced" : "Cluster";
  for (const KindInfo* kind : versions) {
    const KindOptions* options = sdk::Descriptions::Get().Find(*kind);
    COX_CHECK(options != nullptr && kind->group == first.group && kind->plural == first.plural);
    definition.spec.versions.push_back(VersionOf(*kind, *options));
  }
  definition.spec.versions.front().storage = true;
  return definition;
}

std::string CrdYaml(const CustomResourceDefinition& definition) {
  Value value = Object::Of(definition).ToValue();
  if (!value.is_object()) return "";
  // Remove fields that only the server sets.
  value.as_object().Erase("status");
  if (Value* metadata = value.Find("metadata")) metadata->as_object().Erase("creationTimestamp");
  return yaml::Write(value);
}

}  // namespace cox
