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
#include "sdk/client/response/json_stream.h"
#include "sdk/client/response/proto_list.h"

namespace cox::sdk {

// Target of decoding: a struct if `info` is set, otherwise a Value.
struct ObjectForm {
  GroupVersionKind gvk;
  const KindInfo* info = nullptr;
};
// Decodes an object of a known kind: JSON text, or protobuf without its envelope.
// Errors: Internal, because the server sent the malformed data.
Result<Object> DecodeAs(const ObjectForm& form, std::string_view bytes, Format format);

// Incremental decoder for lists: delivers objects as they become complete, so that memory use is
// about one object.
//
// Threads: like a plain struct.
// Errors: Internal if the response is not a list of such objects; Unavailable from Finish if the
//   response ended before the list.
class ListDecoder {
 public:
  using Take = std::function<Status(Object)>;
  explicit ListDecoder(ObjectForm form) : form_(std::move(form)) {}

  // Calls `take` with each complete object. Stops with the first error of `take`.
  Status Feed(std::string_view bytes, const Take& take);
  // Call after the last piece. Returns the metadata of the list.
  Result<meta::v1::ListMeta> Finish();

 private:
  template <class Stream>
  Status Drain(Stream& stream, Format format, const Take& take);
  Status TakeMember(std::string_view bytes, Format format, std::string_view key);

  const ObjectForm form_;
  // Selected by the first byte: JSON never begins with the `k` of "k8s".
  std::optional<JsonStream> json_;
  std::optional<ProtoListStream> proto_;
  bool ended_ = false;
  meta::v1::ListMeta meta_;
};

}  // namespace cox::sdk
