// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cox::kubelet {

// What %xx (and, in a query, +) stands for. What is no such escape stays as it is.
std::string Unescape(std::string_view text, bool plus_is_blank);

// The part of a request behind its question mark.
class Query {
 public:
  explicit Query(std::string_view text);

  // The first of that name.
  std::optional<std::string> Get(std::string_view name) const;
  std::vector<std::string> All(std::string_view name) const;
  // "true" and "1"; also, as upstream takes it, a name without a value.
  bool GetBool(std::string_view name) const;

 private:
  std::vector<std::pair<std::string, std::string>> values_;
};

}  // namespace cox::kubelet
