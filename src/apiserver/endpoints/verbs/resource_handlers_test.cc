// SPDX-License-Identifier: Apache-2.0
#include "apiserver/endpoints/verbs/resource_handlers.h"

#include "api/core/v1.h"
#include "apiserver/endpoints/verbs/respond.h"
#include "apiserver/testing/call_harness.h"
#include "object/codec/json/json.h"
#include "storage/continue_token.h"

namespace cox::apiserver {
namespace {

constexpr std::string_view kMaps = "/api/v1/namespaces/default/configmaps";

class ResourceHandlersTest : public ::testing::Test {
 protected:
  // Returns the JSON of the response, whose status must be `code`.
  Value Json(int code, FakeRequest request) {
    FakeCall call = api_.Do(std::move(request));
    EXPECT_EQ(call.exchange().status(), code) << call.exchange().Body();
    last_ = call.shared();
    warning_ = call.exchange().Header("warning");
    content_type_ = call.exchange().Header("content-type");
    Result<Value> body = json::Parse(call.exchange().Body());
    EXPECT_TRUE(body.ok()) << call.exchange().Body();
    return body.ok() ? *body : Value();
  }
  static std::string At(const Value& value, std::initializer_list<std::string_view> path) {
    const Value* found = value.At(path);
    if (found == nullptr) return "<none>";
    return found->is_string() ? std::string(found->as_string()) : json::Write(*found);
  }
  Value CreateMap(const std::string& name, const std::string& members = "") {
    return Json(201, {.method = "POST",
                      .target = std::string(kMaps),
                      .body = R"({"metadata":{"name":")" + name + "\"}" + members + "}"});
  }
  std::string Map(std::string_view name, std::string_view rest = "") {
    return std::string(kMaps) + "/" + std::string(name) + std::string(rest);
  }

