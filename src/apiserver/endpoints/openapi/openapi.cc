// SPDX-License-Identifier: Apache-2.0
#include "apiserver/endpoints/openapi/openapi.h"

#include <utility>

#include "apiserver/endpoints/discovery/document_hash.h"
#include "apiserver/endpoints/openapi/documents.h"
#include "apiserver/endpoints/openapi/v2_protobuf.h"
#include "base/strings.h"
#include "net/accept.h"
#include "net/gzip.h"

namespace cox::apiserver {
namespace {

using openapi::Operations;
using openapi::Schemas;

// The name with the at sign is what clients before v1.27 ask by; it is no valid media type.
constexpr std::string_view kV2Protobuf =
    "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
constexpr std::string_view kV2ProtobufOld =
    "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
constexpr std::string_view kJson = "application/json";

bool IsJson(std::string_view media_type) {
  return media_type == kJson || media_type == "*/*" || media_type == "application/*";
}

enum class Form { kNone, kJson, kProtobuf };

Form Negotiate(std::string_view accept, bool has_protobuf) {
  if (TrimSpace(accept).empty()) return Form::kJson;
  for (const net::MediaRange& range : net::ParseAccept(accept)) {
    if (IsJson(range.type)) return Form::kJson;
    const bool protobuf = range.type == kV2Protobuf || range.type == kV2ProtobufOld;
    if (has_protobuf && protobuf) return Form::kProtobuf;
  }
  return Form::kNone;
}

// The value of `hash` in a query.
std::string_view HashIn(std::string_view query) {
  for (const std::string_view pair : Split(query, '&')) {
    const CutResult cut = Cut(pair, '=');
    if (cut.before == "hash") return cut.after;
  }
  return {};
}

struct Document {
  Bytes gzip;
  std::string hash;
};

net::Response Empty(int status) {
  net::Response response;
  response.status = status;
  return response;
}

net::Response Answer(const net::Request& request, const Document& document,
                     std::string_view content_type) {
  net::Response response;
  const std::string etag = "\"" + document.hash + "\"";
  response.headers.Add("etag", etag);
  response.headers.Add("vary", "Accept-Encoding, Accept");
  if (request.headers.Get("if-none-match") == std::optional<std::string_view>(etag)) {
    response.status = 304;
    return response;
  }
  response.headers.Add("content-type", std::string(content_type));
  if (net::AcceptsGzip(request.headers.Get("accept-encoding").value_or(""))) {
    response.headers.Add("content-encoding", "gzip");
    response.body.push_back(document.gzip);
  } else {
    response.body.push_back(Bytes(net::Gunzip(document.gzip.view())));
  }
  return response;
}

}  // namespace

// What describes one set of kinds, built piece by piece as it is asked for.
class OpenApi::State {
 public:
  State(std::vector<ServedKind> kinds, std::string server_version)
      : kinds_(std::move(kinds)), server_version_(std::move(server_version)) {}

  Document V2(bool protobuf) const {
    MutexLock lock(mutex_);
    Document& document = protobuf ? v2_protobuf_ : v2_json_;
    if (document.hash.empty()) {
      const Schemas schemas;
      std::string text = openapi::V2Document(Operations(kinds_, schemas), schemas, server_version_);
      if (protobuf) text = openapi::V2Protobuf(*json::Parse(text));
      document = Compress(text);
    }
    return document;
  }

  // Names of the v3 documents and their hashes.
  std::string Index() const {
    MutexLock lock(mutex_);
    BuildHashes();
    std::string text;
    openapi::JsonText json(&text);
    json.BeginObject();
    json.Key("paths");
    json.BeginObject();
    for (const auto& [name, hash] : hashes_) {
      json.Key(name);
      json.BeginObject();
      json.Member("serverRelativeURL", "/openapi/v3/" + name + "?hash=" + hash);
      json.EndObject();
    }
    json.EndObject();
    json.EndObject();
    return text;
  }

