// SPDX-License-Identifier: Apache-2.0
#include "apiserver/endpoints/verbs/options.h"

#include "api/core/v1.h"
#include "apiserver/testing/call_harness.h"

namespace cox::apiserver {
namespace {

class OptionsTest : public ::testing::Test {
 protected:
  // Shared by all tests, which only read it.
  static void SetUpTestSuite() { api_ = std::make_unique<ApiHarness>(); }
  static void TearDownTestSuite() { api_.reset(); }

  static FakeCall Get(std::string target, net::Headers headers = {}) {
    return FakeCall(api_->clock(), {.target = std::move(target), .headers = std::move(headers)});
  }
  static Result<ReadOptions> Read(const std::string& query) {
    FakeCall call = Get("/api/v1/namespaces/ns/pods?" + query);
    return ParseReadOptions(*call, api_->registry().Hub(core::v1::Pod::kKind));
  }
  static Result<WriteOptions> Write(const std::string& query,
                                    std::string_view kind = "CreateOptions", bool apply = false) {
    FakeCall call = Get("/api/v1/namespaces/ns/pods?" + query);
    return ParseWriteOptions(*call, kind, apply);
  }
  static Result<meta::v1::DeleteOptions> Delete(const std::string& query, std::string body = {}) {
    FakeCall call(api_->clock(), {.method = "DELETE",
                                  .target = "/api/v1/namespaces/ns/pods/p?" + query,
                                  .body = std::move(body)});
    return ParseDeleteOptions(*call, Scheme::Builtin());
  }
  template <class T>
  static std::string Error(const Result<T>& result) {
    return result.ok() ? "ok" : result.status().message();
  }

