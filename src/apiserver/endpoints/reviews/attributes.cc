// SPDX-License-Identifier: Apache-2.0
#include "apiserver/endpoints/reviews/attributes.h"

#include "apiserver/registry/validation/internal_value.h"
#include "apiserver/registry/validation/label_selector_validation.h"
#include "object/selector/fields.h"
#include "object/selector/labels.h"

namespace cox::apiserver {
namespace {

using authorization::v1::NonResourceAttributes;
using authorization::v1::ResourceAttributes;
using authorization::v1::SubjectAccessReviewSpec;

// Exactly one of rawSelector and requirements must be set.
template <class Attributes>
void CheckForm(const Attributes& selector, const FieldPath& path, FieldErrorList& errors) {
  if (!selector.rawSelector.empty() && !selector.requirements.empty()) {
    errors.push_back(FieldError::Invalid(path.Child("rawSelector"), selector.rawSelector,
                                         "may not specified at the same time as requirements"));
  }
  if (selector.rawSelector.empty() && selector.requirements.empty()) {
    errors.push_back(FieldError::Required(
        path.Child("requirements"),
        "when " + path.ToString() + " is specified, requirements or rawSelector is required"));
  }
}

void CheckFieldRequirement(const meta::v1::FieldSelectorRequirement& term, const FieldPath& path,
                           FieldErrorList& errors) {
  if (term.key.empty())
    errors.push_back(FieldError::Required(path.Child("key"), "must be specified"));
  const bool needs = term.operator_ == "In" || term.operator_ == "NotIn";
  const bool refuses = term.operator_ == "Exists" || term.operator_ == "DoesNotExist";
  if (needs && term.values.empty()) {
    errors.push_back(FieldError::Required(path.Child("values"),
                                          "must be specified when `operator` is 'In' or 'NotIn'"));
  }
  if (refuses && !term.values.empty()) {
    errors.push_back(FieldError::Forbidden(
        path.Child("values"),
        "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
  }
}

void CheckSelectors(const ResourceAttributes& resource, const FieldPath& path,
                    FieldErrorList& errors) {
  if (resource.fieldSelector) {
    const FieldPath at = path.Child("fieldSelector");
    CheckForm(*resource.fieldSelector, at, errors);
    for (size_t i = 0; i < resource.fieldSelector->requirements.size(); ++i) {
      CheckFieldRequirement(resource.fieldSelector->requirements[i],
                            at.Child("requirements").Index(i), errors);
    }
  }
  if (resource.labelSelector) {
    const FieldPath at = path.Child("labelSelector");
    CheckForm(*resource.labelSelector, at, errors);
    // Newer clients may use operators that this version does not support.
    for (size_t i = 0; i < resource.labelSelector->requirements.size(); ++i) {
      Append(errors, ValidateLabelSelectorRequirement(
                         resource.labelSelector->requirements[i], at.Child("requirements").Index(i),
                         {.allow_invalid_label_value = false, .allow_unknown_operator = true}));
    }
  }
}

// The number of valid requirements, the number of all requirements, and the valid ones as text.
struct Understood {
  size_t good = 0, all = 0;
  std::string text = {};
};

Understood ReadLabels(const authorization::v1::LabelSelectorAttributes& selector) {
  if (!selector.rawSelector.empty()) {
    if (!labels::Selector::Parse(selector.rawSelector).ok()) return {0, 1};
    return {1, 1, selector.rawSelector};
  }
  Understood read{0, selector.requirements.size()};
  meta::v1::LabelSelector good;
  for (const meta::v1::LabelSelectorRequirement& term : selector.requirements) {
    meta::v1::LabelSelector one;
    one.matchExpressions.push_back(term);
    if (!labels::Selector::FromLabelSelector(&one).ok()) continue;
    ++read.good;
    good.matchExpressions.push_back(term);
  }
  const Result<labels::Selector> all = labels::Selector::FromLabelSelector(&good);
  if (read.good > 0 && all.ok()) read.text = all->ToString();
  return read;
}

Understood ReadFields(const authorization::v1::FieldSelectorAttributes& selector) {
  if (!selector.rawSelector.empty()) {
    if (!fields::Selector::Parse(selector.rawSelector).ok()) return {0, 1};
    return {1, 1, selector.rawSelector};
  }
  Understood read{0, selector.requirements.size()};
  std::vector<fields::Requirement> good;
  for (const meta::v1::FieldSelectorRequirement& term : selector.requirements) {
    const bool known = term.operator_ == "In" || term.operator_ == "NotIn";
    if (!known || term.values.size() != 1) continue;
    ++read.good;
    good.push_back({term.key, term.operator_ == "In", term.values.front()});
  }
  read.text = fields::Selector(std::move(good)).ToString();
  return read;
}

void Explain(const Understood& read, std::string_view field, std::string& error) {
  if (read.good == read.all) return;
  if (!error.empty()) error += ", ";
  error.append("spec.resourceAttributes.").append(field);
  error += read.good > 0 ? " partially ignored due to parse error" : " ignored due to parse error";
}

}  // namespace

FieldErrorList CheckAttributes(const Box<ResourceAttributes>& resource,
                               const Box<NonResourceAttributes>& other) {
  FieldErrorList errors;
  const FieldPath spec("spec");
  if (resource && other) {
    errors.push_back(FieldError::Invalid(spec.Child("nonResourceAttributes"), InternalValue(*other),
                                         "cannot be specified in combination with "
                                         "resourceAttributes"));
  }
  if (!resource && !other) {
    errors.push_back(FieldError::Invalid(
        spec.Child("resourceAttributes"), nullptr,
        "exactly one of nonResourceAttributes or resourceAttributes must be specified"));
  }
  if (resource) CheckSelectors(*resource, spec.Child("resourceAttributes"), errors);
  return errors;
}

FieldErrorList CheckAccessSpec(const SubjectAccessReviewSpec& spec) {
  FieldErrorList errors = CheckAttributes(spec.resourceAttributes, spec.nonResourceAttributes);
  if (spec.user.empty() && spec.groups.empty()) {
    errors.push_back(FieldError::Invalid(FieldPath("spec").Child("user"), spec.user,
                                         "at least one of user or group must be specified"));
  }
  return errors;
}

FieldErrorList CheckLocalAccessSpec(const SubjectAccessReviewSpec& spec, std::string_view ns) {
  FieldErrorList errors = CheckAccessSpec(spec);
  const FieldPath path("spec");
  if (spec.resourceAttributes && spec.resourceAttributes->namespace_ != ns) {
    errors.push_back(FieldError::Invalid(path.Child("resourceAttributes").Child("namespace"),
                                         spec.resourceAttributes->namespace_,
                                         "must match metadata.namespace"));
  }
  if (spec.nonResourceAttributes) {
    errors.push_back(FieldError::Invalid(path.Child("nonResourceAttributes"),
                                         InternalValue(*spec.nonResourceAttributes),
                                         "disallowed on this kind of request"));
  }
  return errors;
}

AccessAttributes AttributesFor(const Box<ResourceAttributes>& resource,
                               const Box<NonResourceAttributes>& other) {
  AccessAttributes question;
  RequestInfo& info = question.info;
  if (!resource) {
    info.path = other->path;
    info.verb = other->verb;
    return question;
  }
  info.is_resource = true;
  info.verb = resource->verb;
  info.namespace_ = resource->namespace_;
  info.group = resource->group;
  info.version = resource->version;
  info.resource = resource->resource;
  info.subresource = resource->subresource;
  info.name = resource->name;
  if (resource->fieldSelector) {
    Understood read = ReadFields(*resource->fieldSelector);
    Explain(read, "fieldSelector", question.error);
    question.field_selector = std::move(read.text);
  }
  if (resource->labelSelector) {
    Understood read = ReadLabels(*resource->labelSelector);
    Explain(read, "labelSelector", question.error);
    question.label_selector = std::move(read.text);
  }
  return question;
}

}  // namespace cox::apiserver
