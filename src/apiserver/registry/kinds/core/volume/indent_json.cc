// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/core/volume/indent_json.h"

namespace cox::apiserver {

std::string IndentJson(std::string_view json) {
  std::string out;
  size_t depth = 0;
  auto new_line = [&] {
    out += '\n';
    out.append(depth, ' ');
  };
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (c == '"') {
      const size_t begin = i;
      while (json[++i] != '"') {
        if (json[i] == '\\') ++i;
      }
      out.append(json.substr(begin, i - begin + 1));
    } else if (c == '{' || c == '[') {
      out += c;
      if (json[i + 1] == '}' || json[i + 1] == ']') {
        out += json[++i];
      } else {
        ++depth;
        new_line();
      }
    } else if (c == '}' || c == ']') {
      --depth;
      new_line();
      out += c;
    } else {
      out += c;
      if (c == ',') new_line();
      if (c == ':') out += ' ';
    }
  }
  return out;
}

}  // namespace cox::apiserver
