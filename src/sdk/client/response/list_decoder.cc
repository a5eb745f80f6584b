// SPDX-License-Identifier: Apache-2.0
#include "sdk/client/response/list_decoder.h"

#include "base/strings.h"
#include "object/codec/json/json.h"
#include "object/codec/protobuf/protobuf.h"

namespace cox::sdk {
namespace {

Status Unreadable(const Status& why) {
  return Status::Internal("the server's answer cannot be read: " + why.message());
}

// Rejects a Status or a single object, which would otherwise be read as an empty list.
Status CheckKind(std::string_view kind) {
  if (kind.empty() || kind.ends_with("List")) return {};
  return Status::Internal("the server answered a list with a " +
                          Quote(kind.substr(0, std::min<size_t>(kind.size(), 100))));
}

}  // namespace

Result<Object> DecodeAs(const ObjectForm& form, std::string_view bytes, Format format) {
  if (form.info == nullptr) {
    Result<Value> value = format == Format::kJson
                              ? json::Parse(bytes)
                              : Status::Internal("protobuf of a kind without a type");
    if (!value.ok()) return Unreadable(value.status());
    if (!value->is_object()) return Unreadable(Status::Internal("an object is no JSON object"));
    return Object(form.gvk, types::kAny, std::move(*value));
  }
  Object object(*form.info, form.gvk);
  const Status status = format == Format::kJson
                            ? json::Decode(bytes, *form.info->type, object.data())
                            : proto::Decode(bytes, *form.info->type, object.data());
  if (!status.ok()) return Unreadable(status);
  return object;
}

Status ListDecoder::TakeMember(std::string_view bytes, Format format, std::string_view key) {
  if (key == "metadata") {
    Result<meta::v1::ListMeta> meta = format == Format::kJson
                                          ? json::Decode<meta::v1::ListMeta>(bytes)
                                          : proto::Decode<meta::v1::ListMeta>(bytes);
    if (!meta.ok()) return Unreadable(meta.status());
    meta_ = std::move(*meta);
  } else if (key == "kind" && bytes.size() >= 2) {
    return CheckKind(bytes.substr(1, bytes.size() - 2));
  }
  return {};
}

template <class Stream>
Status ListDecoder::Drain(Stream& stream, Format format, const Take& take) {
  while (true) {
    switch (stream.Next()) {
      case Part::kMore:
        return {};
      case Part::kItem: {
        COX_ASSIGN_OR_RETURN(Object object, DecodeAs(form_, stream.text(), format));
        COX_RETURN_IF_ERROR(take(std::move(object)));
        break;
      }
      case Part::kMember:
        if constexpr (std::is_same_v<Stream, JsonStream>) {
          COX_RETURN_IF_ERROR(TakeMember(stream.text(), format, stream.key()));
        } else {
          COX_RETURN_IF_ERROR(CheckKind(stream.kind()));
          COX_RETURN_IF_ERROR(TakeMember(stream.text(), format, "metadata"));
        }
        break;
      case Part::kEnd:
        if (ended_) return Status::Internal("the server's answer holds more than a list");
        ended_ = true;
        break;
      case Part::kBroken:
        return Status::Internal("the server's answer is no list, or has an object above " +
                                std::to_string(kMaxStreamedBytes) + " bytes");
    }
  }
}

Status ListDecoder::Feed(std::string_view bytes, const Take& take) {
  if (bytes.empty()) return {};
  if (!json_ && !proto_) {
    if (bytes.front() == proto::kMagic.front()) {
      proto_.emplace();
    } else {
      json_.emplace("items");
    }
  }
  if (proto_) {
    proto_->Feed(bytes);
    return Drain(*proto_, Format::kProtobuf, take);
  }
  json_->Feed(bytes);
  return Drain(*json_, Format::kJson, take);
}

Result<meta::v1::ListMeta> ListDecoder::Finish() {
  if (proto_ ? !proto_->complete() : !ended_ || !json_->between()) {
    return Status::Unavailable("the server's answer ended within the list");
  }
  return std::move(meta_);
}

}  // namespace cox::sdk
