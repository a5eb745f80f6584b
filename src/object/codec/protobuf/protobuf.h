// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "object/type/type.h"

// Protobuf, byte for byte as Kubernetes writes it: fields by rising number, map entries by key,
// fields that are no pointers always (also when zero), repeated scalars unpacked.
//
// Reading takes what any proto2 writer may send: fields in any order, packed scalars, unknown
// fields (dropped, as upstream drops them). Errors: BadRequest. Limits: nesting (limits.h); memory
// grows with what was read, never with a length
//   that a peer announced.
namespace cox::proto {

// `object` is added to, as protobuf merges: give a fresh struct.
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

// The form in which objects travel and are stored: "k8s\0", then a message that names the kind and
// holds the object's bytes.
struct Envelope {
  std::string_view api_version;
  std::string_view kind;
  std::string_view raw;  // all three point into the bytes that were read
  std::string_view content_encoding;
  std::string_view content_type;
};

inline constexpr std::string_view kMagic{"k8s\0", 4};

inline bool HasEnvelope(std::string_view bytes) { return bytes.starts_with(kMagic); }
// REQUIRES: bytes outlive the result.
Result<Envelope> Open(std::string_view bytes);
// The whole: magic, envelope and object.
void Seal(std::string_view api_version, std::string_view kind, const Type& type, const void* object,
          std::string* out);

// For those who put a message together from pieces that exist already, without copying them: the
// head of a bytes field of `size`, and what stands around the `raw_size` bytes of an object.
void AppendLengthPrefix(std::string* out, uint32_t number, size_t size);
std::string EnvelopeHead(std::string_view api_version, std::string_view kind, size_t raw_size);
inline constexpr std::string_view kEnvelopeTail{"\x1a\x00\x22\x00", 4};

}  // namespace cox::proto
