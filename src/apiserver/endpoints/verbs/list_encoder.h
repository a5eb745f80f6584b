// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/endpoints/verbs/respond.h"
#include "apiserver/endpoints/verbs/transform.h"
#include "apiserver/registry/served/registry.h"
#include "base/bytes.h"
#include "storage/watchcache/entry.h"

namespace cox::apiserver {

// Encodes a list piece by piece: the head, the items in order, the tail. So a list of any length
// needs memory only for the pieces that have not been sent yet.
//
// Threads: one at a time.
class ListEncoder {
 public:
  virtual ~ListEncoder() = default;

  // Whether the head contains the total size of the items (protobuf). Then the items must be
  // encoded before the head.
  virtual bool head_has_size() const { return false; }
  virtual std::string Head(size_t items_size) = 0;
  // Appends an item. An object that cannot be decoded is left out, so that the others are still
  // listed. Encoding an item again gives the same bytes, except that JSON has a comma between
  // items.
  virtual void Item(const storage::Entry& entry, std::vector<Bytes>* out) = 0;
  virtual std::string Tail() = 0;
};

// The encoder for what the client accepts. YAML and indented JSON begin as JSON and are converted
// as a whole (FinishJson). Errors: NotAcceptable if a single object was requested.
Result<std::unique_ptr<ListEncoder>> MakeListEncoder(const ServedResource& resource, ListMeta meta,
                                                     const Accepted& accepted,
                                                     IncludeObject include, const Time& now);

}  // namespace cox::apiserver
