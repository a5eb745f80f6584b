// SPDX-License-Identifier: Apache-2.0
#include "apiserver/endpoints/openapi/openapi.h"

#include <map>
#include <optional>
#include <utility>

#include "apiserver/endpoints/discovery/document_hash.h"
#include "apiserver/endpoints/openapi/documents.h"
#include "apiserver/endpoints/openapi/v2_protobuf.h"
#include "base/mutex.h"
#include "base/strings.h"
#include "net/accept.h"
#include "net/gzip.h"

namespace cox::apiserver {
namespace {

using openapi::Operations;
using openapi::Schemas;

// Clients before v1.27 request the name with the at sign, which is not a valid media type.
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

// The value of the query parameter `hash`.
std::string_view HashIn(std::string_view query) {
  for (const std::string_view pair : Split(query, '&')) {
    const CutResult cut = Cut(pair, '=');
    if (cut.before == "hash") return cut.after;
  }
  return {};
}

// One of the texts may be empty.
struct Document {
  Bytes gzip;
  std::string hash;
  Bytes plain = {};
};

bool AcceptsGzip(const net::Request& request) {
  return net::AcceptsGzip(request.headers.Get("accept-encoding").value_or(""));
}

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
  if (AcceptsGzip(request)) {
    response.headers.Add("content-encoding", "gzip");
    response.body.push_back(document.gzip);
  } else if (!document.plain.empty()) {
    response.body.push_back(document.plain);
  } else {
    response.body.push_back(Bytes(net::Gunzip(document.gzip.view())));
  }
  return response;
}

}  // namespace

// The documents of the current set of kinds, built lazily.
class OpenApi::Documents {
 public:
  Documents(CurrentServedSet served, std::string server_version)
      : served_(std::move(served)), server_version_(std::move(server_version)) {}

  // Compressed for the first client that accepts it: that takes as long as everything else, and is
  // not necessary for a client that does not.
  Document V2(bool protobuf, bool gzip) {
    MutexLock lock(mutex_);
    const ServedSetPtr now = Follow();
    Document& document = protobuf ? v2_protobuf_ : v2_json_;
    if (document.hash.empty()) {
      const Schemas schemas;
      std::string text = openapi::V2Document(Operations(*now, schemas), schemas, server_version_);
      if (protobuf) text = openapi::V2Protobuf(*json::Parse(text));
      document.hash = DocumentHash(text);
      document.plain = Bytes(std::move(text));
    }
    if (gzip && document.gzip.empty()) {
      document.gzip = net::GzipPieces({std::exchange(document.plain, {})}, kGzipLevel);
    }
    return document;
  }

  // The names of the v3 documents and their hashes.
  std::string Index() {
    MutexLock lock(mutex_);
    const ServedSetPtr now = Follow();
    std::map<std::string_view, std::string_view> hashes;
    AddHashes(
        server_, [](const Schemas& schemas) { return Operations(schemas); }, &hashes);
    for (const auto& [name, group] : now->groups()) {
      AddHashes(
          groups_[name], [&group](const Schemas& schemas) { return Operations(*group, schemas); },
          &hashes);
    }
    std::string text;
    openapi::JsonText json(&text);
    json.BeginObject();
    json.Key("paths");
    json.BeginObject();
    for (const auto& [name, hash] : hashes) {
      json.Key(name);
      json.BeginObject();
      json.Member("serverRelativeURL",
                  "/openapi/v3/" + std::string(name) + "?hash=" + std::string(hash));
      json.EndObject();
    }
    json.EndObject();
    json.EndObject();
    return text;
  }

  // Returns a document with an empty hash if there is no such document.
  Document V3(std::string_view name) {
    MutexLock lock(mutex_);
    const ServedSetPtr now = Follow();
    const std::optional<std::string_view> group_name = GroupOfDocument(name);
    if (!group_name) {
      return Find(server_, name, [](const Schemas& schemas) { return Operations(schemas); });
    }
    const auto group = now->groups().find(*group_name);
    if (group == now->groups().end()) return {};
    return Find(groups_[group->first], name,
                [&](const Schemas& schemas) { return Operations(*group->second, schemas); });
  }

 private:
  // The texts are so repetitive that higher levels gain little and slow down the first request.
  static constexpr int kGzipLevel = 4;

