// SPDX-License-Identifier: Apache-2.0
#include "storage/etcd/messages.h"

#include <gtest/gtest.h>

#include <string>

namespace cox::storage::etcd {
namespace {

std::string Body(const Message& message) { return std::string(message.framed().substr(5)); }

TEST(Messages, RequestsHaveTheGrpcPrefix) {
  RangeRequest request;
  request.key = "ab";
  EXPECT_EQ(Encode(request).framed(), std::string_view("\0\0\0\0\x04\x0a\x02"
                                                       "ab",
                                                       9));
}

// The expected bytes are those of etcd's own client.
TEST(Messages, RequestsMatchTheBytesOfEtcdsClient) {
  RangeRequest range;
  range.key = "a";
  range.range_end = "b";
  range.limit = 5;
  range.revision = 300;
  range.keys_only = true;
  EXPECT_EQ(Body(Encode(range)), std::string("\x0a\x01"
                                             "a\x12\x01"
                                             "b\x18\x05\x20\xac\x02\x40\x01"));
  TxnRequest put;
  put.key = "k";
  put.put = "v";
  put.lease = 9;
  EXPECT_EQ(Body(Encode(put)),
            std::string("\x0a\x07\x10\x02\x1a\x01k\x30\x00"           // mod_revision(k) == 0
                        "\x12\x0a\x12\x08\x0a\x01k\x12\x01v\x18\x09"  // put
                        "\x1a\x05\x0a\x03\x0a\x01k",                  // range
                        9 + 12 + 7));
  TxnRequest deletion;
  deletion.key = "k";
  deletion.equals = 7;
  EXPECT_EQ(Body(Encode(deletion)), std::string("\x0a\x07\x10\x02\x1a\x01k\x30\x07"
                                                "\x12\x05\x1a\x03\x0a\x01k"
                                                "\x1a\x05\x0a\x03\x0a\x01k"));
  EXPECT_EQ(Body(Encode(WatchCreateRequest{"/p/", 12})),
            std::string("\x0a\x10\x0a\x03/p/\x12\x03/p0\x18\x0c\x20\x01\x40\x01"));
  EXPECT_EQ(Body(EncodeWatchProgress()), std::string("\x1a\x00", 2));
}

TEST(Messages, PrefixEndIsTheFirstKeyAfterThePrefix) {
  EXPECT_EQ(PrefixEnd("/registry/pods/"), "/registry/pods0");
  EXPECT_EQ(PrefixEnd("a\xff"), "b");
  EXPECT_EQ(PrefixEnd("\xff\xff"), std::string(1, '\0'));
}

const std::string kWatchBytes(
    "\x0a\x02\x18\x09"                            // header: revision 9
    "\x10\x03\x20\x01\x28\x04\x32\x02no\x38\x01"  // id, canceled, compacted, reason, fragment
    "\x5a\x0d\x12\x0b\x0a\x01k\x10\x05\x18\x05\x2a\x02vv"  // created at 5
    "\x5a\x09\x08\x01\x12\x05\x0a\x01k\x18\x08"            // deleted at 8
    "\xf8\x07\x01");                                       // an unknown field

TEST(Messages, DecodesWatchResponse) {
  const auto response = DecodeWatch(kWatchBytes);
  ASSERT_TRUE(response.ok()) << response.status().ToString();
  EXPECT_EQ(response->revision, 9);
  EXPECT_EQ(response->watch_id, 3);
  EXPECT_TRUE(response->canceled);
  EXPECT_FALSE(response->created);
  EXPECT_EQ(response->compact_revision, 4);
  EXPECT_EQ(response->cancel_reason, "no");
  EXPECT_TRUE(response->fragment);
  ASSERT_EQ(response->events.size(), 2U);
  EXPECT_TRUE(response->events[0].created);
  EXPECT_EQ(response->events[0].kv.value.view(), "vv");
  EXPECT_EQ(response->events[1].type, Event::Type::kDelete);
  EXPECT_EQ(response->events[1].kv.revision, 8);
}

TEST(Messages, DecodingTruncatedOrDamagedBytesDoesNotCrash) {
  for (size_t size = 0; size < kWatchBytes.size(); ++size) {
    const std::string cut = kWatchBytes.substr(0, size);
    (void)DecodeWatch(cut);
    (void)DecodeRange(cut);
    (void)DecodeTxn(cut);
    (void)DecodeLeaseGrant(cut);
    (void)DecodeStatus(cut);
    for (const char damage : {'\x00', '\x7f', '\xff'}) {
      std::string damaged = kWatchBytes;
      damaged[size] = damage;
      (void)DecodeWatch(damaged);
      (void)DecodeTxn(damaged);
    }
  }
  EXPECT_TRUE(DecodeWatch("\x0a\x7f").status().Is(Reason::kInternalError));
}

TEST(Messages, LargeValueSharesTheResponseBufferAndSmallOnesAreCopied) {
  const auto range = [](size_t size) {
    proto::BackWriter writer;
    size_t kv = writer.size();
    writer.BytesField(5, std::string(size, 'x'));
    writer.BytesField(1, "k");
    writer.MessageField(2, kv);
    return std::string(writer.view());
  };
  std::string message = range(1000);
  const char* memory = message.data();
  const auto one = DecodeRange(std::move(message));
  EXPECT_GE(one->kvs[0].value.data(), memory);
  EXPECT_LT(one->kvs[0].value.data(), memory + 1010);

  message = range(1000) + range(1000) + range(1000);
  memory = message.data();
  const auto three = DecodeRange(std::move(message));
  ASSERT_EQ(three->kvs.size(), 3U);
  for (const KeyValue& kv : three->kvs) {
    EXPECT_TRUE(kv.value.data() < memory || kv.value.data() >= memory + 3030);
    EXPECT_EQ(kv.value.view(), std::string(1000, 'x'));
  }
}

}  // namespace
}  // namespace cox::storage::etcd
