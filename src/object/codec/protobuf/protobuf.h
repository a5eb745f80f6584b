// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "object/type/type.h"

// Protobuf with the same bytes as Kubernetes: fields in order of their number, map entries in order
// of their key, non-pointer fields always (even if zero), repeated scalars unpacked.
//
// Decoding accepts the output of any proto2 encoder: fields in any order, packed scalars, unknown
// fields (dropped, as upstream).
// Errors: BadRequest.
// Limits: nesting (limits.h); memory grows with the data that was read, not with announced lengths.
namespace cox::proto {

// Merges into `object`, as protobuf defines; pass a new struct.
Status Decode(std::string_view bytes, const Type& type, void* object);
void Encode(const Type& type, const void* object, std::string* out);

template <class T>
Result<T> Decode(std::string_view bytes) {
  T object{};
  COX_RETURN_IF_ERROR(Decode(bytes, T::kType, &object));
  return object;
}
template <class T>
std::string Encode(const T& object) {
  std::string out;
  Encode(T::kType, &object, &out);
  return out;
}

// The format in which objects are sent and stored: "k8s\0", then a message with the kind and the
// object's bytes.
struct Envelope {
  std::string_view api_version;
  std::string_view kind;
  std::string_view raw;  // all members point into the input
  std::string_view content_encoding;
  std::string_view content_type;
};

inline constexpr std::string_view kMagic{"k8s\0", 4};

inline bool HasEnvelope(std::string_view bytes) { return bytes.starts_with(kMagic); }
// REQUIRES: bytes outlive the result.
Result<Envelope> Open(std::string_view bytes);
// Writes magic number, envelope and object.
void Seal(std::string_view api_version, std::string_view kind, const Type& type, const void* object,
          std::string* out);

// For messages that are assembled from existing parts without copying: the prefix of a bytes field
// of `size`, and the bytes before and after the `raw_size` bytes of an object.
void AppendLengthPrefix(std::string* out, uint32_t number, size_t size);
std::string EnvelopeHead(std::string_view api_version, std::string_view kind, size_t raw_size);
inline constexpr std::string_view kEnvelopeTail{"\x1a\x00\x22\x00", 4};

}  // namespace cox::proto
