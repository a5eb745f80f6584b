// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "apiserver/endpoints/verbs/respond.h"
#include "apiserver/registry/served/served_resource.h"
#include "apiserver/request/negotiation.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/status.h"
#include "storage/watchcache/entry.h"

namespace cox::apiserver {

// Encodes the events of one watch in the format and transformation that the client accepts.
// Lifetime: the resource and the clock outlive it.
// Threads: like a plain struct.
class EventWriter {
 public:
  EventWriter(const ServedResource& resource, Accepted accepted, IncludeObject include,
              Clock& clock)
      : resource_(resource), accepted_(std::move(accepted)), include_(include), clock_(clock) {}

  const Accepted& accepted() const { return accepted_; }

  // Writes an object of the cache with the encoding that all watchers share. Nothing if the stored
  // bytes cannot be decoded.
  // Errors: the object cannot be decrypted. The watch must then end, because the client would miss
  //   an event.
  Status Write(std::string_view type, const storage::Entry& entry, std::vector<Bytes>* out);
  void WriteStatus(const Status& status, std::vector<Bytes>* out);
  // Writes a bookmark: an empty object that has only a resource version.
  void WriteBookmark(storage::Revision revision, bool initial_end, std::vector<Bytes>* out);

 private:
  void WriteObject(std::string_view type, const Object& hub, std::vector<Bytes>* out);
  void Frame(std::string_view type, Bytes object, std::vector<Bytes>* out);

  const ServedResource& resource_;
  const Accepted accepted_;
  const IncludeObject include_;
  Clock& clock_;
  bool columns_sent_ = false;
};

// OK unless the object cannot be decrypted.
Status CheckReadable(const storage::Entry& entry);

}  // namespace cox::apiserver
