// SPDX-License-Identifier: Apache-2.0
#include "apiserver/request/negotiation.h"

#include <gtest/gtest.h>

namespace cox::apiserver {
namespace {

constexpr std::string_view kNone =
    "only the following media types are accepted: application/json, application/yaml, "
    "application/vnd.kubernetes.protobuf";
constexpr std::string_view kNoStream =
    "only the following media types are accepted: application/json;stream=watch, "
    "application/vnd.kubernetes.protobuf;stream=watch";
constexpr std::string_view kUnknown =
    "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, "
    "application/vnd.kubernetes.protobuf";

// "json", "yaml pretty", "json Table v1", or the error.
std::string Show(const Result<Accepted>& accepted) {
  if (!accepted.ok()) {
    EXPECT_EQ(accepted.status().code(), 406);
    return accepted.status().message();
  }
  const char* formats[] = {"json", "yaml", "protobuf"};
  std::string text = formats[static_cast<int>(accepted->format)];
  if (accepted->pretty) text += " pretty";
  switch (accepted->transform) {
    case Transform::kNone:
      return text;
    case Transform::kTable:
      text += " Table ";
      break;
    case Transform::kPartialMetadata:
      text += " Metadata ";
      break;
    case Transform::kPartialMetadataList:
      text += " MetadataList ";
      break;
  }
  return text + accepted->transform_version;
}

TEST(NegotiateResource, SelectsBestSupportedMediaType) {
  const struct {
    std::string_view accept, want;
  } kCases[] = {
      {"", "json"},
      {"  ", "json"},
      {"*/*", "json"},
      {"application/json", "json"},
      {"application/yaml", "yaml"},
      {"application/vnd.kubernetes.protobuf", "protobuf"},
      {"application/json;pretty=1", "json pretty"},
      {"application/json;pretty=0", "json"},
      {"application/json;charset=utf-8", "json"},
      {"text/html,application/xhtml+xml,*/*;q=0.8", "json"},
      {"application/json;q=0.5,application/yaml", "yaml"},
      {"application/json;as=Table;v=v1;g=meta.k8s.io", "json Table v1"},
      {"application/yaml;as=Table;v=v1beta1;g=meta.k8s.io", "yaml Table v1beta1"},
      {"application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io", "json Metadata v1"},
      {"application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io", "json MetadataList v1"},
      // An unsupported transform: the next alternative applies, if there is one.
      {"application/json;as=Table;v=v9;g=meta.k8s.io,application/json", "json"},
      {"application/json;as=Table;v=v9;g=meta.k8s.io", kNone},
      {"application/json;as=Bogus;v=v1;g=meta.k8s.io", kNone},
      {"application/json;as=Table", kNone},
      {"application/json;v=v1", kNone},
      {"application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io", kNone},
      // An unsupported media type.
      {"text/html", kUnknown},
      {"application/*", kUnknown},
      {"garbage", kUnknown},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(Show(NegotiateResource(c.accept, ResponseKind::kObject)), c.want) << c.accept;
  }
  EXPECT_EQ(Show(NegotiateResource(std::nullopt, ResponseKind::kObject)), "json");
}

TEST(NegotiateResource, WatchesDoNotSupportYaml) {
  EXPECT_EQ(Show(NegotiateResource("application/yaml", ResponseKind::kWatch)), kNoStream);
  EXPECT_EQ(Show(NegotiateResource("application/yaml,application/json", ResponseKind::kWatch)),
            "json");
  EXPECT_EQ(Show(NegotiateResource("application/json;stream=watch", ResponseKind::kWatch)), "json");
}

TEST(NegotiateResource, ListAndWatchErrorsNameStreamingTypes) {
  const std::string streams =
      ", application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch";
  for (const ResponseKind kind : {ResponseKind::kList, ResponseKind::kWatch}) {
    EXPECT_EQ(Show(NegotiateResource("text/html", kind)), std::string(kUnknown) + streams);
  }
}

TEST(NegotiateError, FallsBackToJson) {
  EXPECT_EQ(Show(NegotiateError("application/yaml")), "yaml");
  EXPECT_EQ(Show(NegotiateError("text/html")), "json");
  EXPECT_EQ(Show(NegotiateError(std::nullopt)), "json");
  EXPECT_EQ(Show(NegotiateError("application/json;as=Table;v=v1;g=meta.k8s.io")), "json");
}

TEST(NegotiateDiscovery, SelectsFirstSupportedAlternative) {
  const std::string v2 = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
  const std::string beta =
      "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";
  const struct {
    std::string accept;
    bool can_aggregate;
    std::string content_type;  // empty: 406
    bool aggregated;
  } kCases[] = {
      {"", true, "application/json", false},
      {"*/*", true, "application/json", false},
      {"application/*", true, "application/json", false},
      {"application/yaml", true, "application/yaml", false},
      {v2, true, v2, true},
      {v2 + "," + beta + ",application/json", true, v2, true},
      {beta + ",application/json", true, "application/json", false},
      {beta, true, "", false},
      {v2, false, "", false},
      {v2 + ", application/json", false, "application/json", false},
      {"text/html", true, "", false},
      {"application/yaml;q=0.5, application/json;q=0.9", true, "application/json", false},
      {"application/vnd.kubernetes.protobuf,application/json", true,
       "application/vnd.kubernetes.protobuf", false},
  };
  for (const auto& c : kCases) {
    const Result<DiscoveryForm> form = NegotiateDiscovery(c.accept, c.can_aggregate);
    ASSERT_EQ(form.ok(), !c.content_type.empty()) << c.accept;
    if (!form.ok()) continue;
    EXPECT_EQ(form->content_type, c.content_type) << c.accept;
    EXPECT_EQ(form->aggregated, c.aggregated) << c.accept;
  }
}

TEST(BodyFormat, FollowsContentType) {
  EXPECT_EQ(*BodyFormat(std::nullopt), Format::kJson);
  EXPECT_EQ(*BodyFormat(""), Format::kJson);
  EXPECT_EQ(*BodyFormat("application/json; charset=utf-8"), Format::kJson);
  EXPECT_EQ(*BodyFormat("application/yaml"), Format::kYaml);
  EXPECT_EQ(*BodyFormat("application/vnd.kubernetes.protobuf"), Format::kProtobuf);
  for (std::string_view type : {"text/plain", "*/*", "json", ";"}) {
    EXPECT_EQ(BodyFormat(type).status().code(), 415) << type;
  }
}

}  // namespace
}  // namespace cox::apiserver
