// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "apiserver/registry/kinds/apiextensions/schema_validation.h"

namespace cox::apiserver {
namespace {

using apiextensions::v1::JSONSchemaProps;

constexpr std::string_view kFormats[] = {
    "bsonobjectid", "byte",   "cidr",          "creditcard",     "date",  "date-time",
    "datetime",     "double", "duration",      "email",          "float", "hexcolor",
    "hostname",     "int32",  "int64",         "ipv4",           "ipv6",  "isbn",
    "isbn10",       "isbn13", "k8s-long-name", "k8s-short-name", "mac",   "password",
    "rgbcolor",     "ssn",    "uri",           "uuid",           "uuid3", "uuid4",
    "uuid5"};

void Collect(const JSONSchemaProps& schema, std::set<std::string>* formats) {
  if (!schema.format.empty() &&
      std::find(std::begin(kFormats), std::end(kFormats), schema.format) == std::end(kFormats)) {
    formats->insert(schema.format);
  }
  for (const auto& [name, property] : schema.properties) Collect(property, formats);
  if (schema.items && schema.items->schema) Collect(*schema.items->schema, formats);
  if (schema.additionalProperties && schema.additionalProperties->schema) {
    Collect(*schema.additionalProperties->schema, formats);
  }
  for (const auto* branches : {&schema.allOf, &schema.anyOf, &schema.oneOf}) {
    for (const JSONSchemaProps& branch : *branches) Collect(branch, formats);
  }
  if (schema.not_) Collect(*schema.not_, formats);
}

}  // namespace

std::vector<std::string> UnknownFormats(const JSONSchemaProps& schema) {
  std::set<std::string> formats;
  Collect(schema, &formats);
  return {formats.begin(), formats.end()};
}

}  // namespace cox::apiserver
