// SPDX-License-Identifier: Apache-2.0
#include "apiserver/request/request_info.h"

#include <gtest/gtest.h>

namespace cox::apiserver {
namespace {

// "verb group/version ns resource/subresource name", with dots for empty fields and flags at the
// end.
std::string Show(const RequestInfo& info) {
  if (!info.is_resource) return info.verb + " " + info.path;
  auto or_dot = [](const std::string& text) { return text.empty() ? std::string(".") : text; };
  std::string text = or_dot(info.verb) + " " + or_dot(info.group) + "/" + info.version + " " +
                     or_dot(info.namespace_) + " " + info.resource;
  if (!info.subresource.empty()) text += "/" + info.subresource;
  text += " " + or_dot(info.name);
  if (info.trailing) text += " trailing";
  if (info.long_running) text += " long";
  return text;
}

std::string Info(std::string_view method, std::string_view target) {
  const size_t at = target.find('?');
  const Query query = Query::Parse(at == target.npos ? std::string_view() : target.substr(at + 1));
  Result<RequestInfo> info = ParseRequestInfo(method, target, query);
  return info.ok() ? Show(*info) : info.status().message();
}

TEST(RequestInfo, ParsesResourcePaths) {
  const struct {
    std::string_view method, target, want;
  } kCases[] = {
      {"GET", "/api/v1/pods", "list ./v1 . pods ."},
      {"GET", "/api/v1/pods/", "list ./v1 . pods ."},
      {"GET", "/api/v1/namespaces/ns/pods", "list ./v1 ns pods ."},
      {"GET", "/api/v1/namespaces/ns/pods/p", "get ./v1 ns pods p"},
      {"HEAD", "/api/v1/namespaces/ns/pods/p", "get ./v1 ns pods p"},
      {"POST", "/api/v1/namespaces/ns/pods", "create ./v1 ns pods ."},
      {"PUT", "/api/v1/namespaces/ns/pods/p", "update ./v1 ns pods p"},
      {"PATCH", "/api/v1/namespaces/ns/pods/p/status", "patch ./v1 ns pods/status p"},
      {"DELETE", "/api/v1/namespaces/ns/pods/p", "delete ./v1 ns pods p"},
      {"DELETE", "/api/v1/namespaces/ns/pods", "deletecollection ./v1 ns pods ."},
      {"OPTIONS", "/api/v1/pods", ". ./v1 . pods ."},
      {"GET", "/apis/apps/v1/namespaces/ns/deployments/d/scale",
       "get apps/v1 ns deployments/scale d"},
      {"GET", "/apis/rbac.authorization.k8s.io/v1/clusterroles/admin",
       "get rbac.authorization.k8s.io/v1 . clusterroles admin"},
  };
  for (const auto& c : kCases) EXPECT_EQ(Info(c.method, c.target), c.want) << c.target;
}

TEST(RequestInfo, NamespacesAreResources) {
  EXPECT_EQ(Info("GET", "/api/v1/namespaces"), "list ./v1 . namespaces .");
  EXPECT_EQ(Info("GET", "/api/v1/namespaces/ns"), "get ./v1 ns namespaces ns");
  EXPECT_EQ(Info("PUT", "/api/v1/namespaces/ns/status"), "update ./v1 ns namespaces/status ns");
  EXPECT_EQ(Info("PUT", "/api/v1/namespaces/ns/finalize"), "update ./v1 ns namespaces/finalize ns");
}

TEST(RequestInfo, WatchIsSelectedByQueryOrLegacyPath) {
  const struct {
    std::string_view target, want;
  } kCases[] = {
      {"/api/v1/pods?watch=true", "watch ./v1 . pods . long"},
      {"/api/v1/pods?watch=1", "watch ./v1 . pods . long"},
      {"/api/v1/pods?watch", "watch ./v1 . pods . long"},
      {"/api/v1/pods?watch=false", "list ./v1 . pods ."},
      {"/api/v1/pods?watch=0", "list ./v1 . pods ."},
      {"/api/v1/watch/pods", "watch ./v1 . pods . long"},
      {"/api/v1/watch/namespaces/ns/pods/p", "watch ./v1 ns pods p long"},
      {"/api/v1/watch", "list ./v1 . watch ."},  // not an existing resource, but a valid path
      // A path with a name is a get, even with watch=true.
      {"/api/v1/namespaces/ns/pods/p?watch=true", "get ./v1 ns pods p"},
  };
  for (const auto& c : kCases) EXPECT_EQ(Info("GET", c.target), c.want) << c.target;
}

TEST(RequestInfo, FieldSelectorOnNameSetsName) {
  const std::string path = "/api/v1/namespaces/ns/pods?fieldSelector=";
  EXPECT_EQ(Info("GET", path + "metadata.name%3Dp"), "list ./v1 ns pods p");
  EXPECT_EQ(Info("GET", path + "metadata.name%3Dp&watch=1"), "watch ./v1 ns pods p long");
  EXPECT_EQ(Info("GET", path + "metadata.name%3Dp,spec.nodeName%3Dn"), "list ./v1 ns pods p");
  for (std::string_view other : {"metadata.name!%3Dp", "spec.nodeName%3Dn", "metadata.name%3D..",
                                 "metadata.name%3Da%2Fb", "%3D%3D%3D"}) {
    EXPECT_EQ(Info("GET", path + std::string(other)), "list ./v1 ns pods .") << other;
  }
  EXPECT_EQ(Info("DELETE", path + "metadata.name%3Dp"), "deletecollection ./v1 ns pods .");
}

TEST(RequestInfo, StreamSubresourcesAreLongRunning) {
  for (std::string_view sub : {"exec", "attach", "portforward", "log", "proxy"}) {
    const std::string path = "/api/v1/namespaces/ns/pods/p/" + std::string(sub);
    EXPECT_EQ(Info("GET", path), "get ./v1 ns pods/" + std::string(sub) + " p long");
  }
  EXPECT_EQ(Info("GET", "/api/v1/namespaces/ns/pods/p/status"), "get ./v1 ns pods/status p");
}

TEST(RequestInfo, NonResourcePathsUseMethodAsVerb) {
  EXPECT_EQ(Info("GET", "/"), "get /");
  EXPECT_EQ(Info("GET", "/api"), "get /api");
  EXPECT_EQ(Info("POST", "/api/v1"), "post /api/v1");
  EXPECT_EQ(Info("GET", "/apis/apps/v1/"), "get /apis/apps/v1/");
  EXPECT_EQ(Info("GET", "/healthz?verbose"), "get /healthz");
}

TEST(RequestInfo, MalformedPathsAreParsedSafelyOrRejected) {
  const struct {
    std::string_view target, want;
  } kCases[] = {
      {"/api/v1/namespaces/ns/pods/p/status/more", "get ./v1 ns pods/status p trailing"},
      {"/api/v1/proxy/namespaces/ns/pods/p", "get ./v1 . proxy/ns namespaces trailing"},
      {"/api/v1/namespaces/ns/pods/%2e%2e", "get ./v1 ns pods .."},
      {"/api/v1/namespaces/ns%2Fpods%2Fp", "get ./v1 ns pods p"},
      {"/api/v1/namespaces//pods", "list ./v1 . pods ."},
      {"/api/v1//pods", "get ./v1 .  pods"},
      {"/api/v1/pods/%zz", "invalid URL escape in the path"},
      {"/api/v1/pods/%4", "invalid URL escape in the path"},
      {"/api/v1/pods/%", "invalid URL escape in the path"},
      {"", "get "},
      {"//", "get //"},
      {"/apis//v1/pods", "list ./v1 . pods ."},
  };
  for (const auto& c : kCases) EXPECT_EQ(Info("GET", c.target), c.want) << c.target;
}

TEST(Query, SkipsPairsThatCannotBeDecoded) {
  const Query query = Query::Parse("a=1&b=x+y%21&a=2&=3&c&bad=%zz&d=1;e=2&&");
  EXPECT_EQ(query.Get("a"), "1");
  EXPECT_EQ(query.All("a"), (std::vector<std::string>{"1", "2"}));
  EXPECT_EQ(query.Get("b"), "x y!");
  EXPECT_TRUE(query.Has("c"));
  EXPECT_EQ(query.Get("c"), "");
  EXPECT_FALSE(query.Has("bad"));
  EXPECT_FALSE(query.Has("d"));
  EXPECT_EQ(query.Find("none"), nullptr);
}

TEST(Query, FlagsAreTrueUnlessFalseOrZero) {
  const Query query = Query::Parse("yes=true&bare&odd=maybe&no=false&No=FALSE&zero=0");
  for (std::string_view name : {"yes", "bare", "odd"}) EXPECT_TRUE(query.Flag(name)) << name;
  for (std::string_view name : {"no", "No", "zero", "absent"}) EXPECT_FALSE(query.Flag(name));
}

TEST(Query, IntegersParseLikeGo) {
  const struct {
    std::string_view text, want;
  } kCases[] = {
      {"", "none"},
      {"7", "7"},
      {"%2B7", "7"},
      {"-7", "-7"},
      {"007", "7"},
      {"9223372036854775807", "9223372036854775807"},
      {"9223372036854775808",
       "strconv.ParseInt: parsing \"9223372036854775808\": value out of range"},
      {"-9223372036854775809",
       "strconv.ParseInt: parsing \"-9223372036854775809\": value out of range"},
      {"1x", "strconv.ParseInt: parsing \"1x\": invalid syntax"},
      {"x", "strconv.ParseInt: parsing \"x\": invalid syntax"},
      {"%2B", "strconv.ParseInt: parsing \"+\": invalid syntax"},
      {"%2B-1", "strconv.ParseInt: parsing \"+-1\": invalid syntax"},
      {"1.5", "strconv.ParseInt: parsing \"1.5\": invalid syntax"},
  };
  for (const auto& c : kCases) {
    Result<std::optional<int64_t>> value = Query::Parse("n=" + std::string(c.text)).Int("n");
    const std::string shown = !value.ok()          ? value.status().message()
                              : value->has_value() ? std::to_string(**value)
                                                   : "none";
    EXPECT_EQ(shown, c.want) << c.text;
  }
}

}  // namespace
}  // namespace cox::apiserver
