// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>
#include <utility>

// Templates of a new operator. ScaffoldOperator replaces placeholders such as @NAME@.
namespace cox::sdk {

struct Template {
  std::string_view path;
  std::string_view text;
};

// One variant of the operator: its own files, and its values for placeholders in the common files.
struct Frame {
  std::span<const Template> files;
  std::span<const std::pair<std::string_view, std::string_view>> parts;
};

std::span<const Template> CommonTemplates();
const Frame& ConfigMapFrame();   // watches ConfigMaps with a label
const Frame& CustomKindFrame();  // has its own custom resource

}  // namespace cox::sdk
