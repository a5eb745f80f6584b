// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace cox {

// The path of a field, in the format of field errors: spec.containers[0].ports[http].
//
//   FieldPath containers = FieldPath("spec").Child("containers");
//   ... containers.Index(i).Child("image") ...
//
// A value type: each method returns a longer path and does not change the original. The default
// path is empty; it is printed as upstream's nil path, "<nil>", and its children start a path.
class FieldPath {
 public:
  FieldPath() = default;
  explicit FieldPath(std::string_view name) { *this = Child(name); }

  FieldPath Child(std::string_view name) const {
    if (name.empty()) return Key(name);
    return Grown(text_.empty() ? "" : ".", name, "");
  }
  FieldPath Index(size_t index) const { return Grown("[", std::to_string(index), "]"); }
  FieldPath Key(std::string_view key) const { return Grown("[", key, "]"); }

  std::string ToString() const { return text_.empty() ? "<nil>" : text_; }

  bool operator==(const FieldPath&) const = default;

 private:
  FieldPath Grown(std::string_view before, std::string_view name, std::string_view after) const {
    FieldPath path;
    path.text_.reserve(text_.size() + before.size() + name.size() + after.size());
    path.text_.append(text_).append(before).append(name).append(after);
    return path;
  }

  std::string text_;
};

}  // namespace cox
