// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cox::kubelet {

// Decodes %xx (and + in a query). Invalid escapes stay unchanged.
std::string Unescape(std::string_view text, bool plus_is_blank);

// The parsed query string of a request.
class Query {
 public:
  explicit Query(std::string_view text);

  // The first value of that name.
  std::optional<std::string> Get(std::string_view name) const;
  std::vector<std::string> All(std::string_view name) const;
  // True for "true" and "1", and, as upstream, for a name without a value.
  bool GetBool(std::string_view name) const;

 private:
  std::vector<std::pair<std::string, std::string>> values_;
};

}  // namespace cox::kubelet
