// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "api/meta/v1.h"
#include "base/result.h"
#include "object/codec.h"
#include "object/object.h"
#include "sdk/client/answer/json_stream.h"
#include "sdk/client/answer/proto_list.h"

namespace cox::sdk {

// What the objects of a stream are decoded to: a struct if there is `info`, else a Value.
struct ObjectForm {
  GroupVersionKind gvk;
  const KindInfo* info = nullptr;
};
// An object whose kind is known: JSON text, or protobuf without its envelope.
// Errors: Internal: what a server sent and cannot be read is nobody's bad request.
Result<Object> DecodeAs(const ObjectForm& form, std::string_view bytes, Format format);

// A list that arrives in pieces: gives its objects as they become whole, so that a list of any
// length needs the memory of about one.
//
// Threads: as a plain struct.
// Errors: Internal for what is no list of such objects; Unavailable from Finish when the answer
//   ended before the list did.
class ListDecoder {
 public:
  using Take = std::function<Status(Object)>;
  explicit ListDecoder(ObjectForm form) : form_(std::move(form)) {}

  // Calls `take` with each object that is whole by now. Its error ends the list.
  Status Feed(std::string_view bytes, const Take& take);
  // After the last piece: the list's own metadata.
  Result<meta::v1::ListMeta> Finish();

 private:
  template <class Stream>
  Status Drain(Stream& stream, Format format, const Take& take);
  Status TakeMember(std::string_view bytes, Format format, std::string_view key);

  const ObjectForm form_;
  // By the first byte: `k` of "k8s" begins no JSON.
  std::optional<JsonStream> json_;
  std::optional<ProtoListStream> proto_;
  bool ended_ = false;
  meta::v1::ListMeta meta_;
};

}  // namespace cox::sdk
