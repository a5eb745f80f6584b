// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>
#include <utility>

// The texts of a new operator. @NAME@ and the like are filled in by ScaffoldOperator.
namespace cox::sdk {

struct Template {
  std::string_view path;
  std::string_view text;
};

// One of the operators that can be had: the files of its own, and what it fills into the common
// ones, by the placeholder.
struct Frame {
  std::span<const Template> files;
  std::span<const std::pair<std::string_view, std::string_view>> parts;
};

std::span<const Template> CommonTemplates();
const Frame& ConfigMapFrame();   // watches ConfigMaps with a label
const Frame& CustomKindFrame();  // has a kind of its own

}  // namespace cox::sdk
