// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

// The texts of a new operator. @NAME@ and the like are filled in by ScaffoldOperator.
namespace cox::sdk {

struct Template {
  std::string_view path;
  std::string_view text;
};

std::span<const Template> CommonTemplates();
std::span<const Template> ConfigMapTemplates();   // watches ConfigMaps with a label
std::span<const Template> CustomKindTemplates();  // has a kind of its own

}  // namespace cox::sdk
