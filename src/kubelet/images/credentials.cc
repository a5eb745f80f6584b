// SPDX-License-Identifier: Apache-2.0
#include "kubelet/images/credentials.h"

#include <algorithm>
#include <optional>

#include "base/base64.h"
#include "base/strings.h"
#include "net/digest.h"
#include "object/codec/json/json.h"
#include "object/type/value.h"

namespace cox::kubelet {

namespace {

constexpr std::string_view kDockerHub = "docker.io";
// Larger than any place's length, so that exact host names sort before patterns.
constexpr size_t kExact = 1'000'000;

std::optional<std::string> DecodeBase64(std::string_view text) {
  std::string safe(TrimSpace(text));
  while (safe.ends_with('=')) safe.pop_back();
  std::replace(safe.begin(), safe.end(), '+', '-');
  std::replace(safe.begin(), safe.end(), '/', '_');
  return base64::DecodeUrl(safe);
}

// Docker Hub has several registry names; use one.
std::string CanonicalRegistry(std::string host) {
  if (host == "index.docker.io" || host == "registry-1.docker.io") return std::string(kDockerHub);
  return host;
}

// The registry location of a credential: "https://index.docker.io/v1/", "*.example.com",
// "example.com/team".
struct Place {
  std::string host;
  std::string path;
};
Place ParsePlace(std::string_view text) {
  for (const std::string_view scheme : {"https://", "http://"}) {
    if (text.starts_with(scheme)) text.remove_prefix(scheme.size());
  }
  const size_t slash = text.find('/');
  std::string path(slash == std::string_view::npos ? "" : text.substr(slash + 1));
  while (path.ends_with('/')) path.pop_back();
  // The API version is not part of image names.
  if (path == "v1" || path == "v2") path.clear();
  return {CanonicalRegistry(std::string(text.substr(0, slash))), std::move(path)};
}

// Each pattern label matches one host label; "*" matches any text within it.
bool LabelMatches(std::string_view pattern, std::string_view label) {
  const size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == label;
  const std::string_view before = pattern.substr(0, star);
  const std::string_view after = pattern.substr(star + 1);
  return label.size() >= before.size() + after.size() && label.starts_with(before) &&
         label.ends_with(after);
}

bool HostMatches(std::string_view pattern, std::string_view host) {
  while (true) {
    const CutResult p = Cut(pattern, '.');
    const CutResult h = Cut(host, '.');
    if (!LabelMatches(p.before, h.before)) return false;
    if (p.found != h.found) return false;
    if (!p.found) return true;
    pattern = p.after;
    host = h.after;
  }
}

bool Holds(const Place& place, const ImageName& image) {
  if (!HostMatches(place.host, image.registry)) return false;
  return place.path.empty() || image.repository == place.path ||
         image.repository.starts_with(place.path + "/");
}

std::string Text(const Value& entry, std::string_view key) {
  const Value* value = entry.Find(key);
  return value != nullptr && value->is_string() ? std::string(value->as_string()) : "";
}

// Without server_address, as upstream: containerd rejects "host:port", and compares a URL with the
// host of the request, which differs for mirrors and for docker.io.
cri::v1::AuthConfig ToAuth(const Value& entry) {
  cri::v1::AuthConfig auth;
  auth.username = Text(entry, "username");
  auth.password = Text(entry, "password");
  auth.identity_token = Text(entry, "identitytoken");
  if (auth.username.empty()) {
    const std::optional<std::string> both = DecodeBase64(Text(entry, "auth"));
    if (both && both->find(':') != std::string::npos) {
      auth.username = both->substr(0, both->find(':'));
      auth.password = both->substr(both->find(':') + 1);
    }
  }
  return auth;
}

std::string HashOf(const cri::v1::AuthConfig& auth) {
  std::string all;
  for (const std::string* part : {&auth.username, &auth.password, &auth.identity_token}) {
    all += std::to_string(part->size()) + ":" + *part;
  }
  return net::Sha256Hex(all);
}

}  // namespace

ImageName ParseImageName(std::string_view image) {
  ImageName name;
  std::string_view rest = image;
  if (const size_t at = rest.find('@'); at != std::string_view::npos) {
    name.tagged = true;
    rest = rest.substr(0, at);
  }
  const size_t colon = rest.find_last_of(':');
  if (colon != std::string_view::npos && rest.find('/', colon) == std::string_view::npos) {
    name.tagged = true;
    rest = rest.substr(0, colon);
  }
  const size_t slash = rest.find('/');
  const std::string_view first = rest.substr(0, slash);
  const bool has_host =
      slash != std::string_view::npos &&
      (first.find_first_of(".:") != std::string_view::npos || first == "localhost");
  if (has_host) {
    name.registry = CanonicalRegistry(std::string(first));
    name.repository = rest.substr(slash + 1);
  } else {
    name.registry = kDockerHub;
    name.repository = rest;
  }
  if (name.registry == kDockerHub && name.repository.find('/') == std::string::npos) {
    name.repository = "library/" + name.repository;
  }
  return name;
}

std::string WithDefaultTag(const std::string& image) {
  return ParseImageName(image).tagged ? image : image + ":latest";
}

std::vector<ImageCredential> CredentialsFor(
    const std::string& image, const std::vector<std::shared_ptr<const core::v1::Secret>>& secrets) {
  const ImageName name = ParseImageName(image);
  std::vector<std::pair<size_t, ImageCredential>> found;
  for (const auto& secret : secrets) {
    const std::string* bytes = secret->data.Get(".dockerconfigjson");
    const bool nested = bytes != nullptr;
    if (!nested) bytes = secret->data.Get(".dockercfg");
    if (bytes == nullptr) continue;
    const Result<Value> parsed = json::Parse(*bytes);
    if (!parsed.ok()) continue;
    const Value* places = nested ? parsed->Find("auths") : &*parsed;
    if (places == nullptr || !places->is_object()) continue;
    for (const auto& [server, entry] : places->as_object()) {
      const Place place = ParsePlace(server);
      if (!Holds(place, name)) continue;
      const bool any = place.host.find('*') != std::string::npos;
      ImageCredential credential{
          .auth = ToAuth(entry),
          .secret = {secret->metadata.uid, secret->metadata.namespace_, secret->metadata.name}};
      credential.hash = HashOf(credential.auth);
      found.emplace_back(place.host.size() + place.path.size() + (any ? 0 : kExact),
                         std::move(credential));
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<ImageCredential> out;
  for (auto& [exactness, credential] : found) out.push_back(std::move(credential));
  return out;
}

}  // namespace cox::kubelet
