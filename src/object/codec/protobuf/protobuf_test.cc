// SPDX-License-Identifier: Apache-2.0
#include "object/codec/protobuf/protobuf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/apiextensions/v1.h"
#include "api/authentication/v1.h"
#include "api/core/v1.h"
#include "object/codec/protobuf/wire.h"
#include "object/type/equal.h"
#include "object/type/limits.h"

namespace cox::proto {
namespace {

using namespace std::string_literals;  // NOLINT: bytes with zeros in them

TEST(WireReader, VarintsOfEveryLength) {
  for (uint64_t value : {uint64_t{0}, uint64_t{127}, uint64_t{128}, uint64_t{300},
                         uint64_t{1} << 35, ~uint64_t{0}}) {
    BackWriter writer;
    writer.Varint(value);
    WireReader reader(writer.view());
    uint64_t again;
    ASSERT_TRUE(reader.Varint(&again));
    EXPECT_EQ(again, value);
    EXPECT_TRUE(reader.done());
  }
  uint64_t value;
  EXPECT_FALSE(WireReader("").Varint(&value));
  EXPECT_FALSE(WireReader("\x80").Varint(&value));
  EXPECT_FALSE(WireReader(std::string(11, '\x80')).Varint(&value));
}

TEST(WireReader, RejectsLengthsBeyondTheEnd) {
  std::string_view bytes;
  EXPECT_FALSE(WireReader("\x05"
                          "abcd")
                   .Bytes(&bytes));
  EXPECT_FALSE(WireReader("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01").Bytes(&bytes));
  EXPECT_TRUE(WireReader("\x04"
                         "abcd")
                  .Bytes(&bytes));
}

TEST(WireReader, SkipsGroupsWithoutRecursion) {
  std::string nested(100'000, '\x0b');  // start of group 1, repeatedly
  nested += std::string(100'000, '\x0c');
  WireReader reader(nested);
  uint64_t tag;
  ASSERT_TRUE(reader.Tag(&tag));
  EXPECT_TRUE(reader.Skip(tag));
  EXPECT_TRUE(reader.done());
  WireReader open(std::string_view(nested).substr(0, 10));
  ASSERT_TRUE(open.Tag(&tag));
  EXPECT_FALSE(open.Skip(tag));
}

TEST(BackWriter, GrowsWithoutLosingBytes) {
  BackWriter writer(1);
  std::string expected;
  for (int i = 0; i < 1000; ++i) {
    writer.Raw(std::to_string(i));
    expected.insert(0, std::to_string(i));
  }
  EXPECT_EQ(writer.view(), expected);
}

TEST(Protobuf, WritesZeroValuesButNotAbsentOnes) {
  // name "", containerPort 0, ..., hostIP are not pointers, so they are always encoded.
  EXPECT_EQ(Encode(core::v1::ContainerPort{}), "\x0a\x00\x10\x00\x18\x00\x22\x00\x2a\x00"s);
  EXPECT_EQ(Encode(core::v1::Affinity{}), "");
  EXPECT_EQ(Encode(core::v1::EnvVar{.name = "A", .value = "b"}),
            "\x0a\x01"
            "A\x12\x01"
            "b"s);
  core::v1::Affinity affinity;
  affinity.podAffinity.emplace();
  EXPECT_EQ(Encode(affinity), "\x12\x00"s);
}

TEST(Protobuf, SingleValueMessages) {
  core::v1::ServicePort port;
  port.targetPort = "http";
  auto again = Decode<core::v1::ServicePort>(Encode(port));
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->targetPort, IntOrString("http"));
  port.targetPort = -1;
  again = Decode<core::v1::ServicePort>(Encode(port));
  EXPECT_EQ(again->targetPort, IntOrString(-1));

  // A time keeps only its seconds; the zero time is an empty message.
  core::v1::ContainerStateRunning state{.startedAt = Time::FromUnix(1'700'000'000, 999)};
  auto running = Decode<core::v1::ContainerStateRunning>(Encode(state));
  EXPECT_EQ(running->startedAt, Time::FromUnix(1'700'000'000));
  EXPECT_EQ(Encode(core::v1::ContainerStateRunning{}), "\x0a\x00"s);
  EXPECT_TRUE(Decode<core::v1::ContainerStateRunning>("\x0a\x00"s)->startedAt.IsZero());
}

TEST(Protobuf, DecodesPackedAndUnpackedNumbers) {
  core::v1::PodSecurityContext context{.supplementalGroups = {1, 300, -2}};
  std::string unpacked = Encode(context);
  auto again = Decode<core::v1::PodSecurityContext>(unpacked);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->supplementalGroups, context.supplementalGroups);
  // Field 4 (supplementalGroups) packed: 1, 300.
  auto packed = Decode<core::v1::PodSecurityContext>("\x22\x03\x01\xac\x02"s);
  ASSERT_TRUE(packed.ok()) << packed.status().message();
  EXPECT_THAT(packed->supplementalGroups, testing::ElementsAre(1, 300));
}

TEST(Protobuf, MapsAreSortedAndDecodedWithFieldsInAnyOrder) {
  core::v1::ConfigMap map{.data = {{"b", "2"}, {"a", "1"}}};
  std::string bytes = Encode(map);
  EXPECT_LT(bytes.find("\x0a\x01"
                       "a"),
            bytes.find("\x0a\x01"
                       "b"));
  // data is field 2: an entry with the value first, one without a value, one without a key.
  auto odd = Decode<core::v1::ConfigMap>("\x12\x06\x12\x01v\x0a\x01k\x12\x03\x0a\x01x\x12\x00"s);
  ASSERT_TRUE(odd.ok()) << odd.status().message();
  EXPECT_EQ(*odd->data.Get("k"), "v");
  EXPECT_EQ(*odd->data.Get("x"), "");
  EXPECT_EQ(*odd->data.Get(""), "");
}

TEST(Protobuf, NamedSlicesAreEncodedAsMessages) {
  authentication::v1::UserInfo user{.username = "u", .extra = {{"scopes", {"a", "b"}}}};
  auto again = Decode<authentication::v1::UserInfo>(Encode(user));
  ASSERT_TRUE(again.ok());
  EXPECT_TRUE(DeepEqual(*again, user));
}

TEST(Protobuf, UnknownFieldsAreDropped) {
  // Field 100 of every wire type, then name (1).
  std::string bytes =
      "\xa0\x06\x05"
      "\xa1\x06"
      "12345678"
      "\xa2\x06\x02xy"
      "\xa5\x06"
      "1234"
      "\x0a\x01n"s;
  auto port = Decode<core::v1::ContainerPort>(bytes);
  ASSERT_TRUE(port.ok()) << port.status().message();
  EXPECT_EQ(port->name, "n");
}

TEST(Protobuf, MalformedBytesAreErrors) {
  for (const std::string& bytes : {
           "\x0a"s,  // no length
           "\x0a\x05"
           "ab"s,         // too short
           "\x18\xff"s,   // varint without end
           "\x00\x00"s,   // field number 0
           "\x07\x00"s,   // wire type 7
           "\x08\x01"s,   // wrong wire type for name
           "\x1a\x01x"s,  // wrong wire type for containerPort
           "\x0c"s,       // end of a group without start
       }) {
    Status status = Decode<core::v1::ContainerPort>(bytes).status();
    EXPECT_TRUE(status.Is(Reason::kBadRequest)) << testing::PrintToString(bytes);
  }
  EXPECT_EQ(Decode<core::v1::ContainerPort>("\x08\x01"s).status().message(),
            "proto: wrong wireType = 0 for field name");
}

TEST(Protobuf, DepthIsLimited) {
  // JSONSchemaProps.not: a schema in a schema.
  auto nested = [](int depth) {
    apiextensions::v1::JSONSchemaProps schema;
    for (int i = 0; i < depth; ++i) {
      apiextensions::v1::JSONSchemaProps outer;
      outer.not_ = std::move(schema);
      schema = std::move(outer);
    }
    return Encode(schema);
  };
  EXPECT_TRUE(Decode<apiextensions::v1::JSONSchemaProps>(nested(limits::kMaxTypedDepth - 1)).ok());
  EXPECT_EQ(
      Decode<apiextensions::v1::JSONSchemaProps>(nested(limits::kMaxTypedDepth)).status().message(),
      "proto: exceeded max depth");
}

TEST(Envelope, HeadAndTailMatchTheBytesOfSeal) {
  core::v1::ConfigMap map{.metadata = {.name = "m"}, .data = {{"k", std::string(300, 'v')}}};
  std::string sealed;
  Seal("v1", "ConfigMap", core::v1::ConfigMap::kType, &map, &sealed);
  const std::string raw = Encode(map);
  EXPECT_EQ(EnvelopeHead("v1", "ConfigMap", raw.size()) + raw + std::string(kEnvelopeTail), sealed);
}

TEST(Envelope, RoundTripsThroughSealAndOpen) {
  core::v1::ConfigMap map{.metadata = {.name = "m"}, .data = {{"k", "v"}}};
  std::string bytes;
  Seal("v1", "ConfigMap", core::v1::ConfigMap::kType, &map, &bytes);
  EXPECT_TRUE(HasEnvelope(bytes));
  auto envelope = Open(bytes);
  ASSERT_TRUE(envelope.ok());
  EXPECT_EQ(envelope->api_version, "v1");
  EXPECT_EQ(envelope->kind, "ConfigMap");
  EXPECT_EQ(envelope->content_type, "");
  auto again = Decode<core::v1::ConfigMap>(envelope->raw);
  ASSERT_TRUE(again.ok());
  EXPECT_TRUE(DeepEqual(*again, map));
}

TEST(Envelope, RejectsOtherBytes) {
  EXPECT_FALSE(Open("{}").ok());
  EXPECT_FALSE(Open("").ok());
  EXPECT_FALSE(Open("k8s\0\x0a\x05"s).ok());
  EXPECT_TRUE(Open("k8s\0"s).ok());  // without a kind, which the caller checks
}

}  // namespace
}  // namespace cox::proto
