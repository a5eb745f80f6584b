// SPDX-License-Identifier: Apache-2.0
#include "apiserver/endpoints/streaming/pod_targets.h"

#include <algorithm>
#include <vector>

#include "base/strings.h"

namespace cox::apiserver {
namespace {

std::string Escape(std::string_view text, std::string_view kept, bool plus) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (plain || kept.find(c) != kept.npos) {
      out += c;
    } else if (plus && c == ' ') {
      out += '+';
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += '%';
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    }
  }
  return out;
}

// A path to which query parameters are appended. Callers add them sorted by name, like upstream.
class Target {
 public:
  explicit Target(std::string path) : text_(std::move(path)) {}
  Target& Add(std::string_view name, std::string_view value) {
    text_.append(first_ ? "?" : "&").append(name).append("=").append(QueryEscape(value));
    first_ = false;
    return *this;
  }
  Target& AddIf(bool wanted, std::string_view name, std::string_view value) {
    return wanted ? Add(name, value) : *this;
  }
  Target& AddNumber(std::string_view name, const std::optional<int64_t>& value) {
    return value ? Add(name, std::to_string(*value)) : *this;
  }
  std::string Take() { return std::move(text_); }

 private:
  std::string text_;
  bool first_ = true;
};

std::string PathOf(std::string_view what, const core::v1::Pod& pod, std::string_view container) {
  return "/" + std::string(what) + "/" + PathEscape(pod.metadata.namespace_) + "/" +
         PathEscape(pod.metadata.name) + "/" + PathEscape(container);
}

std::vector<std::string> AllContainers(const core::v1::PodSpec& spec) {
  std::vector<std::string> names;
  for (const core::v1::Container& c : spec.initContainers) names.push_back(c.name);
  for (const core::v1::Container& c : spec.containers) names.push_back(c.name);
  for (const core::v1::EphemeralContainer& c : spec.ephemeralContainers) {
    names.push_back(c.ephemeralContainerCommon.name);
  }
  return names;
}

}  // namespace

std::string QueryEscape(std::string_view text) { return Escape(text, "-_.~", /*plus=*/true); }
std::string PathEscape(std::string_view text) { return Escape(text, "-_.~$&+=:@", /*plus=*/false); }

Result<std::string> ContainerOf(const core::v1::Pod& pod, const std::string& name) {
  const std::vector<std::string> names = AllContainers(pod.spec);
  if (!name.empty()) {
    if (std::find(names.begin(), names.end(), name) != names.end()) return name;
    return Status::BadRequest("container " + name + " is not valid for pod " + pod.metadata.name);
  }
  if (pod.spec.containers.size() == 1) return pod.spec.containers[0].name;
  std::string message = "a container name must be specified for pod " + pod.metadata.name;
  if (!pod.spec.containers.empty()) message += ", choose one of: [" + Join(names, " ") + "]";
  return Status::BadRequest(std::move(message));
}

std::string LogTarget(const core::v1::Pod& pod, std::string_view container,
                      const core::v1::PodLogOptions& options) {
  Target target(PathOf("containerLogs", pod, container));
  target.AddIf(options.follow, "follow", "true")
      .AddNumber("limitBytes", options.limitBytes)
      .AddIf(options.previous, "previous", "true")
      .AddNumber("sinceSeconds", options.sinceSeconds);
  if (options.sinceTime) target.Add("sinceTime", options.sinceTime->ToString());
  if (options.stream) target.Add("stream", *options.stream);
  return target.AddNumber("tailLines", options.tailLines)
      .AddIf(options.timestamps, "timestamps", "true")
      .Take();
}

std::string ExecTarget(const core::v1::Pod& pod, std::string_view container,
                       const core::v1::PodExecOptions& options) {
  Target target(PathOf("exec", pod, container));
  for (const std::string& word : options.command) target.Add("command", word);
  return target.AddIf(options.stderr, "error", "1")
      .AddIf(options.stdin, "input", "1")
      .AddIf(options.stdout, "output", "1")
      .AddIf(options.tty, "tty", "1")
      .Take();
}

std::string AttachTarget(const core::v1::Pod& pod, std::string_view container,
                         const core::v1::PodAttachOptions& options) {
  return Target(PathOf("attach", pod, container))
      .AddIf(options.stderr, "error", "1")
      .AddIf(options.stdin, "input", "1")
      .AddIf(options.stdout, "output", "1")
      .AddIf(options.tty, "tty", "1")
      .Take();
}

std::string PortForwardTarget(const core::v1::Pod& pod,
                              const core::v1::PodPortForwardOptions& options) {
  Target target("/portForward/" + PathEscape(pod.metadata.namespace_) + "/" +
                PathEscape(pod.metadata.name));
  std::string ports;
  for (const int32_t port : options.ports) {
    ports += (ports.empty() ? "" : ",") + std::to_string(port);
  }
  return target.AddIf(!ports.empty(), "port", ports).Take();
}

}  // namespace cox::apiserver
