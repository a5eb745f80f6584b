// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "apiserver/handlers/respond.h"
#include "apiserver/registry/registry.h"

namespace cox::apiserver {

// Writes a Table (meta.k8s.io), the shape `kubectl get` asks for, as JSON.
//   TableWriter table(...); table.Begin(meta, true); table.AddRow(a); text = table.End();
class TableWriter {
 public:
  TableWriter(const ServedResource& resource, std::string_view version, IncludeObject include,
              const Time& now)
      : resource_(resource), version_(version), include_(include), now_(now) {}

  // `metadata` is the member `"metadata":{...}`. Without columns: for the later events of a watch.
  void Begin(std::string_view metadata, bool with_columns);
  void AddRow(const Object& hub);
  std::string End();

 private:
  void AddColumns();

  const ServedResource& resource_;
  const std::string_view version_;
  const IncludeObject include_;
  const Time now_;
  std::string text_;
  bool first_row_ = true;
};

}  // namespace cox::apiserver
