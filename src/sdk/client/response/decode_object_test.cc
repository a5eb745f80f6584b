// SPDX-License-Identifier: Apache-2.0
#include "sdk/client/response/decode_object.h"

#include <gtest/gtest.h>

#include "api/autoscaling/v1.h"
#include "api/core/v1.h"
#include "object/codec.h"

namespace cox::sdk {
namespace {

TEST(DecodeResponseTest, DecodesByTheDeclaredKind) {
  const Resource pods = Resource::Of<core::v1::Pod>();
  const Resource backups = Resource::Dynamic({"example.com", "v1", "Backup"}, "backups", true);
  struct Case {
    std::string_view body;
    const Resource& resource;
    const Type* type;  // null: a Value
  };
  for (const Case& c : {
           Case{R"({"kind":"Pod","apiVersion":"v1"})", pods, &core::v1::Pod::kType},
           Case{R"({"metadata":{},"apiVersion":"v1","kind":"Pod"})", pods, &core::v1::Pod::kType},
           Case{R"({"metadata":{}})", pods, &core::v1::Pod::kType},
           Case{R"({"kind":"Status","apiVersion":"v1"})", pods, &meta::v1::Status::kType},
           Case{R"({"kind":"Scale","apiVersion":"autoscaling/v1"})", backups,
                &autoscaling::v1::Scale::kType},
           Case{R"({"kind":"Backup","apiVersion":"example.com/v1"})", backups, nullptr},
           Case{R"({"kind":"Backup","apiVersion":"example.com/v2"})", backups, nullptr},
           Case{R"({"kind":"Strange","apiVersion":"example.com/v1"})", pods, nullptr},
       }) {
    const Result<Object> object = DecodeResponse(c.body, c.resource, nullptr);
    ASSERT_TRUE(object.ok()) << c.body << object.status().ToString();
    EXPECT_EQ(object->is_typed(), c.type != nullptr) << c.body;
    if (c.type != nullptr) {
      EXPECT_EQ(&object->type(), c.type) << c.body;
    }
  }
  EXPECT_EQ(DecodeResponse(R"({"kind":"Backup","apiVersion":"example.com/v2"})", backups, nullptr)
                ->gvk()
                .version,
            "v2");
}

TEST(DecodeResponseTest, MalformedBodiesAreErrors) {
  const Resource pods = Resource::Of<core::v1::Pod>();
  for (const std::string& body :
       {std::string(""), std::string("null"), std::string("<html>"), std::string("[]"),
        std::string(R"({"kind":"Pod","apiVersion":"v1","spec":[]})"),
        std::string(R"({"kind":"X","apiVersion":"a/b/c"})"), std::string("k8s\0\xff", 5)}) {
    const Result<Object> object = DecodeResponse(body, pods, nullptr);
    if (body == "null") continue;  // decoded as an empty object, as in Go
    EXPECT_FALSE(object.ok()) << body;
  }
}

TEST(DecodeResponseTest, JoinCopiesOnlySeveralPieces) {
  std::string storage;
  EXPECT_EQ(Join({}, &storage), "");
  const std::vector<Bytes> one = {Bytes("abc")};
  EXPECT_EQ(Join(one, &storage).data(), one.front().data());
  const std::vector<Bytes> two = {Bytes("ab"), Bytes("c")};
  EXPECT_EQ(Join(two, &storage), "abc");
}

}  // namespace
}  // namespace cox::sdk
