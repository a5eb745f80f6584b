// SPDX-License-Identifier: Apache-2.0
#include "object/apply/conflict.h"

#include <string>
#include <tuple>
#include <utility>

#include "base/strings.h"
#include "object/apply/path.h"

namespace cox::apply {

std::string ManagerId::Text() const {
  std::string text = Quote(manager);
  if (!subresource.empty()) text += " with subresource " + Quote(subresource);
  if (!applies && !api_version.empty()) text += " using " + api_version;
  return text;
}

std::strong_ordering ManagerId::operator<=>(const ManagerId& other) const {
  auto key = [](const ManagerId& id) {
    return std::tuple<const std::string&, bool, const std::string&, bool, const std::string&>(
        id.manager, !id.applies, id.api_version, id.subresource.empty(), id.subresource);
  };
  return key(*this) <=> key(other);
}

Status ConflictStatus(const Conflicts& conflicts) {
  size_t count = 0;
  for (const auto& [id, fields] : conflicts) count += fields.Size();
  StatusDetails details;
  std::string message =
      "Apply failed with " + std::to_string(count) + (count == 1 ? " conflict: " : " conflicts: ");
  bool first = true;
  for (const auto& [id, fields] : conflicts) {
    std::string owner = id.Text();
    if (!first) message += '\n';
    first = false;
    message += (count == 1 ? "conflict with " : "conflicts with ") + owner + ":";
    fields.ForEach([&](const Path& path) {
      std::string field = PathText(path);
      message += (count == 1 ? " " : "\n- ") + field;
      details.causes.push_back({"FieldManagerConflict", "conflict with " + owner, field});
    });
  }
  return Status(Reason::kConflict, std::move(message), std::move(details));
}

}  // namespace cox::apply