  // Its hash is empty if there is no such document.
  Document V3(std::string_view name) const {
    MutexLock lock(mutex_);
    const auto found = v3_.find(name);
    if (found != v3_.end()) return found->second;
    const Schemas schemas;
    const Operations operations(kinds_, schemas);
    for (const std::string& known : openapi::DocumentNames(operations)) {
      if (known != name) continue;
      return v3_.emplace(known, Compress(openapi::V3Document(operations, schemas, known)))
          .first->second;
    }
    return {};
  }

 private:
  // The texts repeat themselves so much that higher levels gain little and cost the first request.
  static constexpr int kGzipLevel = 4;

  static Document Compress(std::string_view text) {
    return {net::GzipPieces({Bytes::Static(text)}, kGzipLevel), DocumentHash(text)};
  }

  // The index needs the hash of each document, but not the documents.
  void BuildHashes() const COX_REQUIRES(mutex_) {
    if (!hashes_.empty()) return;
    const Schemas schemas;
    const Operations operations(kinds_, schemas);
    for (const std::string& name : openapi::DocumentNames(operations)) {
      hashes_[name] = DocumentHash(openapi::V3Document(operations, schemas, name));
    }
  }

  const std::vector<ServedKind> kinds_;
  const std::string server_version_;
  mutable Mutex mutex_;
  mutable Document v2_json_ COX_GUARDED_BY(mutex_);
  mutable Document v2_protobuf_ COX_GUARDED_BY(mutex_);
  mutable std::map<std::string, std::string> hashes_ COX_GUARDED_BY(mutex_);
  mutable std::map<std::string, Document, std::less<>> v3_ COX_GUARDED_BY(mutex_);
};

OpenApi::OpenApi(std::vector<ServedKind> kinds, std::string server_version)
    : server_version_(std::move(server_version)),
      state_(std::make_shared<const State>(std::move(kinds), server_version_)) {}

OpenApi::~OpenApi() = default;

std::shared_ptr<const OpenApi::State> OpenApi::state() const {
  MutexLock lock(mutex_);
  return state_;
}

void OpenApi::Replace(std::vector<ServedKind> kinds) {
  auto state = std::make_shared<const State>(std::move(kinds), server_version_);
  MutexLock lock(mutex_);
  state_.swap(state);
}

net::Response OpenApi::Handle(const net::Request& request) const {
  const std::string_view accept = request.headers.Get("accept").value_or("");
  std::string_view path = request.path();
  if (path == "/openapi/v2") {
    const Form form = Negotiate(accept, true);
    if (form == Form::kNone) return Empty(406);
    const bool protobuf = form == Form::kProtobuf;
    return Answer(request, state()->V2(protobuf), protobuf ? kV2Protobuf : kJson);
  }
  if (path == "/openapi/v3" || path == "/openapi/v3/") {
    net::Response response;
    response.headers.Add("content-type", "text/plain; charset=utf-8");
    response.body.push_back(Bytes(state()->Index()));
    return response;
  }
  constexpr std::string_view kV3 = "/openapi/v3/";
  if (!path.starts_with(kV3)) return Empty(404);
  path.remove_prefix(kV3.size());
  const Document document = state()->V3(path);
  if (document.hash.empty()) return Empty(404);
  if (Negotiate(accept, false) == Form::kNone) return Empty(406);
  const std::string_view hash = HashIn(request.query());
  if (!hash.empty() && hash != document.hash) {
    // An old index: the newest document has another address.
    net::Response response = Empty(301);
    response.headers.Add("location",
                         std::string(kV3) + std::string(path) + "?hash=" + document.hash);
    return response;
  }
  net::Response response = Answer(request, document, kJson);
  if (!hash.empty()) {
    response.headers.Add("cache-control", "public, immutable, max-age=31536000");
  }
  return response;
}

}  // namespace cox::apiserver
