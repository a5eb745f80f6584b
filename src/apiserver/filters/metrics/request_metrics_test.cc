// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/metrics/request_metrics.h"

#include <deque>

#include "apiserver/testing/call_harness.h"
#include "base/strings.h"

namespace cox::apiserver {
namespace {

class NeverEnding final : public net::BodySource {
  State Pull(size_t, std::vector<Bytes>*) override { return State::kWait; }
};

class Text final : public net::BodySource {
 public:
  explicit Text(size_t size) : size_(size) {}
  State Pull(size_t, std::vector<Bytes>* out) override {
    out->emplace_back(std::string(size_, 'x'));
    return State::kEnd;
  }

 private:
  const size_t size_;
};

class RequestMetricsTest : public ::testing::Test {
 protected:
  FakeCall Begin(FakeRequest request) {
    FakeCall call(clock_, std::move(request));
    metrics_.Follow(*call);
    return call;
  }
  void Answer(FakeRequest request, int code = 200, std::string body = "x") {
    FakeCall call = Begin(std::move(request));
    call->Respond(code, "text/plain", {Bytes(std::move(body))});
  }
  // The lines of a metric without its name.
  std::string Lines(std::string_view metric) {
    std::string found;
    const std::string text = registry_.Render();
    for (std::string_view line : Split(text, '\n')) {
      if (line.starts_with(metric) && line.substr(metric.size(), 1) == "{") {
        found.append(line.substr(metric.size())).append("\n");
      }
    }
    return found;
  }

