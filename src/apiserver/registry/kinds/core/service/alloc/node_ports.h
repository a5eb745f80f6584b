// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "apiserver/registry/kinds/core/service/alloc/port_bitmap.h"
#include "base/context.h"
#include "base/result.h"
#include "storage/store.h"

namespace cox::apiserver {

// The ports that services have on every node: one RangeAllocation object under
// <root>/ranges/servicenodeports holds them all. Each change replaces it on the condition that
// nobody else did, so any number of API servers can allocate side by side.
//
// Threads: all methods may be called concurrently.
// Errors: those of storage, and whatever `change` returns.
class NodePorts {
 public:
  // `store` outlives this.
  NodePorts(storage::Store& store, const std::string& root, PortRange range);

  const PortRange& range() const { return range_; }

  // What is stored now. Ports that a stored object of another range has, and ours has not, are
  // dropped.
  Result<PortBitmap> Read(Context& ctx) const;

  // Reads, lets `change` work on it and stores the result. Called again when somebody else was
  // faster; nothing is stored when nothing changed.
  using Change = std::function<Status(PortBitmap& ports)>;
  Status Modify(Context& ctx, const Change& change);

 private:
  Result<PortBitmap> Decode(std::string_view bytes) const;

  storage::Store& store_;
  const std::string key_;
  const PortRange range_;
};

}  // namespace cox::apiserver
