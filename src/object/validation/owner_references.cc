// SPDX-License-Identifier: Apache-2.0
#include "base/strings.h"
#include "object/validation/object_meta.h"

namespace cox::validation {
namespace {

void AppendJson(std::string& out, const OwnerReferenceView& reference) {
  out += "{\"apiVersion\":";
  AppendJsonString(out, reference.api_version);
  out += ",\"kind\":";
  AppendJsonString(out, reference.kind);
  out += ",\"name\":";
  AppendJsonString(out, reference.name);
  out += ",\"uid\":";
  AppendJsonString(out, reference.uid);
  if (reference.controller) {
    out.append(",\"controller\":").append(*reference.controller ? "true" : "false");
  }
  if (reference.block_owner_deletion) {
    out.append(",\"blockOwnerDeletion\":")
        .append(*reference.block_owner_deletion ? "true" : "false");
  }
  out += '}';
}

FieldValue JsonOf(std::span<const OwnerReferenceView> references) {
  std::string json = "[";
  for (const OwnerReferenceView& reference : references) {
    if (json.size() > 1) json += ',';
    AppendJson(json, reference);
  }
  return FieldValue::Json(json + "]");
}

// The version of "group/version" or "version"; empty if there is none.
std::string_view VersionOf(std::string_view api_version) {
  const CutResult cut = Cut(api_version, '/');
  if (!cut.found) return api_version;
  return cut.after.find('/') == std::string_view::npos ? cut.after : "";
}

void CheckReference(const OwnerReferenceView& reference, const FieldPath& path,
                    FieldErrorList& out) {
  if (VersionOf(reference.api_version).empty()) {
    out.push_back(FieldError::Invalid(path.Child("apiVersion"), reference.api_version,
                                      "version must not be empty"));
  }
  const std::pair<std::string_view, std::string_view> kRequired[] = {
      {"kind", reference.kind}, {"name", reference.name}, {"uid", reference.uid}};
  for (const auto& [field, value] : kRequired) {
    if (value.empty()) {
      out.push_back(FieldError::Invalid(path.Child(field), value, "must not be empty"));
    }
  }
  // Events cannot be owners, because there are many and they are short-lived.
  if (reference.api_version == "v1" && reference.kind == "Event") {
    std::string json;
    AppendJson(json, reference);
    out.push_back(FieldError::Invalid(path, FieldValue::Json(std::move(json)),
                                      "/v1, Kind=Event is disallowed from being an owner"));
  }
}

}  // namespace

FieldErrorList ValidateOwnerReferences(std::span<const OwnerReferenceView> references,
                                       const FieldPath& path) {
  FieldErrorList out;
  const OwnerReferenceView* controller = nullptr;
  bool reported = false;
  for (const OwnerReferenceView& reference : references) {
    CheckReference(reference, path, out);
    if (!reference.controller.value_or(false)) continue;
    if (controller == nullptr) {
      controller = &reference;
      continue;
    }
    std::string detail =
        "Only one reference can have Controller set to true. Found \"true\" in references for ";
    detail.append(controller->kind).append("/").append(controller->name);
    detail.append(" and ").append(reference.kind).append("/").append(reference.name);
    // Show the whole list only once: a copy per reference would take quadratic space for a
    // malicious object.
    out.push_back(FieldError::Invalid(
        path, reported && references.size() > 100 ? FieldValue::Omit() : JsonOf(references),
        std::move(detail)));
    reported = true;
  }
  return out;
}

}  // namespace cox::validation
