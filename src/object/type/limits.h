// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

// All limits for input from clients. limits_test.cc tests each of them.
namespace cox::limits {

// The size of a request body: create, update, patch, delete. More is RequestEntityTooLarge.
inline constexpr size_t kMaxBodyBytes = size_t{3} * 1024 * 1024;

// The nesting of arrays and objects in JSON and YAML.
inline constexpr int kMaxDepth = 10'000;

// The nesting of structs in typed objects, where each level uses stack. Only recursive types
// (JSONSchemaProps) can be nested deeply; real ones stay below 100.
inline constexpr int kMaxTypedDepth = 1'000;

// The memory for items of lists and maps in one typed document: an empty item takes two or three
// bytes of text but up to kilobytes as a struct. Legitimate documents stay far below this ratio.
inline constexpr size_t kMaxItemBytesPerByte = 32;
inline constexpr size_t kFreeItemBytes = size_t{256} * 1024;
inline constexpr size_t ItemBytes(size_t input_bytes) {
  return kFreeItemBytes + kMaxItemBytesPerByte * input_bytes;
}

// The number of unknown and duplicate fields reported for one document; others are dropped.
inline constexpr size_t kMaxStrictErrors = 100;

// The number of operations of one JSON Patch, and the total bytes that its copy operations may add.
inline constexpr size_t kMaxJsonPatchOperations = 10'000;
inline constexpr size_t kMaxJsonPatchCopyBytes = size_t{3} * 1024 * 1024;

// YAML aliases: the maximum share of nodes that come from expanded aliases. The share decreases
// from kMaxYamlAliasShare at kYamlAliasLow nodes to kMinYamlAliasShare at kYamlAliasHigh.
inline constexpr int64_t kYamlAliasFree = 100;     // aliases
inline constexpr int64_t kYamlDecodeFree = 1'000;  // nodes
inline constexpr int64_t kYamlAliasLow = 400'000;
inline constexpr int64_t kYamlAliasHigh = 4'000'000;
inline constexpr double kMaxYamlAliasShare = 0.99;
inline constexpr double kMinYamlAliasShare = 0.10;

// The total size of all annotations of an object, keys and values.
inline constexpr size_t kMaxAnnotationBytes = size_t{256} * 1024;

}  // namespace cox::limits
