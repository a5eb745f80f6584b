// SPDX-License-Identifier: Apache-2.0
#include "runtime/labels.h"

#include <charconv>

namespace cox::runtime {
namespace {

void MarkPod(const PodName& pod, Map<std::string>* labels) {
  (*labels)[label::kPodName] = pod.name;
  (*labels)[label::kPodNamespace] = pod.ns;
  (*labels)[label::kPodUid] = pod.uid;
}

std::string Hexadecimal(uint64_t number) {
  char text[16];
  const auto end = std::to_chars(text, text + sizeof text, number, 16).ptr;
  return {text, end};
}

}  // namespace

void MarkSandbox(const PodName& pod, uint32_t attempt, cri::v1::PodSandboxConfig* config) {
  config->metadata = cri::v1::PodSandboxMetadata{
      .name = pod.name, .uid = pod.uid, .namespace_ = pod.ns, .attempt = attempt};
  MarkPod(pod, &config->labels);
}

void MarkContainer(const PodName& pod, const std::string& container, uint32_t attempt,
                   uint64_t spec_hash, cri::v1::ContainerConfig* config) {
  config->metadata = cri::v1::ContainerMetadata{.name = container, .attempt = attempt};
  MarkPod(pod, &config->labels);
  config->labels[label::kContainerName] = container;
  config->annotations[annotation::kHash] = Hexadecimal(spec_hash);
  config->annotations[annotation::kRestartCount] = std::to_string(attempt);
}

PodName PodOf(const Map<std::string>& labels) {
  const auto get = [&labels](std::string_view key) {
    const std::string* value = labels.Get(key);
    return value != nullptr ? *value : std::string();
  };
  return {get(label::kPodUid), get(label::kPodNamespace), get(label::kPodName)};
}

uint64_t HashOf(const Map<std::string>& annotations) {
  const std::string* text = annotations.Get(annotation::kHash);
  uint64_t hash = 0;
  if (text != nullptr) std::from_chars(text->data(), text->data() + text->size(), hash, 16);
  return hash;
}

}  // namespace cox::runtime
