// SPDX-License-Identifier: Apache-2.0
// Parses any bytes as the response to a list or a watch: the result must not depend on the chunks.
// The first byte selects the format, the second the chunk size.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "api/core/v1.h"
#include "coxswain/resource.h"
#include "object/codec/json/json.h"
#include "sdk/client/response/list_decoder.h"
#include "sdk/client/response/status_response.h"
#include "sdk/client/response/watch_decoder.h"

namespace {

using namespace cox;

sdk::ObjectForm Form(bool typed) {
  if (typed) return {{"", "v1", "ConfigMap"}, &core::v1::ConfigMap::kKind};
  return {{"example.com", "v1", "Backup"}, nullptr};
}

// Returns everything up to the first error as text.
std::string ReadList(std::string_view bytes, size_t piece, bool typed) {
  sdk::ListDecoder decoder(Form(typed));
  std::string out;
  const auto take = [&](const Object& object) {
    out += json::Write(object.ToValue()) + "\n";
    return Status();
  };
  for (size_t at = 0; at < bytes.size(); at += piece) {
    if (!decoder.Feed(bytes.substr(at, piece), take).ok()) return out + "error";
  }
  const Result<meta::v1::ListMeta> meta = decoder.Finish();
  return out + (meta.ok() ? json::Encode(*meta) : "error");
}

std::string ReadWatch(std::string_view bytes, size_t piece, Format format, bool typed) {
  sdk::WatchDecoder decoder(Form(typed), format);
  std::string out;
  for (size_t at = 0; at < bytes.size(); at += piece) {
    decoder.Feed(bytes.substr(at, piece));
    while (true) {
      const Result<std::optional<WatchEvent<Object>>> event = decoder.Next();
      if (!event.ok()) return out + event.status().ToString();
      if (!*event) break;
      out += std::to_string(static_cast<int>((*event)->type)) + (*event)->resource_version;
      if ((*event)->object != nullptr) out += json::Write((*event)->object->ToValue());
      out += '\n';
    }
  }
  return out + (decoder.between() ? "end" : "within");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  const bool typed = (data[0] & 1) != 0;
  const bool watch = (data[0] & 2) != 0;
  const Format format = (data[0] & 4) != 0 ? Format::kProtobuf : Format::kJson;
  // Kinds without a type support only JSON.
  if (!typed && format == Format::kProtobuf) return 0;
  const size_t piece = std::max<size_t>(data[1], 1);
  const std::string whole = watch ? ReadWatch(bytes, bytes.size() + 1, format, typed)
                                  : ReadList(bytes, bytes.size() + 1, typed);
  const std::string cut =
      watch ? ReadWatch(bytes, piece, format, typed) : ReadList(bytes, piece, typed);
  if (whole != cut) std::abort();
  (void)sdk::StatusFromResponse(500, {}, bytes);
  return 0;
}
