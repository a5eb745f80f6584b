// SPDX-License-Identifier: Apache-2.0
#include "sdk/client/response/watch_decoder.h"

#include <gtest/gtest.h>

#include "api/core/v1.h"
#include "object/codec/protobuf/protobuf.h"

namespace cox::sdk {
namespace {

using core::v1::ConfigMap;

ObjectForm MapForm() { return {{"", "v1", "ConfigMap"}, &ConfigMap::kKind}; }

Object MapOf(std::string name, std::string version) {
  ConfigMap map;
  map.metadata.name = std::move(name);
  map.metadata.resourceVersion = std::move(version);
  map.data["k"] = "}\n{\"";
  return Object::Of(std::move(map));
}

// Encodes an event like the server.
std::string Frame(std::string_view type, const Object& object, Format format) {
  std::string inner;
  EncodeObject(object, format, &inner);
  if (format == Format::kJson) {
    inner.pop_back();
    return "{\"type\":\"" + std::string(type) + "\",\"object\":" + inner + "}\n";
  }
  std::string raw;
  proto::AppendLengthPrefix(&raw, 1, inner.size());
  raw += inner;
  std::string event;
  proto::AppendLengthPrefix(&event, 1, type.size());
  event += type;
  proto::AppendLengthPrefix(&event, 2, raw.size());
  event += raw;
  std::string out;
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(event.size() >> shift);
  return out + event;
}

std::string SampleStream(Format format) {
  Object bookmark = MapOf("", "9");
  bookmark.As<ConfigMap>()->metadata.annotations["k8s.io/initial-events-end"] = "true";
  return Frame("ADDED", MapOf("a", "5"), format) + Frame("BOOKMARK", bookmark, format) +
         Frame("MODIFIED", MapOf("a", "10"), format) + Frame("DELETED", MapOf("a", "11"), format) +
         Frame("BOOKMARK", MapOf("", "12"), format);
}
constexpr std::string_view kSampleEvents = "A a 5;B end 9;M a 10;D a 11;B 12;";

struct Outcome {
  std::string events;
  Status status;
  bool between = false;
};

Outcome Decode(std::initializer_list<std::string_view> pieces, Format format,
               const ObjectForm& form = MapForm()) {
  Outcome out;
  WatchDecoder decoder(form, format);
  for (const std::string_view piece : pieces) {
    decoder.Feed(piece);
    while (true) {
      Result<std::optional<WatchEvent<Object>>> event = decoder.Next();
      out.status = event.status();
      if (!event.ok()) return out;
      if (!*event) break;
      const WatchEvent<Object>& e = **event;
      out.events += "AMDB"[static_cast<int>(e.type)];
      if (e.object != nullptr) out.events += " " + HeadOf(*e.object).key.name;
      if (e.initial_events_end) out.events += " end";
      out.events += " " + e.resource_version + ";";
    }
  }
  out.between = decoder.between();
  return out;
}

TEST(WatchDecoderTest, ReturnsTheSameEventsForAllSplits) {
  for (const Format format : {Format::kJson, Format::kProtobuf}) {
    const std::string stream = SampleStream(format);
    const std::string_view all = stream;
    for (size_t at = 0; at <= all.size(); ++at) {
      const Outcome out = Decode({all.substr(0, at), all.substr(at)}, format);
      ASSERT_TRUE(out.status.ok()) << at << out.status.ToString();
      ASSERT_EQ(out.events, kSampleEvents) << at;
      ASSERT_TRUE(out.between);
    }
  }
}

TEST(WatchDecoderTest, TruncatedEventIsDetected) {
  for (const Format format : {Format::kJson, Format::kProtobuf}) {
    const std::string one = Frame("ADDED", MapOf("a", "5"), format);
    for (size_t at = 1; at + 1 < one.size(); ++at) {
      const Outcome out = Decode({std::string_view(one).substr(0, at)}, format);
      ASSERT_TRUE(out.status.ok());
      ASSERT_FALSE(out.between) << at;
    }
  }
}

TEST(WatchDecoderTest, ErrorEventReturnsItsStatus) {
  Object expired(meta::v1::Status::kKind, GroupVersionKind{"", "v1", "Status"});
  auto& status = *expired.As<meta::v1::Status>();
  status.status = "Failure";
  status.reason = "Expired";
  status.code = 410;
  status.message = "too old resource version: 1 (2)";
  for (const Format format : {Format::kJson, Format::kProtobuf}) {
    const Outcome out = Decode({Frame("ERROR", expired, format)}, format);
    EXPECT_TRUE(out.status.Is(Reason::kExpired)) << out.status.ToString();
    EXPECT_EQ(out.status.message(), "too old resource version: 1 (2)");
  }
}

TEST(WatchDecoderTest, TheObjectMayComeBeforeItsType) {
  const Outcome out = Decode(
      {R"({"object":{"metadata":{"name":"x",)", R"("resourceVersion":"3"}},"type":"ADDED"})"},
      Format::kJson);
  ASSERT_TRUE(out.status.ok()) << out.status.ToString();
  EXPECT_EQ(out.events, "A x 3;");
}

TEST(WatchDecoderTest, DynamicObjectsAreValues) {
  const Outcome out =
      Decode({R"({"type":"ADDED","object":{"metadata":{"name":"x","resourceVersion":"3"}}})"},
             Format::kJson, {{"example.com", "v1", "Backup"}, nullptr});
  EXPECT_EQ(out.events, "A x 3;");
}

TEST(WatchDecoderTest, RejectsMalformedEvents) {
  for (const std::string& text : {
           std::string("x"),
           std::string("[]"),
           std::string("{}"),
           std::string(R"({"type":"GONE","object":{}})"),
           std::string(R"({"type":"ADDED","object":[]})"),
           std::string(R"({"type":"ADDED"})"),
           std::string(R"({"type":"ADDED","object":{"metadata":{]}}})"),
           std::string(R"({"type":"BOOKMARK","object":"x"})"),
           std::string(R"({"type":"ERROR","object":{"kind":"ConfigMap","apiVersion":"v1"}})"),
       }) {
    EXPECT_TRUE(Decode({text}, Format::kJson).status.Is(Reason::kInternalError)) << text;
  }
  std::string other;
  EncodeObject(Object(core::v1::Secret::kKind), Format::kProtobuf, &other);
  for (const std::string& bytes : {
           std::string("\xff\xff\xff\xff", 4),      // length of 4 GiB
           std::string("\x01\x00\x00\x01", 4),      // one byte above the limit
           std::string("\x00\x00\x00\x01\xff", 5),  // not a message
           std::string("\x00\x00\x00\x00", 4),      // empty message
           std::string("\x00\x00\x00\x07\x0a\x05"
                       "ADDED",
                       11),  // without an object
           Frame("ADDED", Object(core::v1::Secret::kKind), Format::kProtobuf),
       }) {
    EXPECT_TRUE(Decode({bytes}, Format::kProtobuf).status.Is(Reason::kInternalError)) << bytes;
  }
}

}  // namespace
}  // namespace cox::sdk
