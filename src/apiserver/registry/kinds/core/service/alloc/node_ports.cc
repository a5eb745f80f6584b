// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/core/service/alloc/node_ports.h"

#include <optional>
#include <utility>

#include "api/core/v1.h"
#include "apiserver/registry/kinds/core/service/alloc/stored.h"

namespace cox::apiserver {
namespace {

using core::v1::RangeAllocation;

std::string Encode(const PortBitmap& ports) {
  RangeAllocation object;
  object.range = ports.range().ToString();
  object.data = ports.Data();
  return EncodeStored(std::move(object));
}

}  // namespace

NodePorts::NodePorts(storage::Store& store, const std::string& root, PortRange range)
    : store_(store), key_(root + "/ranges/servicenodeports"), range_(range) {}

Result<PortBitmap> NodePorts::Decode(std::string_view bytes) const {
  COX_ASSIGN_OR_RETURN(RangeAllocation object, DecodeStored<RangeAllocation>(bytes));
  const std::optional<PortRange> stored = PortRange::Parse(object.range);
  if (!stored) return Status::Internal("stored node port range \"" + object.range + "\" is none");
  PortBitmap old(*stored, object.data);
  if (*stored == range_) return old;
  PortBitmap ports(range_);
  for (int32_t port = stored->first; port <= stored->last; ++port) {
    if (old.Has(port) && range_.Contains(port)) ports.Set(port);
  }
  return ports;
}

Result<PortBitmap> NodePorts::Read(Context& ctx) const {
  COX_ASSIGN_OR_RETURN(storage::Store::GetResult found, store_.Get(ctx, key_));
  if (!found.kv) return PortBitmap(range_);
  return Decode(found.kv->value.view());
}

Status NodePorts::Modify(Context& ctx, const Change& change) {
  COX_ASSIGN_OR_RETURN(storage::Store::GetResult found, store_.Get(ctx, key_));
  std::optional<storage::KeyValue> current = std::move(found.kv);
  while (true) {
    PortBitmap ports(range_);
    if (current) {
      COX_ASSIGN_OR_RETURN(ports, Decode(current->value.view()));
    }
    COX_RETURN_IF_ERROR(change(ports));
    const std::string bytes = Encode(ports);
    if (current) {
      if (current->value.view() == bytes) return {};
      COX_ASSIGN_OR_RETURN(storage::WriteResult result,
                           store_.Update(ctx, key_, bytes, current->revision));
      if (result.written) return {};
      current = std::move(result.current);
      continue;
    }
    Result<storage::Revision> created = store_.Create(ctx, key_, bytes);
    if (created.ok()) return {};
    if (!created.status().Is(Reason::kAlreadyExists)) return created.status();
    COX_ASSIGN_OR_RETURN(storage::Store::GetResult now, store_.Get(ctx, key_));
    current = std::move(now.kv);
  }
}

}  // namespace cox::apiserver