  TestClock clock_;
  MetricsRegistry registry_;
  const ServedSetPtr served_ = std::make_shared<const ServedSet>(DefaultServedKinds());
  WriteLag lag_{clock_};
  RequestMetrics metrics_{registry_, [this] { return served_; }, &lag_};
};

TEST_F(RequestMetricsTest, DeprecatedApisAreMarkedWhenRequested) {
  Answer({.target = "/api/v1/namespaces/default/pods"});
  EXPECT_EQ(Lines("apiserver_requested_deprecated_apis"), "");
  Answer({.target = "/api/v1/namespaces/default/endpoints/web"});
  Answer({.target = "/api/v1/endpoints"});
  EXPECT_EQ(Lines("apiserver_requested_deprecated_apis"),
            "{group=\"\",removed_release=\"\",resource=\"endpoints\",subresource=\"\","
            "version=\"v1\"} 1\n");
}

TEST_F(RequestMetricsTest, CountsRequestsByResourceAndVerb) {
  const struct {
    std::string method, target, type, want;
  } kCases[] = {
      {"GET", "/api/v1/namespaces/ns/pods/p", "",
       R"(group="",resource="pods",scope="resource",subresource="",verb="GET",version="v1")"},
      {"HEAD", "/api/v1/namespaces/ns/secrets/p", "",
       R"(group="",resource="secrets",scope="resource",subresource="",verb="GET",version="v1")"},
      {"GET", "/api/v1/namespaces/ns/pods", "",
       R"(group="",resource="pods",scope="namespace",subresource="",verb="LIST",version="v1")"},
      {"GET", "/api/v1/pods", "",
       R"(group="",resource="pods",scope="cluster",subresource="",verb="LIST",version="v1")"},
      {"POST", "/apis/apps/v1/namespaces/ns/deployments", "",
       R"(group="apps",resource="deployments",scope="resource",subresource="",verb="POST",version="v1")"},
      {"PUT", "/apis/apps/v1/namespaces/ns/deployments/d/scale", "",
       R"(group="apps",resource="deployments",scope="resource",subresource="scale",verb="PUT",version="v1")"},
      {"PATCH", "/api/v1/nodes/n", "application/merge-patch+json",
       R"(group="",resource="nodes",scope="resource",subresource="",verb="PATCH",version="v1")"},
      {"PATCH", "/api/v1/nodes/n", "application/apply-patch+yaml",
       R"(group="",resource="nodes",scope="resource",subresource="",verb="APPLY",version="v1")"},
      {"DELETE", "/api/v1/nodes/n", "",
       R"(group="",resource="nodes",scope="resource",subresource="",verb="DELETE",version="v1")"},
      {"DELETE", "/api/v1/nodes", "",
       R"(group="",resource="nodes",scope="cluster",subresource="",verb="DELETECOLLECTION",version="v1")"},
      {"GET", "/healthz", "",
       R"(group="",resource="",scope="",subresource="/healthz",verb="GET",version="")"},
      {"GET", "/livez/etcd", "",
       R"(group="",resource="",scope="",subresource="/livez",verb="GET",version="")"},
      {"POST", "/apis/apps", "",
       R"(group="",resource="",scope="",subresource="/apis",verb="POST",version="")"},
  };
  for (const auto& c : kCases) {
    net::Headers headers;
    if (!c.type.empty()) headers.Add("content-type", c.type);
    Answer({.method = c.method, .target = c.target, .headers = headers});
    const std::string line = R"({code="200",component="apiserver",dry_run="",)" + c.want + "} 1\n";
    EXPECT_NE(Lines("apiserver_request_total").find(line), std::string::npos)
        << c.target << "\n"
        << Lines("apiserver_request_total");
  }
}

TEST_F(RequestMetricsTest, ClientsCannotCreateLabelValues) {
  for (int i = 0; i < 100; ++i) {
    const std::string n = std::to_string(i);
    Answer({.method = "M" + n, .target = "/api/v1/pods"}, 405);
    Answer({.method = "M" + n, .target = "/path" + n}, 404);
    Answer({.target = "/api/v1/things" + n}, 404);
    Answer({.target = "/apis/group" + n + "/v" + n + "/things"}, 404);
    Answer({.target = "/api/v1/namespaces/ns/pods/p/sub" + n}, 404);
    Answer({.method = "POST", .target = "/api/v1/namespaces/ns/pods?dryRun=x" + n}, 422);
  }
  EXPECT_EQ(
      Lines("apiserver_request_total"),
      R"({code="404",component="apiserver",dry_run="",group="",resource="",scope="",subresource="",verb="other",version=""} 100
{code="404",component="apiserver",dry_run="",group="",resource="",scope="cluster",subresource="",verb="LIST",version=""} 200
{code="404",component="apiserver",dry_run="",group="",resource="",scope="resource",subresource="",verb="GET",version=""} 100
{code="405",component="apiserver",dry_run="",group="",resource="pods",scope="cluster",subresource="",verb="other",version="v1"} 100
{code="422",component="apiserver",dry_run="invalid",group="",resource="pods",scope="resource",subresource="",verb="POST",version="v1"} 100
)");
}

TEST_F(RequestMetricsTest, DryRunsAreCountedSeparately) {
  Answer({.method = "POST", .target = "/api/v1/namespaces/ns/pods?dryRun=All&dryRun=All"}, 201);
  EXPECT_NE(Lines("apiserver_request_total").find(R"(dry_run="All")"), std::string::npos);
}

TEST_F(RequestMetricsTest, DurationIsMeasuredByClock) {
  FakeCall call = Begin({.target = "/api/v1/pods"});
  clock_.Advance(std::chrono::milliseconds(300));
  call->Respond(200, "text/plain", {Bytes(std::string("x"))});
  const std::string labels =
      R"({component="apiserver",dry_run="",group="",resource="pods",scope="cluster",subresource="",verb="LIST",version="v1")";
  EXPECT_EQ(Lines("apiserver_request_duration_seconds_sum"), labels + "} 0.3\n");
  const std::string buckets = Lines("apiserver_request_duration_seconds_bucket");
  EXPECT_NE(buckets.find(labels + R"(,le="0.2"} 0)"), std::string::npos) << buckets;
  EXPECT_NE(buckets.find(labels + R"(,le="0.4"} 1)"), std::string::npos) << buckets;
}

TEST_F(RequestMetricsTest, ResponseSizesAreMeasuredForReadsOnly) {
  Answer({.target = "/api/v1/pods"}, 200, std::string(5000, 'x'));
  Answer({.method = "POST", .target = "/api/v1/namespaces/ns/pods"}, 201, std::string(700, 'x'));
  EXPECT_EQ(
      Lines("apiserver_response_sizes_sum"),
      R"({component="apiserver",group="",resource="pods",scope="cluster",subresource="",verb="LIST",version="v1"} 5000
)");
}

TEST_F(RequestMetricsTest, SizeOfStreamedListIsThatBeforeCompression) {
  FakeCall call = Begin({.target = "/api/v1/pods", .headers = {{"accept-encoding", "gzip"}}});
  call->RespondInPieces("application/json", std::make_unique<Text>(5000));
  EXPECT_EQ(call.exchange().Header("content-encoding"), "gzip");
  EXPECT_LT(call.exchange().Pull().size(), 1000u);
  call.exchange().Close();
  EXPECT_TRUE(Lines("apiserver_response_sizes_sum").ends_with("} 5000\n"));
}

TEST_F(RequestMetricsTest, FastLeasesAndReviewsDoNotHideSlowWrites) {
  std::deque<FakeCall> slow;
  for (size_t i = 0; i < WriteLag::kLeast; ++i) {
    slow.push_back(Begin({.method = "POST", .target = "/api/v1/namespaces/ns/pods"}));
  }
  clock_.Advance(WriteLag::kSlow + std::chrono::milliseconds(1));
  for (FakeCall& call : slow) call->RespondText(201, "");
  for (int i = 0; i < 100; ++i) {
    Answer({.method = "PUT",
            .target = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n"});
    Answer({.method = "POST", .target = "/apis/authorization.k8s.io/v1/subjectaccessreviews"}, 201);
  }
  clock_.Advance(WriteLag::kInterval);
  EXPECT_TRUE(lag_.IsBehind());
}

TEST_F(RequestMetricsTest, InflightCountsRequestsWithoutResponse) {
  auto inflight = [&] { return Lines("apiserver_current_inflight_requests"); };
  FakeCall read = Begin({.target = "/api/v1/pods"});
  FakeCall write = Begin({.method = "POST", .target = "/api/v1/namespaces/ns/pods"});
  EXPECT_EQ(inflight(), "{request_kind=\"mutating\"} 1\n{request_kind=\"readOnly\"} 1\n");
  read->RespondText(200, "");
  EXPECT_EQ(inflight(), "{request_kind=\"mutating\"} 1\n{request_kind=\"readOnly\"} 0\n");
  write->RespondStatus(Status::Forbidden("no"));
  EXPECT_EQ(inflight(), "{request_kind=\"mutating\"} 0\n{request_kind=\"readOnly\"} 0\n");
}

TEST_F(RequestMetricsTest, WatchesAreCountedWhenTheyEnd) {
  const std::string labels =
      R"({component="apiserver",group="",resource="pods",scope="cluster",subresource="",verb="WATCH",version="v1"} )";
  FakeCall watch = Begin({.target = "/api/v1/pods?watch=1"});
  watch->RespondStream("application/json", std::make_unique<NeverEnding>());
  EXPECT_EQ(Lines("apiserver_longrunning_requests"), labels + "1\n");
  EXPECT_EQ(Lines("apiserver_request_total"), "");
  watch.exchange().Close();
  EXPECT_EQ(Lines("apiserver_longrunning_requests"), labels + "0\n");
  EXPECT_NE(Lines("apiserver_request_total").find(R"(verb="WATCH",version="v1"} 1)"),
            std::string::npos);
}

TEST_F(RequestMetricsTest, RequestWithoutResponseCountsAs500) {
  { FakeCall dropped = Begin({.target = "/api/v1/pods"}); }
  EXPECT_NE(Lines("apiserver_request_total").find(R"(code="500")"), std::string::npos);
  EXPECT_EQ(Lines("apiserver_current_inflight_requests"),
            "{request_kind=\"mutating\"} 0\n{request_kind=\"readOnly\"} 0\n");
}

}  // namespace
}  // namespace cox::apiserver
