// SPDX-License-Identifier: Apache-2.0
#include "apiserver/endpoints/openapi/openapi.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "apiserver/endpoints/openapi/documents.h"
#include "apiserver/endpoints/openapi/v2_protobuf.h"
#include "net/gzip.h"
#include "tests/paths/paths.h"

namespace cox::apiserver {
namespace {

namespace fs = std::filesystem;

const fs::path kScenarios =
    fs::path(test::SharedDirectory()) / "reference" / "scenarios" / "discovery";

Value ReadJson(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  Result<Value> value = json::Parse(text.str());
  return value.ok() ? *std::move(value) : Value();
}

// Removes descriptions, which depend on the data that is available to the build.
Value WithoutDescriptions(const Value& value) {
  if (value.is_array()) {
    Value::Array items;
    for (const Value& item : value.as_array()) items.push_back(WithoutDescriptions(item));
    return items;
  }
  if (!value.is_object()) return value;
  ValueObject members;
  for (const auto& member : value.as_object()) {
    if (member.key == "description" && member.value.is_string()) continue;
    members[member.key] = WithoutDescriptions(member.value);
  }
  return members;
}

const OpenApi& Server() {
  static const ServedSetPtr served = std::make_shared<const ServedSet>(DefaultServedKinds());
  static const OpenApi server([] { return served; }, "v1.36.4");
  return server;
}

net::Response Get(std::string target, net::Headers headers = {}) {
  net::Request request;
  request.method = "GET";
  request.target = std::move(target);
  request.headers = std::move(headers);
  return Server().Handle(request);
}

std::string Body(const net::Response& response) {
  std::string text;
  for (const Bytes& bytes : response.body) text += bytes.view();
  return text;
}

Value Document(const std::string& path) {
  const net::Response response = Get(path);
  EXPECT_EQ(response.status, 200) << path;
  Result<Value> value = json::Parse(Body(response));
  EXPECT_TRUE(value.ok()) << path << ": " << value.status().ToString();
  return value.ok() ? *std::move(value) : Value();
}

// The values that the `transform` of a recorded step selects from a document, in its order.
Value Picked(const Value& document, const Value& transform) {
  ValueObject picked;
  const Value* keys = transform.Find("keys");
  for (const Value& path : transform.Find("pick")->as_array()) {
    const Value* at = &document;
    std::string name;
    for (const Value& step : path.as_array()) {
      at = at != nullptr ? at->Find(step.as_string()) : nullptr;
      if (!name.empty()) name += "/";
      name += step.as_string();
    }
    if (at == nullptr) {
      picked[name] = "<absent>";
    } else if (keys != nullptr && at->is_object()) {
      Value::Array names;
      for (const auto& member : at->as_object()) names.push_back(member.key);
      picked[name] = std::move(names);
    } else {
      picked[name] = WithoutDescriptions(*at);
    }
  }
  return picked;
}

TEST(OpenApiTest, DocumentsMatchRecordedResponses) {
  int compared = 0;
  for (const char* file : {"openapi-v2.json", "openapi-v3.json"}) {
    const Value scenario = ReadJson(kScenarios / file);
    if (scenario.is_null()) GTEST_SKIP() << "no reference data";
    for (const Value& step : scenario.Find("steps")->as_array()) {
      const Value* transform = step.Find("transform");
      if (transform == nullptr) continue;
      const std::string path(step.Find("path")->as_string());
      const Value ours = Picked(Document(path), *transform);
      const Value& recorded = *step.At({"expect", "body"});
      for (const auto& member : recorded.as_object()) {
        const Value* value = ours.Find(member.key);
        ASSERT_NE(value, nullptr) << member.key;
        EXPECT_EQ(json::Write(*value), json::Write(member.value)) << path << " " << member.key;
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 50);
}

// Removes descriptions, enumerations, which the published documents omit, and CBOR, which they add.
Value Comparable(const Value& value) {
  if (value.is_array()) {
    Value::Array items;
    for (const Value& item : value.as_array()) {
      const bool cbor = item.is_string() && item.as_string().find("cbor") != std::string::npos;
      if (!cbor) items.push_back(Comparable(item));
    }
    return items;
  }
  if (!value.is_object()) return value;
  ValueObject members;
  for (const auto& member : value.as_object()) {
    if (member.key == "description" && member.value.is_string()) continue;
    if (member.key == "enum" && member.value.is_array()) continue;
    if (member.key.find("cbor") != std::string::npos) continue;
    members[member.key] = Comparable(member.value);
  }
  return members;
}

TEST(OpenApiTest, SchemasAndPathsMatchPublishedDocuments) {
  const fs::path folder = fs::path(test::SharedDirectory()) / "data" / "openapi" / "v3";
  if (!fs::exists(folder)) GTEST_SKIP() << "no reference data";
  int compared = 0;
  for (const ServedGroup& group : GroupsOf(DefaultServedKinds())) {
    for (const std::string& version : group.versions()) {
      const std::string name =
          group.name().empty() ? "api/v1" : "apis/" + group.name() + "/" + version;
      std::string file = name;
      for (size_t at = file.find('/'); at != std::string::npos; at = file.find('/', at + 2)) {
        file.replace(at, 1, "__");
      }
      const Value published = ReadJson(folder / (file + "_openapi.json"));
      ASSERT_TRUE(published.is_object()) << file;
      const Value ours = Document("/openapi/v3/" + name);
      for (const char* part : {"schemas", "paths"}) {
        const bool schemas = part == std::string_view("schemas");
        const Value* a = schemas ? ours.At({"components", "schemas"}) : ours.Find("paths");
        const Value* b =
            schemas ? published.At({"components", "schemas"}) : published.Find("paths");
        EXPECT_EQ(a->as_object().size(), b->as_object().size()) << name << " " << part;
        for (const auto& member : b->as_object()) {
          const Value* value = a->Find(member.key);
          ASSERT_NE(value, nullptr) << name << " " << member.key;
          EXPECT_EQ(json::Write(Comparable(*value)), json::Write(Comparable(member.value)))
              << name << " " << member.key;
          ++compared;
        }
      }
    }
  }
  EXPECT_GT(compared, 1500);
}

TEST(OpenApiTest, DescriptionsMatchPublishedDocument) {
  const Value published =
      ReadJson(fs::path(test::SharedDirectory()) / "data" / "openapi" / "swagger-v2.json");
  if (published.is_null()) GTEST_SKIP() << "no reference data";
  if (Description("core/v1.Pod").empty()) GTEST_SKIP() << "built without descriptions";
  const Value ours = Document("/openapi/v2");
  int compared = 0;
  const auto compare = [&compared](const std::string& name, const Value& a, const Value& b) {
    const Value* text = a.Find("description");
    const Value* expected = b.Find("description");
    EXPECT_EQ(text != nullptr ? text->as_string() : "",
              expected != nullptr ? expected->as_string() : "")
        << name;
    ++compared;
  };
  for (const auto& definition : published.Find("definitions")->as_object()) {
    const Value* found = ours.At({"definitions", definition.key});
    // The packages with the descriptions do not contain these types.
    if (found == nullptr || definition.key.starts_with("io.k8s.kube-aggregator.") ||
        definition.key == "io.k8s.apimachinery.pkg.version.Info") {
      continue;
    }
    compare(definition.key, *found, definition.value);
    const Value* properties = definition.value.Find("properties");
    if (properties == nullptr) continue;
    for (const auto& property : properties->as_object()) {
      const Value* field = found->At({"properties", property.key});
      if (field != nullptr) {
        compare(definition.key + "." + property.key, *field, property.value);
      }
    }
  }
  EXPECT_GT(compared, 2900);
}

TEST(OpenApiTest, IndexReferencesDocumentsByHash) {
  const net::Response index = Get("/openapi/v3");
  EXPECT_EQ(index.headers.Get("content-type"), "text/plain; charset=utf-8");
  Result<Value> paths = json::Parse(Body(index));
  ASSERT_TRUE(paths.ok());
  for (const auto& member : paths->Find("paths")->as_object()) {
    const std::string url(member.value.Find("serverRelativeURL")->as_string());
    const net::Response response = Get(url);
    EXPECT_EQ(response.status, 200) << url;
    EXPECT_EQ(response.headers.Get("cache-control"), "public, immutable, max-age=31536000");
    EXPECT_NE(url.find(response.headers.Get("etag")->substr(1, 128)), std::string::npos);
  }
  EXPECT_NE(paths->At({"paths", "apis/apps/v1"}), nullptr);
  const net::Response old = Get("/openapi/v3/apis/apps/v1?hash=00");
  EXPECT_EQ(old.status, 301);
  EXPECT_TRUE(old.headers.Get("location")->starts_with("/openapi/v3/apis/apps/v1?hash="));
}

TEST(OpenApiTest, NegotiatesMediaTypes) {
  EXPECT_EQ(Get("/openapi/v3/apis/none.example.com/v1").status, 404);
  EXPECT_EQ(Get("/openapi/v4").status, 404);
  EXPECT_EQ(Get("/openapi/v3/api/v1", {{"accept", "text/plain"}}).status, 406);
  EXPECT_EQ(Get("/openapi/v2", {{"accept", "text/plain"}}).status, 406);
  const std::string old = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
  const net::Response protobuf = Get("/openapi/v2", {{"accept", old}});
  EXPECT_EQ(protobuf.headers.Get("content-type"),
            "application/com.github.proto-openapi.spec.v2.v1.0+protobuf");
  EXPECT_EQ(Body(protobuf).substr(0, 5), std::string("\x0a\x03") + "2.0");
}

TEST(OpenApiTest, CompressesAndRevalidates) {
  const net::Response plain = Get("/openapi/v2");
  const net::Response packed = Get("/openapi/v2", {{"accept-encoding", "br, gzip;q=0.8"}});
  EXPECT_EQ(packed.headers.Get("content-encoding"), "gzip");
  EXPECT_EQ(net::Gunzip(Body(packed)), Body(plain));
  EXPECT_LT(Body(packed).size(), Body(plain).size() / 5);
  const std::string etag(*plain.headers.Get("etag"));
  const net::Response same = Get("/openapi/v2", {{"if-none-match", etag}});
  EXPECT_EQ(same.status, 304);
  EXPECT_TRUE(same.body.empty());
}

TEST(V2ProtobufTest, EncodesSchemasFieldByField) {
  const Value document =
      *json::Parse(R"({"definitions":{"A":{"type":"object","required":["b"],"x-k":{"a":1}}}})");
  // Document.definitions = 9, of Schema: required = 19, type = 22, vendor_extension = 31.
  const std::string bytes = openapi::V2Protobuf(document);
  EXPECT_NE(bytes.find(std::string("\x9a\x01\x01") + "b"), std::string::npos);
  EXPECT_NE(bytes.find(std::string("\xb2\x01\x08\x0a\x06") + "object"), std::string::npos);
  EXPECT_NE(bytes.find(std::string("\x0a\x03x-k\x12\x07\x12\x05") + "a: 1\n"), std::string::npos);
  EXPECT_EQ(bytes[0], 9 << 3 | 2);
}

}  // namespace
}  // namespace cox::apiserver
