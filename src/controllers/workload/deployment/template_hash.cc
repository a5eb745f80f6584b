// SPDX-License-Identifier: Apache-2.0
#include "controllers/workload/deployment/template_hash.h"

#include <cstdint>

#include "object/codec/json/json.h"
#include "object/type/equal.h"

namespace cox::controllers::deployment {
namespace {

constexpr size_t kLength = 10;

// 64-bit FNV-1a: short, stable and sufficiently uniform; collisions are detected and resolved.
uint64_t Fnv1a(std::string_view bytes) {
  uint64_t hash = 14'695'981'039'346'656'037ULL;
  for (const char byte : bytes) {
    hash ^= static_cast<unsigned char>(byte);
    hash *= 1'099'511'628'211ULL;
  }
  return hash;
}

}  // namespace

// The encoding is canonical: fields in the order of the API, maps sorted, empty values omitted.
std::string HashOf(const core::v1::PodTemplateSpec& spec, std::optional<int32_t> collisions) {
  static constexpr std::string_view kLetters = "bcdfghjklmnpqrstvwxz2456789";
  std::string text = json::Encode(spec);
  if (collisions) text += "#" + std::to_string(*collisions);
  uint64_t hash = Fnv1a(text);
  std::string name;
  for (size_t i = 0; i < kLength; ++i) {
    name += kLetters[hash % kLetters.size()];
    hash /= kLetters.size();
  }
  return name;
}

bool SameTemplate(const core::v1::PodTemplateSpec& a, const core::v1::PodTemplateSpec& b) {
  if (!DeepEqual(a.spec, b.spec)) return false;
  meta::v1::ObjectMeta meta_a = a.metadata;
  meta::v1::ObjectMeta meta_b = b.metadata;
  meta_a.labels.erase(kTemplateHash);
  meta_b.labels.erase(kTemplateHash);
  return DeepEqual(meta_a, meta_b);
}

}  // namespace cox::controllers::deployment
