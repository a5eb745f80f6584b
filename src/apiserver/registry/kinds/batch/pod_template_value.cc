// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/batch/pod_template_value.h"

#include <string>
#include <string_view>
#include <utility>

#include "apiserver/registry/kinds/core/pod/validation/internal_form.h"
#include "object/codec/json/json.h"

namespace cox::apiserver {
namespace {

// Appends JSON without the white space between tokens.
void AppendCompact(std::string_view json, std::string& out) {
  bool quoted = false;
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (!quoted && (c == ' ' || c == '\n')) continue;
    out.push_back(c);
    if (c == '"') quoted = !quoted;
    // A character after a backslash does not end the string.
    if (c == '\\' && i + 1 < json.size()) out.push_back(json[++i]);
  }
}

}  // namespace

FieldValue PodTemplateValue(const core::v1::PodTemplateSpec& pod_template) {
  std::string out = json::Encode(pod_template.metadata);
  out.pop_back();
  if (out.size() > 1) out.push_back(',');
  out.append("\"Spec\":");
  AppendCompact(InternalForm(pod_template.spec), out);
  out.push_back('}');
  return FieldValue::Json(std::move(out));
}

}  // namespace cox::apiserver
