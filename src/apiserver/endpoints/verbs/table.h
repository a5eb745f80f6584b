// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "apiserver/endpoints/verbs/respond.h"
#include "apiserver/registry/store/table.h"

namespace cox::apiserver {

// Writes a Table (meta.k8s.io), which `kubectl get` requests, as JSON.
//   TableWriter table(...); table.Begin(meta, true); table.AddRow(...); text = table.End();
class TableWriter {
 public:
  // `version` is the version of meta.k8s.io.
  TableWriter(std::span<const Column> columns, std::string_view version, IncludeObject include)
      : columns_(columns), version_(version), include_(include) {}

  // `metadata` is the member `"metadata":{...}`. `with_columns` is false for later events of a
  // watch.
  void Begin(std::string_view metadata, bool with_columns);
  // `object` returns the row's object in the served version. It is called only if rows contain
  // objects.
  void AddRow(const Cells& cells, const meta::v1::ObjectMeta& meta,
              const std::function<Object()>& object);
  // Returns the text that was written since the last call, for tables that are sent in pieces.
  std::string Take() { return std::exchange(text_, std::string()); }
  std::string End();

 private:
  void AddColumns();

  const std::span<const Column> columns_;
  const std::string_view version_;
  const IncludeObject include_;
  std::string text_;
  bool first_row_ = true;
};

}  // namespace cox::apiserver