  // The v3 documents of one group, or of the server itself.
  struct Section {
    std::weak_ptr<const ServedGroup> group;     // the group that they were built from
    std::map<std::string, std::string> hashes;  // by name; empty: not built yet
    std::map<std::string, Document, std::less<>> documents;
  };

  static Document Compress(std::string_view text) {
    return {net::GzipPieces({Bytes::Static(text)}, kGzipLevel), DocumentHash(text)};
  }

  // The group of a document; nullopt if it is a document of the server itself.
  static std::optional<std::string_view> GroupOfDocument(std::string_view name) {
    if (name.starts_with("api/")) return "";
    constexpr std::string_view kGroups = "apis/";
    if (!name.starts_with(kGroups)) return std::nullopt;
    name.remove_prefix(kGroups.size());
    return name.substr(0, name.find('/'));
  }

  // Drops documents that were built from kinds that are no longer served.
  ServedSetPtr Follow() COX_REQUIRES(mutex_) {
    ServedSetPtr now = served_();
    if (built_from_.lock() == now) return now;
    built_from_ = now;
    v2_json_ = {};
    v2_protobuf_ = {};
    std::erase_if(groups_, [&](const auto& entry) { return !now->groups().contains(entry.first); });
    for (const auto& [name, group] : now->groups()) {
      Section& section = groups_[name];
      if (section.group.lock() != group) section = {.group = group, .hashes = {}, .documents = {}};
    }
    return now;
  }

  // The index contains the hashes of the documents, but not the documents.
  template <class MakeOperations>
  static void AddHashes(Section& section, const MakeOperations& make,
                        std::map<std::string_view, std::string_view>* hashes) {
    if (section.hashes.empty()) {
      const Schemas schemas;
      const Operations operations = make(schemas);
      for (const std::string& name : openapi::DocumentNames(operations)) {
        section.hashes[name] = DocumentHash(openapi::V3Document(operations, schemas, name));
      }
    }
    hashes->insert(section.hashes.begin(), section.hashes.end());
  }

  template <class MakeOperations>
  static Document Find(Section& section, std::string_view name, const MakeOperations& make) {
    const auto found = section.documents.find(name);
    if (found != section.documents.end()) return found->second;
    const Schemas schemas;
    const Operations operations = make(schemas);
    for (const std::string& known : openapi::DocumentNames(operations)) {
      if (known != name) continue;
      return section.documents
          .emplace(known, Compress(openapi::V3Document(operations, schemas, known)))
          .first->second;
    }
    return {};
  }

  const CurrentServedSet served_;
  const std::string server_version_;
  Mutex mutex_;
  // Weak, so that documents do not keep removed kinds alive.
  std::weak_ptr<const ServedSet> built_from_ COX_GUARDED_BY(mutex_);
  Document v2_json_ COX_GUARDED_BY(mutex_);
  Document v2_protobuf_ COX_GUARDED_BY(mutex_);
  Section server_ COX_GUARDED_BY(mutex_);
  std::map<std::string, Section, std::less<>> groups_ COX_GUARDED_BY(mutex_);
};

OpenApi::OpenApi(CurrentServedSet served, std::string server_version)
    : documents_(std::make_unique<Documents>(std::move(served), std::move(server_version))) {}

OpenApi::~OpenApi() = default;

net::Response OpenApi::Handle(const net::Request& request) const {
  const std::string_view accept = request.headers.Get("accept").value_or("");
  std::string_view path = request.path();
  if (path == "/openapi/v2") {
    const Form form = Negotiate(accept, true);
    if (form == Form::kNone) return Empty(406);
    const bool protobuf = form == Form::kProtobuf;
    return Answer(request, documents_->V2(protobuf, AcceptsGzip(request)),
                  protobuf ? kV2Protobuf : kJson);
  }
  if (path == "/openapi/v3" || path == "/openapi/v3/") {
    net::Response response;
    response.headers.Add("content-type", "text/plain; charset=utf-8");
    response.body.push_back(Bytes(documents_->Index()));
    return response;
  }
  constexpr std::string_view kV3 = "/openapi/v3/";
  if (!path.starts_with(kV3)) return Empty(404);
  path.remove_prefix(kV3.size());
  const Document document = documents_->V3(path);
  if (document.hash.empty()) return Empty(404);
  if (Negotiate(accept, false) == Form::kNone) return Empty(406);
  const std::string_view hash = HashIn(request.query());
  if (!hash.empty() && hash != document.hash) {
    // The client has an old index: redirect to the current document.
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
