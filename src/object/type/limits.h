// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

// Every bound on what a peer may send us, in one place. limits_test.cc holds each of them.
namespace cox::limits {

// A request body: create, update, patch, delete. More is RequestEntityTooLarge.
inline constexpr size_t kMaxBodyBytes = size_t{3} * 1024 * 1024;

// Arrays and objects inside each other, in JSON and YAML.
inline constexpr int kMaxDepth = 10'000;

// The same for structs inside structs of typed objects, where each level costs stack. Only types
// that hold themselves (JSONSchemaProps) can nest at all deeply; real ones stay below 100.
inline constexpr int kMaxTypedDepth = 1'000;

// What the items of lists and maps in one typed document may weigh: an empty item is two or three
// bytes of text and up to kilobytes of struct. No honest document comes near this many bytes per
// byte.
inline constexpr size_t kMaxItemBytesPerByte = 32;
inline constexpr size_t kFreeItemBytes = size_t{256} * 1024;
inline constexpr size_t ItemBytes(size_t input_bytes) {
  return kFreeItemBytes + kMaxItemBytesPerByte * input_bytes;
}

// Unknown and duplicate fields reported for one document; the rest is not collected.
inline constexpr size_t kMaxStrictErrors = 100;

// Operations of one JSON Patch, and the bytes its copy operations may add together.
inline constexpr size_t kMaxJsonPatchOperations = 10'000;
inline constexpr size_t kMaxJsonPatchCopyBytes = size_t{3} * 1024 * 1024;

// YAML aliases: a document may spend at most this share of its nodes on expanded aliases. The share
// falls from kMaxYamlAliasShare at kYamlAliasLow nodes to kMinYamlAliasShare at kYamlAliasHigh.
inline constexpr int64_t kYamlAliasFree = 100;     // aliases
inline constexpr int64_t kYamlDecodeFree = 1'000;  // nodes
inline constexpr int64_t kYamlAliasLow = 400'000;
inline constexpr int64_t kYamlAliasHigh = 4'000'000;
inline constexpr double kMaxYamlAliasShare = 0.99;
inline constexpr double kMinYamlAliasShare = 0.10;

// All annotations of one object, keys and values together.
inline constexpr size_t kMaxAnnotationBytes = size_t{256} * 1024;

}  // namespace cox::limits