  static std::unique_ptr<ApiHarness> api_;
};
std::unique_ptr<ApiHarness> OptionsTest::api_;

TEST_F(OptionsTest, ListOptionsAreParsedFromTheQuery) {
  Result<ReadOptions> options = Read(
      "limit=5&resourceVersion=7&resourceVersionMatch=Exact&labelSelector=a%3Db"
      "&fieldSelector=spec.nodeName%3Dn&timeoutSeconds=9");
  ASSERT_TRUE(options.ok()) << options.status().message();
  EXPECT_EQ(options->limit, 5);
  EXPECT_EQ(options->resource_version, "7");
  EXPECT_EQ(options->timeout_seconds, 9);
  EXPECT_FALSE(options->watch);
  EXPECT_FALSE(options->label_selector.Empty());
  EXPECT_EQ(options->field_selector.RequiresExactMatch("spec.nodeName"), "n");
  EXPECT_EQ(Read("limit=-3")->limit, 0);
}

TEST_F(OptionsTest, InvalidListOptionsAreRejected) {
  const std::string invalid = "ListOptions.meta.k8s.io \"\" is invalid: ";
  const struct {
    std::string query, want;
  } kCases[] = {
      {"limit=x", "strconv.ParseInt: parsing \"x\": invalid syntax"},
      {"timeoutSeconds=1.5", "strconv.ParseInt: parsing \"1.5\": invalid syntax"},
      {"labelSelector=a%3D%3D%3Db", "unable to parse requirement: found '=', expected: identifier"},
      {"resourceVersionMatch=Exact",
       invalid + "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless "
                 "resourceVersion is provided"},
      {"resourceVersion=1&resourceVersionMatch=Bogus",
       invalid + "resourceVersionMatch: Unsupported value: \"Bogus\": supported values: \"Exact\", "
                 "\"NotOlderThan\", \"\""},
      {"sendInitialEvents=true",
       invalid + "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list"},
      {"watch=1&resourceVersion=1&resourceVersionMatch=Exact",
       invalid + "[resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch "
                 "unless sendInitialEvents is provided, resourceVersionMatch: Unsupported value: "
                 "\"Exact\": supported values: \"NotOlderThan\"]"},
      {"watch=1&sendInitialEvents=1",
       invalid + "resourceVersionMatch: Forbidden: sendInitialEvents requires setting "
                 "resourceVersionMatch to NotOlderThan"},
  };
  for (const auto& c : kCases) EXPECT_EQ(Error(Read(c.query)), c.want) << c.query;
  EXPECT_EQ(Read("fieldSelector=nope%3Dx").status().code(), 400);
}

TEST_F(OptionsTest, WatchWithoutResourceVersionSendsInitialEvents) {
  EXPECT_EQ(Read("watch=1")->send_initial_events, true);
  EXPECT_EQ(Read("watch=1&resourceVersion=0")->send_initial_events, true);
  EXPECT_EQ(Read("watch=1&resourceVersion=5")->send_initial_events, std::nullopt);
}

TEST_F(OptionsTest, NameInThePathBecomesAFieldSelector) {
  const ServedResource& pods = api_->registry().Hub(core::v1::Pod::kKind);
  FakeCall call = Get("/api/v1/watch/namespaces/ns/pods/p");
  EXPECT_EQ(ParseReadOptions(*call, pods)->field_selector.RequiresExactMatch("metadata.name"), "p");
  FakeCall twice = Get("/api/v1/watch/namespaces/ns/pods/p?fieldSelector=metadata.name%3Dq");
  EXPECT_EQ(Error(ParseReadOptions(*twice, pods)),
            "both a name and a field selector provided; please provide one or the other.");
}

TEST_F(OptionsTest, WriteOptionsAreParsedFromTheQuery) {
  Result<WriteOptions> options =
      Write("dryRun=All&fieldManager=me&fieldValidation=Strict&force=true", "PatchOptions", true);
  ASSERT_TRUE(options.ok()) << options.status().message();
  EXPECT_TRUE(options->dry_run);
  EXPECT_TRUE(options->force);
  EXPECT_EQ(options->field_manager, "me");
  EXPECT_EQ(options->field_validation, FieldValidation::kStrict);
  EXPECT_EQ(Write("")->field_validation, FieldValidation::kWarn);
  EXPECT_EQ(Write("fieldValidation=Ignore")->field_validation, FieldValidation::kIgnore);
  EXPECT_FALSE(Write("")->dry_run);
}

TEST_F(OptionsTest, InvalidWriteOptionsAreRejected) {
  const struct {
    std::string query, kind;
    bool apply;
    std::string want;
  } kCases[] = {
      {"dryRun=Some", "CreateOptions", false,
       "CreateOptions.meta.k8s.io \"\" is invalid: dryRun: Unsupported value: [\"Some\"]: "
       "supported values: \"All\""},
      {"fieldValidation=Maybe", "UpdateOptions", false,
       "UpdateOptions.meta.k8s.io \"\" is invalid: fieldValidation: Unsupported value: \"Maybe\": "
       "supported values: \"\", \"Ignore\", \"Strict\", \"Warn\""},
      {"", "PatchOptions", true,
       "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is required for "
       "apply patch"},
      {"force=true", "PatchOptions", false,
       "PatchOptions.meta.k8s.io \"\" is invalid: force: Forbidden: may not be specified for "
       "non-apply patch"},
  };
  for (const auto& c : kCases) EXPECT_EQ(Error(Write(c.query, c.kind, c.apply)), c.want);
  EXPECT_EQ(Write("fieldManager=" + std::string(129, 'x')).status().code(), 422);
  EXPECT_TRUE(Write("fieldManager=" + std::string(128, 'x')).ok());
}

TEST_F(OptionsTest, FieldManagerDefaultsToTheUserAgent) {
  const struct {
    std::string agent, manager, want;
  } kCases[] = {
      {"kubectl/v1.36 (linux)", "", "kubectl"},
      {"kubectl/v1.36", "me", "me"},
      {"plain", "", "plain"},
      {"", "", ""},
      {std::string("a\x01") + "b", "", "ab"},
      {std::string(200, 'x'), "", std::string(128, 'x')},
  };
  for (const auto& c : kCases) {
    FakeCall call = Get("/api/v1/pods", {{"user-agent", c.agent}});
    WriteOptions options;
    options.field_manager = c.manager;
    EXPECT_EQ(ManagerName(*call, options), c.want) << c.agent;
  }
}

TEST_F(OptionsTest, DeleteOptionsAreParsedFromQueryOrBody) {
  Result<meta::v1::DeleteOptions> options =
      Delete("gracePeriodSeconds=5&propagationPolicy=Orphan&dryRun=All");
  ASSERT_TRUE(options.ok()) << options.status().message();
  EXPECT_EQ(options->gracePeriodSeconds, 5);
  EXPECT_EQ(options->propagationPolicy, "Orphan");
  EXPECT_EQ(options->dryRun, std::vector<std::string>{"All"});
  // If there is a body, the query is ignored.
  options = Delete("gracePeriodSeconds=5", R"({"preconditions":{"uid":"u"}})");
  ASSERT_TRUE(options.ok()) << options.status().message();
  EXPECT_FALSE(options->gracePeriodSeconds.has_value());
  EXPECT_EQ(options->preconditions->uid, "u");
}

TEST_F(OptionsTest, InvalidDeleteOptionsAreRejected) {
  const struct {
    std::string query, body, want;
  } kCases[] = {
      {"gracePeriodSeconds=x", "", "strconv.ParseInt: parsing \"x\": invalid syntax"},
      {"propagationPolicy=Sideways", "",
       "DeleteOptions.meta.k8s.io \"\" is invalid: propagationPolicy: Unsupported value: "
       "\"Sideways\": supported values: \"Foreground\", \"Background\", \"Orphan\", \"nil\""},
      {"propagationPolicy=Orphan&orphanDependents=true", "",
       "DeleteOptions.meta.k8s.io \"\" is invalid: propagationPolicy: Invalid value: \"Orphan\": "
       "orphanDependents and deletionPropagation cannot be both set"},
      {"", R"({"kind":"Pod","apiVersion":"v1"})",
       "no kind \"Pod\" is registered for version \"v1\" in scheme \"coxswain/scheme\""},
  };
  for (const auto& c : kCases) EXPECT_EQ(Error(Delete(c.query, c.body)), c.want) << c.query;
}

TEST_F(OptionsTest, ResourceVersionMustBeANumber) {
  EXPECT_EQ(*ReadVersion(""), 0);
  EXPECT_EQ(*ReadVersion("12"), 12);
  const Status status = ReadVersion("abc").status();
  EXPECT_EQ(status.message(),
            "resourceVersion: Invalid value: \"abc\": strconv.ParseUint: parsing \"abc\": invalid "
            "syntax");
  EXPECT_EQ(status.code(), 500);
}

}  // namespace
}  // namespace cox::apiserver
