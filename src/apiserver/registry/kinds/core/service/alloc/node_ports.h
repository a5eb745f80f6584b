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

// The allocated node ports of services, in one RangeAllocation object at
// <root>/ranges/servicenodeports. Changes use optimistic locking, so any number of API servers can
// allocate concurrently.
//
// Threads: all methods may be called concurrently.
// Errors: those of storage, and those of `change`.
class NodePorts {
 public:
  // `store` outlives this.
  NodePorts(storage::Store& store, const std::string& root, PortRange range);

  const PortRange& range() const { return range_; }

  // Returns the stored ports. If the stored object has another range, ports outside of range() are
  // dropped.
  Result<PortBitmap> Read(Context& ctx) const;

  // Reads the ports, calls `change` and stores the result. `change` is called again after a write
  // conflict; nothing is stored if nothing has changed.
  using Change = std::function<Status(PortBitmap& ports)>;
  Status Modify(Context& ctx, const Change& change);

 private:
  Result<PortBitmap> Decode(std::string_view bytes) const;

  storage::Store& store_;
  const std::string key_;
  const PortRange range_;
};

}  // namespace cox::apiserver
