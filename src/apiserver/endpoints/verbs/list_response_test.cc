// SPDX-License-Identifier: Apache-2.0
#include "apiserver/endpoints/verbs/list_response.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "api/core/v1.h"
#include "apiserver/testing/call_harness.h"
#include "net/gzip.h"
#include "object/codec.h"
#include "object/codec/json/json.h"

namespace cox::apiserver {
namespace {

constexpr std::string_view kListedMaps = "/api/v1/namespaces/default/configmaps";
constexpr std::string_view kProtobufType = "application/vnd.kubernetes.protobuf";
// The size of the data of each object: 200 of them exceed the size up to which lists are encoded at
// once.
constexpr size_t kDataSize = 10'000;
constexpr int kObjects = 200;

class ListResponseTest : public ::testing::Test {
 protected:
  void CreateObjects() {
    for (int i = 0; i < kObjects; ++i) {
      FakeCall created =
          api_.Do({.method = "POST",
                   .target = std::string(kListedMaps),
                   .body = R"({"metadata":{"name":")" + Name(i) + R"("},"data":{"k":")" +
                           std::string(kDataSize, static_cast<char>('a' + i % 26)) + R"("}})"});
      ASSERT_EQ(created.exchange().status(), 201);
    }
    api_.Sync(core::v1::ConfigMap::kKind);
  }
  static std::string Name(int i) { return "map-" + std::to_string(1000 + i); }

  FakeCall List(const std::string& accept, const std::string& query = "") {
    FakeCall call = api_.Do({.target = std::string(kListedMaps) + "?resourceVersion=0" + query,
                             .headers = {{"accept", accept}}});
    EXPECT_EQ(call.exchange().status(), 200);
    EXPECT_EQ(
        call.exchange().Header("content-type"),
        accept.substr(0, accept.find(';')) == kProtobufType ? kProtobufType : "application/json");
    return call;
  }
  // The body of a stream, pulled in small steps.
  static std::string Stream(FakeCall& call) {
    EXPECT_EQ(call.exchange().Body(), "") << "the list was not streamed";
    std::string body = call.exchange().Pull(/*budget=*/1000);
    EXPECT_TRUE(body.ends_with("<end>"));
    return body.substr(0, body.size() - 5);
  }

  ApiHarness api_;
};

TEST_F(ListResponseTest, LargeListsInJsonAreStreamed) {
  CreateObjects();
  const struct {
    std::string accept, items;
  } kCases[] = {
      {"application/json", "items"},
      {"application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io", "items"},
      {"application/json;as=Table;v=v1;g=meta.k8s.io", "rows"},
  };
  for (const auto& c : kCases) {
    SCOPED_TRACE(c.accept);
    FakeCall call = List(c.accept);
    const std::string body = Stream(call);
    const Result<Value> streamed = json::Parse(body);
    ASSERT_TRUE(streamed.ok()) << body.substr(0, 200);
    // Indented JSON is encoded as a whole.
    FakeCall pretty = List(c.accept, "&pretty=1");
    const Result<Value> whole = json::Parse(pretty.exchange().Body());
    ASSERT_TRUE(whole.ok());
    EXPECT_EQ(json::Write(*streamed), json::Write(*whole));
    const auto& items = streamed->Find(c.items)->as_array();
    ASSERT_EQ(items.size(), static_cast<size_t>(kObjects));
  }
}

TEST_F(ListResponseTest, LargeListsInProtobufAreStreamed) {
  CreateObjects();
  for (const std::string transform : {"", ";as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"}) {
    FakeCall call = List(std::string(kProtobufType) + transform);
    const Result<Object> list = DecodeObject(Stream(call), Format::kProtobuf, Scheme::Builtin());
    ASSERT_TRUE(list.ok()) << list.status().ToString();
    FakeCall json = List("application/json" + transform);
    const Result<Object> same = DecodeObject(Stream(json), Format::kJson, Scheme::Builtin());
    ASSERT_TRUE(same.ok()) << same.status().ToString();
    EXPECT_EQ(json::Write(list->ToValue()), json::Write(same->ToValue()));
  }
}

TEST_F(ListResponseTest, StreamHoldsOnlyWhatTheClientHasNotRead) {
  CreateObjects();
  FakeCall call = List("application/json");
  const std::unique_ptr<net::BodySource> source = call.exchange().TakeSource();
  ASSERT_NE(source, nullptr);
  size_t size = 0;
  for (net::BodySource::State state = net::BodySource::State::kMore;
       state != net::BodySource::State::kEnd;) {
    std::vector<Bytes> pieces;
    state = source->Pull(/*budget=*/50'000, &pieces);
    size_t pulled = 0;
    for (const Bytes& piece : pieces) pulled += piece.size();
    EXPECT_LT(pulled, 50'000u + 2 * kDataSize);
    size += pulled;
  }
  EXPECT_GT(size, kObjects * kDataSize);
}

// Other connections of the event loop wait during a pull, also if it decodes large objects to small
// rows.
TEST_F(ListResponseTest, PullOfTableDecodesNoMoreThanTheBudget) {
  CreateObjects();
  FakeCall call = List("application/json;as=Table;v=v1;g=meta.k8s.io");
  const std::unique_ptr<net::BodySource> source = call.exchange().TakeSource();
  ASSERT_NE(source, nullptr);
  size_t pulls = 1;
  std::vector<Bytes> pieces;
  while (source->Pull(/*budget=*/50'000, &pieces) != net::BodySource::State::kEnd) ++pulls;
  EXPECT_GE(pulls, kObjects * kDataSize / (50'000 + kDataSize));
}

TEST_F(ListResponseTest, StreamedListsAreCompressedForClientsThatAcceptIt) {
  CreateObjects();
  FakeCall plain = List("application/json");
  FakeCall packed =
      api_.Do({.target = std::string(kListedMaps) + "?resourceVersion=0",
               .headers = {{"accept", "application/json"}, {"accept-encoding", "gzip"}}});
  EXPECT_EQ(packed.exchange().Header("content-encoding"), "gzip");
  EXPECT_EQ(net::Gunzip(Stream(packed)), Stream(plain));
}

TEST_F(ListResponseTest, DeleteCollectionRespondsInTheAcceptedFormat) {
  for (const std::string_view accept : {std::string_view("application/json"), kProtobufType}) {
    ASSERT_EQ(api_.Do({.method = "POST",
                       .target = std::string(kListedMaps),
                       .body = R"({"metadata":{"name":"a"}})"})
                  .exchange()
                  .status(),
              201);
    FakeCall deleted = api_.Do({.method = "DELETE",
                                .target = std::string(kListedMaps),
                                .headers = {{"accept", std::string(accept)}}});
    const Result<Object> list = DecodeObject(
        deleted.exchange().Body(), accept == kProtobufType ? Format::kProtobuf : Format::kJson,
        Scheme::Builtin());
    ASSERT_TRUE(list.ok()) << accept << ": " << list.status().ToString();
    ASSERT_NE(list->As<core::v1::ConfigMapList>(), nullptr);
    EXPECT_EQ(list->As<core::v1::ConfigMapList>()->items.size(), 1u);
  }
}

}  // namespace
}  // namespace cox::apiserver