  ApiHarness api_;
  std::shared_ptr<Call> last_;
  std::string warning_, content_type_;
};

TEST_F(ResourceHandlersTest, CreateGetUpdatePatchAndDelete) {
  const Value created = CreateMap("a", R"(,"data":{"k":"v"})");
  EXPECT_EQ(At(created, {"kind"}), "ConfigMap");
  EXPECT_EQ(At(created, {"metadata", "namespace"}), "default");
  EXPECT_EQ(At(Json(200, {.target = Map("a")}), {"data", "k"}), "v");

  Value changed = created;
  changed.as_object()["data"] = *json::Parse(R"({"k":"w"})");
  const Value updated =
      Json(200, {.method = "PUT", .target = Map("a"), .body = json::Write(changed)});
  EXPECT_EQ(At(updated, {"data", "k"}), "w");
  // The same update again has an outdated resource version.
  EXPECT_EQ(At(Json(409, {.method = "PUT", .target = Map("a"), .body = json::Write(changed)}),
               {"reason"}),
            "Conflict");

  const Value patched = Json(200, {.method = "PATCH",
                                   .target = Map("a"),
                                   .body = R"({"data":{"k":null,"n":"1"}})",
                                   .headers = {{"content-type", "application/merge-patch+json"}}});
  EXPECT_EQ(At(patched, {"data"}), R"({"n":"1"})");

  const Value deleted = Json(200, {.method = "DELETE", .target = Map("a")});
  EXPECT_EQ(At(deleted, {"status"}), "Success");
  EXPECT_EQ(At(deleted, {"details", "name"}), "a");
  EXPECT_EQ(At(Json(404, {.target = Map("a")}), {"message"}), "configmaps \"a\" not found");
}

TEST_F(ResourceHandlersTest, ResponsesUseTheAcceptedFormatAndTransformation) {
  CreateMap("a");
  const struct {
    std::string query, accept, type, kind;
  } kCases[] = {
      {"", "application/json", "application/json", "ConfigMap"},
      {"", "application/json;as=Table;v=v1;g=meta.k8s.io", "application/json", "Table"},
      {"", "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io", "application/json",
       "PartialObjectMetadata"},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(
        At(Json(200, {.target = Map("a", c.query), .headers = {{"accept", c.accept}}}), {"kind"}),
        c.kind);
    EXPECT_EQ(content_type_, c.type);
  }
  FakeCall yaml = api_.Do({.target = Map("a"), .headers = {{"accept", "application/yaml"}}});
  EXPECT_TRUE(yaml.exchange().Body().starts_with("apiVersion: v1\n"));
  FakeCall pretty = api_.Do({.target = Map("a", "?pretty=true")});
  EXPECT_TRUE(pretty.exchange().Body().starts_with("{\n  \"kind\": \"ConfigMap\""));
  FakeCall proto =
      api_.Do({.target = Map("a"), .headers = {{"accept", "application/vnd.kubernetes.protobuf"}}});
  EXPECT_TRUE(proto.exchange().Body().starts_with(std::string("k8s\0", 4)));
}

TEST_F(ResourceHandlersTest, PrettyAppliesToWritesAndErrors) {
  FakeCall created = api_.Do({.method = "POST",
                              .target = std::string(kMaps) + "?pretty=1",
                              .body = R"({"metadata":{"name":"a"}})"});
  EXPECT_TRUE(created.exchange().Body().starts_with("{\n  "));
  FakeCall error =
      api_.Do({.target = Map("none"), .headers = {{"accept", "application/json;pretty=1"}}});
  EXPECT_TRUE(error.exchange().Body().starts_with("{\n  \"kind\": \"Status\""));
}

TEST_F(ResourceHandlersTest, ListsOfSharedAndDecodedObjectsAreEqual) {
  CreateMap("a");
  CreateMap("b", R"(,"data":{"x":"y"})");
  const Value gathered = Json(200, {.target = std::string(kMaps)});
  EXPECT_EQ(At(gathered, {"kind"}), "ConfigMapList");
  EXPECT_EQ(gathered.Find("items")->as_array().size(), 2u);
  const Value decoded = Json(200, {.target = std::string(kMaps) + "?pretty=1"});
  EXPECT_EQ(json::Write(gathered), json::Write(decoded));
}

TEST_F(ResourceHandlersTest, ListsArePaginated) {
  for (std::string_view name : {"a", "b", "c"}) CreateMap(std::string(name));
  const Value first = Json(200, {.target = std::string(kMaps) + "?limit=2"});
  EXPECT_EQ(first.Find("items")->as_array().size(), 2u);
  EXPECT_EQ(At(first, {"metadata", "remainingItemCount"}), "1");
  const std::string token = At(first, {"metadata", "continue"});
  const Value rest = Json(200, {.target = std::string(kMaps) + "?limit=2&continue=" + token});
  ASSERT_EQ(rest.Find("items")->as_array().size(), 1u);
  EXPECT_EQ(At(rest.Find("items")->as_array()[0], {"metadata", "name"}), "c");
  EXPECT_EQ(At(rest, {"metadata", "continue"}), "<none>");
  Json(400, {.target = std::string(kMaps) + "?continue=garbage"});
}

TEST_F(ResourceHandlersTest, ExpiredContinueTokenIsReplaced) {
  for (const std::string name : {"a", "b", "c"}) CreateMap(name);
  // The cache must start its watch before the compaction: afterwards it would wait for a timer.
  api_.Sync(core::v1::ConfigMap::kKind);
  const std::string maps(kMaps), prefix = "/registry/configmaps/default/";
  // The caches do not contain revision 1.
  const std::string expired = storage::ContinueToken{1, prefix + "b"}.Encode(prefix);
  Result<storage::Revision> now = api_.store().CurrentRevision(api_.ctx());
  ASSERT_TRUE(api_.store().Compact(api_.ctx(), *now).ok());
  const std::string pages = maps + "?limit=1&continue=";
  for (const std::string method : {"GET", "DELETE"}) {
    const Value error = Json(410, {.method = method, .target = pages + expired});
    EXPECT_EQ(At(error, {"reason"}), "Expired");
    const std::string token = At(error, {"metadata", "continue"});
    Result<storage::ContinueToken> decoded = storage::ContinueToken::Decode(token, prefix);
    ASSERT_TRUE(decoded.ok()) << token;
    EXPECT_EQ(decoded->revision, -1);
    EXPECT_EQ(decoded->start, prefix + "b");
    // The pages that follow are consistent with each other.
    const Value rest = Json(200, {.target = pages + token});
    EXPECT_EQ(At(rest.Find("items")->as_array()[0], {"metadata", "name"}), "b");
    const Value last = Json(200, {.target = pages + At(rest, {"metadata", "continue"})});
    EXPECT_EQ(At(last.Find("items")->as_array()[0], {"metadata", "name"}), "c");
    EXPECT_EQ(At(last, {"metadata", "resourceVersion"}), At(rest, {"metadata", "resourceVersion"}));
  }
  // A list at a compacted revision has nothing to continue.
  const Value error = Json(410, {.target = maps + "?resourceVersion=1&resourceVersionMatch=Exact"});
  EXPECT_EQ(At(error, {"metadata"}), "{}");
}

TEST_F(ResourceHandlersTest, SelectorsFilterListsAndDeleteCollection) {
  CreateMap("a");
  Json(201, {.method = "POST",
             .target = std::string(kMaps),
             .body = R"({"metadata":{"name":"b","labels":{"x":"y"}}})"});
  auto names = [&](const std::string& query) {
    std::string text;
    const Value list = Json(200, {.target = std::string(kMaps) + query});
    for (const Value& item : list.Find("items")->as_array()) {
      text += At(item, {"metadata", "name"});
    }
    return text;
  };
  EXPECT_EQ(names("?labelSelector=x%3Dy"), "b");
  EXPECT_EQ(names("?labelSelector=x!%3Dy"), "a");
  EXPECT_EQ(names("?fieldSelector=metadata.name%3Da"), "a");
  EXPECT_EQ(names("?fieldSelector=metadata.name%3Da,metadata.name!%3Da"), "");
  Json(200, {.method = "DELETE", .target = std::string(kMaps) + "?labelSelector=x%3Dy"});
  EXPECT_EQ(names(""), "a");
}

TEST_F(ResourceHandlersTest, DryRunDoesNotPersist) {
  Json(201, {.method = "POST",
             .target = std::string(kMaps) + "?dryRun=All",
             .body = R"({"metadata":{"name":"a"}})"});
  Json(404, {.target = Map("a")});
  CreateMap("a");
  Json(200, {.method = "DELETE", .target = Map("a", "?dryRun=All")});
  Json(200, {.target = Map("a")});
}

TEST_F(ResourceHandlersTest, WritesThatDoNotMatchTheirPathAreRejected) {
  CreateMap("a");
  const struct {
    std::string method, target, body, want;
  } kCases[] = {
      {"POST", std::string(kMaps), R"({"metadata":{"name":"x","namespace":"other"}})",
       "the namespace of the provided object does not match the namespace sent on the request"},
      {"PUT", Map("a"), R"({"metadata":{"name":"b"}})",
       "the name of the object (b) does not match the name on the URL (a)"},
      {"PUT", Map("a"), R"({"metadata":{}})",
       "the name of the object (a based on URL) was undeterminable: name must be provided"},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(At(Json(400, {.method = c.method, .target = c.target, .body = c.body}), {"message"}),
              c.want);
  }
  EXPECT_EQ(At(Json(500, {.method = "POST",
                          .target = std::string(kMaps),
                          .body = R"({"metadata":{"name":"x","resourceVersion":"5"}})"}),
               {"message"}),
            "resourceVersion should not be set on objects to be created");
}

TEST_F(ResourceHandlersTest, UnknownFieldsInPatchesCauseWarnings) {
  CreateMap("a");
  Json(200, {.method = "PATCH",
             .target = Map("a"),
             .body = R"([{"op":"add","path":"/data","value":{"k":"v"},"foo":"bar"}])",
             .headers = {{"content-type", "application/json-patch+json"}}});
  EXPECT_EQ(warning_, R"(299 - "json patch unknown field \"[0].foo\"")");
  Json(200, {.method = "PATCH",
             .target = Map("a"),
             .body = R"([{"op":"add","path":"/zzz","value":1}])",
             .headers = {{"content-type", "application/json-patch+json"}}});
  EXPECT_EQ(warning_, R"(299 - "unknown field \"zzz\"")");
}

TEST_F(ResourceHandlersTest, ApplyCreatesTheObjectAndOwnsItsFields) {
  const net::Headers apply = {{"content-type", "application/apply-patch+yaml"}};
  const std::string body =
      R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":"v"}})";
  const Value created = Json(
      201,
      {.method = "PATCH", .target = Map("a", "?fieldManager=me"), .body = body, .headers = apply});
  const Value* owners = created.At({"metadata", "managedFields"});
  ASSERT_NE(owners, nullptr);
  EXPECT_EQ(At(owners->as_array()[0], {"manager"}), "me");
  EXPECT_EQ(At(owners->as_array()[0], {"operation"}), "Apply");
  Json(200,
       {.method = "PATCH", .target = Map("a", "?fieldManager=me"), .body = body, .headers = apply});
  const std::string other =
      R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":"w"}})";
  EXPECT_EQ(At(Json(409, {.method = "PATCH",
                          .target = Map("a", "?fieldManager=you"),
                          .body = other,
                          .headers = apply}),
               {"reason"}),
            "Conflict");
}

TEST_F(ResourceHandlersTest, InvalidIncludeObjectIsRejectedForTables) {
  CreateMap("a");
  const net::Headers table = {{"accept", "application/json;as=Table;v=v1;g=meta.k8s.io"}};
  EXPECT_EQ(
      At(Json(400, {.target = Map("a", "?includeObject=Bogus"), .headers = table}), {"message"}),
      "Unable to convert to Table as requested: includeObject: Invalid value: \"Bogus\": "
      "must be 'Metadata', 'Object', 'None', or empty");
  // Ignored for responses that are not Tables.
  Json(200, {.target = Map("a", "?includeObject=Bogus")});
  const Value none = Json(200, {.target = Map("a", "?includeObject=None"), .headers = table});
  EXPECT_EQ(At(none.Find("rows")->as_array()[0], {"object"}), "null");
  const Value whole = Json(200, {.target = Map("a", "?includeObject=Object"), .headers = table});
  EXPECT_EQ(At(whole.Find("rows")->as_array()[0], {"object", "kind"}), "ConfigMap");
}

TEST_F(ResourceHandlersTest, UnsupportedTransformationsAreRejected) {
  CreateMap("a");
  EXPECT_EQ(At(Json(406, {.target = Map("a"),
                          .headers = {{"accept",
                                       "application/"
                                       "json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"}}}),
               {"message"}),
            "you requested PartialObjectMetadataList, but the requested object is not a list "
            "(*core.ConfigMap)");
  EXPECT_EQ(
      At(Json(406, {.target = std::string(kMaps),
                    .headers = {{"accept",
                                 "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"}}}),
         {"message"}),
      "you requested PartialObjectMetadata, but the requested object is a list "
      "(*core.ConfigMapList)");
}

TEST_F(ResourceHandlersTest, WatchSendsChangesAndEndsAtTheTimeout) {
  const Value created = CreateMap("a");
  FakeCall watch =
      api_.Do({.target = std::string(kMaps) + "?watch=1&timeoutSeconds=10" +
                         "&resourceVersion=" + At(created, {"metadata", "resourceVersion"})});
  ASSERT_EQ(watch.exchange().status(), 200);
  CreateMap("b");
  api_.Sync(core::v1::ConfigMap::kKind);
  const std::string events = watch.exchange().Pull();
  EXPECT_TRUE(events.starts_with(R"({"type":"ADDED","object":{"kind":"ConfigMap")")) << events;
  api_.clock().Advance(std::chrono::seconds(10));
  EXPECT_EQ(watch.exchange().Pull(), "<end>");
}

TEST_F(ResourceHandlersTest, WatchWithSendInitialEventsMarksTheirEnd) {
  CreateMap("a");
  FakeCall watch =
      api_.Do({.target = std::string(kMaps) +
                         "?watch=1&sendInitialEvents=1&resourceVersionMatch=NotOlderThan&"
                         "allowWatchBookmarks=1"});
  const std::string events = watch.exchange().Pull();
  EXPECT_TRUE(events.starts_with(R"({"type":"ADDED",)")) << events;
  EXPECT_NE(events.find(R"("k8s.io/initial-events-end":"true")"), std::string::npos) << events;
}

TEST_F(ResourceHandlersTest, DurationOfInitialEventsIsRecordedWhenTheirEndIsMarked) {
  MetricsRegistry registry;
  HistogramVec& seconds = registry.AddHistogramVec({.name = "seconds"}, {1, 60},
                                                   {"group", "version", "resource", "scope"});
  api_.handlers().set_watch_list_seconds(&seconds);
  const std::string target =
      std::string(kMaps) + "?watch=1&sendInitialEvents=1&resourceVersionMatch=NotOlderThan";
  FakeCall without_bookmarks = api_.Do({.target = target});
  (void)without_bookmarks.exchange().Pull();
  EXPECT_EQ(registry.Render().find("seconds_count{"), std::string::npos);
  FakeCall watch = api_.Do({.target = target + "&allowWatchBookmarks=1"});
  api_.clock().Advance(std::chrono::seconds(3));
  (void)watch.exchange().Pull();
  (void)watch.exchange().Pull();
  const std::string text = registry.Render();
  EXPECT_NE(text.find("seconds_sum{group=\"\",resource=\"configmaps\",scope=\"namespace\","
                      "version=\"v1\"} 3\n"),
            std::string::npos)
      << text;
  api_.handlers().set_watch_list_seconds(nullptr);
}

TEST_F(ResourceHandlersTest, WatchParameterIsIgnoredForGetOfOneObject) {
  Json(404, {.target = Map("none", "?watch=true")});
}

TEST(PrettyJson, IndentsByTwo) {
  EXPECT_EQ(PrettyJson(R"({"a":[1,{"b":"x,\"{"}],"c":{},"d":[]})"),
            "{\n  \"a\": [\n    1,\n    {\n      \"b\": \"x,\\\"{\"\n    }\n  ],\n  \"c\": {},\n  "
            "\"d\": []\n}");
}

TEST(EncodeStatus, ContainsDetailsLikeUpstream) {
  EXPECT_EQ(EncodeStatus(Status::BadRequest("no"), {}),
            R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"no",)"
            R"("reason":"BadRequest","code":400})"
            "\n");
  EXPECT_EQ(EncodeStatus(Status::NotFound("no"), {}),
            R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"no",)"
            R"("reason":"NotFound","details":{},"code":404})"
            "\n");
}

}  // namespace
}  // namespace cox::apiserver
