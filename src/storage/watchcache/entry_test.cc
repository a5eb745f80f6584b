// SPDX-License-Identifier: Apache-2.0
#include "storage/watchcache/entry.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "api/core/v1.h"
#include "storage/testing/test_support.h"

namespace cox::storage {
namespace {

Entry::Make Encoder(size_t size, int* made = nullptr) {
  return [size, made](const Entry& entry) -> Result<Bytes> {
    if (made != nullptr) ++*made;
    std::string text(entry.key());
    text.resize(size, '.');
    return Bytes::Copy(text);
  };
}

TEST(EntryTest, HoldsKeyHeadAndBytes) {
  const EntryPtr entry = TestEntry("/registry/pods/ns/web", "app=web,tier=front", 7);
  EXPECT_EQ(entry->key(), "/registry/pods/ns/web");
  EXPECT_EQ(entry->name(), "web");
  EXPECT_EQ(entry->stored(), "app=web,tier=front");
  EXPECT_EQ(entry->revision(), 7);
  EXPECT_EQ(entry->labels()("tier"), "front");
}

TEST(EntryTest, IdentityIsReadFromKeyAndHead) {
  const auto type = [](bool namespaced) {
    return std::make_shared<const EntryClass>(
        EntryClass{.encodings = std::make_shared<EncodingBudget>(), .namespaced = namespaced});
  };
  HeadBuilder head(0);
  head.Uid("uid-1");
  const EntryPtr pod =
      Entry::Create(type(true), "/registry/pods/ns/web", "bytes", head.Finish(), 7);
  EXPECT_EQ(pod->ns(), "ns");
  EXPECT_EQ(pod->name(), "web");
  EXPECT_EQ(pod->uid(), "uid-1");
  EXPECT_EQ(pod->version(), 7);
  const EntryPtr node =
      Entry::Create(type(false), "/registry/minions/n1", "bytes", head.Finish(), 8);
  EXPECT_EQ(node->ns(), "");
  EXPECT_EQ(node->name(), "n1");
  EXPECT_EQ(node->uid(), "") << "it could not be decoded";
  EXPECT_EQ(Entry::CreateDeleted(pod, 9)->version(), 9);
}

TEST(EntryTest, SharedBytesOutliveTheEntry) {
  Bytes value;
  Bytes deleted;
  {
    const EntryPtr entry = TestEntry("/k", "some bytes");
    value = entry->value();
    deleted = Entry::CreateDeleted(entry, 9)->value();
  }
  EXPECT_EQ(value.view(), "some bytes");
  EXPECT_EQ(deleted.view(), "some bytes");
}

TEST(EntryTest, DeletedEntryIsLastStateWithRevisionOfDeletion) {
  EntryPtr entry = TestEntry("/k", "app=web", 3);
  const EntryPtr deleted = Entry::CreateDeleted(entry, 9);
  const char* const bytes = entry->stored().data();
  entry = nullptr;
  EXPECT_EQ(deleted->key(), "/k");
  EXPECT_EQ(deleted->revision(), 9);
  EXPECT_EQ(deleted->labels()("app"), "web");
  EXPECT_EQ(deleted->stored().data(), bytes) << "the bytes are there once";
}

TEST(EncodingTest, IsCreatedOncePerSlot) {
  const EntryPtr entry = TestEntry("/k");
  int made = 0;
  const Bytes first = *entry->Encoding(0, Encoder(100, &made));
  const Bytes again = *entry->Encoding(0, Encoder(100, &made));
  EXPECT_EQ(made, 1);
  EXPECT_EQ(first.data(), again.data());
  ASSERT_TRUE(entry->Encoding(1, Encoder(50, &made)).ok());
  EXPECT_EQ(made, 2);
  EXPECT_EQ(entry->Encoding(1, Encoder(1))->size(), 50u);
}

TEST(EncodingTest, ErrorsAreNotCached) {
  const EntryPtr entry = TestEntry("/k");
  const auto fail = [](const Entry&) -> Result<Bytes> { return Status::Internal("no"); };
  EXPECT_FALSE(entry->Encoding(0, fail).ok());
  EXPECT_TRUE(entry->Encoding(0, Encoder(10)).ok());
}

TEST(EncodingTest, IsFreedWithItsEntry) {
  const EntryClassPtr type = TestClass();
  EntryPtr entry = TestEntry("/k", "v", 1, type);
  const Bytes held = *entry->Encoding(0, Encoder(1000));
  ASSERT_TRUE(entry->Encoding(1, Encoder(1000)).ok());
  EXPECT_GE(type->encodings->bytes(), 2000u);
  entry = nullptr;
  EXPECT_EQ(type->encodings->bytes(), 0u);
  EXPECT_EQ(held.size(), 1000u) << "who holds it keeps it";
}

TEST(EncodingTest, StaysWithinTheBudget) {
  const EntryClassPtr type = TestClass(100'000);
  std::vector<EntryPtr> entries;
  for (int i = 0; i < 500; ++i) {
    entries.push_back(TestEntry("/k" + std::to_string(i), "v", 1, type));
    ASSERT_TRUE(entries.back()->Encoding(0, Encoder(1000)).ok());
    ASSERT_LE(type->encodings->bytes(), 100'000u);
  }
  EXPECT_GT(type->encodings->bytes(), 80'000u) << "and uses it";
}

TEST(EncodingTest, EncodingTooLargeForTheBudgetIsNotCached) {
  const EntryPtr entry = TestEntry("/k", "v", 1, TestClass(1000));
  int made = 0;
  EXPECT_EQ(entry->Encoding(0, Encoder(5000, &made))->size(), 5000u);
  EXPECT_EQ(entry->Encoding(0, Encoder(5000, &made))->size(), 5000u);
  EXPECT_EQ(made, 2);
}

// Decodes to a ConfigMap of the given revision with `payload` bytes of data.
EntryClassPtr DecodingClass(std::shared_ptr<EncodingBudget> budget, size_t payload, int* made) {
  return std::make_shared<const EntryClass>(
      EntryClass{.encodings = std::move(budget),
                 .decode = [payload, made](std::string_view value, Revision revision) -> ObjectPtr {
                   ++*made;
                   core::v1::ConfigMap map;
                   map.metadata.name = value;
                   map.metadata.resourceVersion = std::to_string(revision);
                   map.data["text"] = std::string(payload, '.');
                   return std::make_shared<const Object>(Object::Of(std::move(map)));
                 }});
}

TEST(DecodedObjectTest, IsCreatedOnceAndSharedByItsReaders) {
  int made = 0;
  const EntryPtr entry =
      TestEntry("/k", "web", 3, DecodingClass(std::make_shared<EncodingBudget>(), 100, &made));
  const ObjectPtr first = entry->Decode();
  EXPECT_EQ(first->object_meta()->name, "web");
  EXPECT_EQ(first->object_meta()->resourceVersion, "3");
  EXPECT_EQ(entry->Decode(), first);
  EXPECT_EQ(made, 1);
}

TEST(DecodedObjectTest, DeletedEntryIsDecodedWithRevisionOfDeletion) {
  int made = 0;
  const EntryPtr entry =
      TestEntry("/k", "web", 3, DecodingClass(std::make_shared<EncodingBudget>(), 100, &made));
  EXPECT_EQ(entry->Decode()->object_meta()->resourceVersion, "3");
  EXPECT_EQ(Entry::CreateDeleted(entry, 9)->Decode()->object_meta()->resourceVersion, "9");
}

TEST(DecodedObjectTest, SharesTheBudgetWithEncodings) {
  constexpr size_t kLimit = 100'000;
  const auto budget = std::make_shared<EncodingBudget>(kLimit);
  int made = 0;
  const EntryClassPtr type = DecodingClass(budget, 1000, &made);
  std::vector<EntryPtr> entries;
  for (int i = 0; i < 500; ++i) {
    entries.push_back(TestEntry("/k" + std::to_string(i), "web", 1, type));
    EXPECT_EQ(entries.back()->Decode()->object_meta()->name, "web");
    ASSERT_TRUE(entries.back()->Encoding(0, Encoder(100)).ok());
    ASSERT_LE(budget->bytes(), kLimit);
  }
  EXPECT_GT(budget->bytes(), kLimit / 2);
  const ObjectPtr held = entries.back()->Decode();
  entries.clear();
  EXPECT_EQ(budget->bytes(), 0u);
  EXPECT_EQ(held->object_meta()->name, "web") << "a reader keeps the object";
}

// Repeated lists larger than the budget: the part that fits is encoded once, and the frequently
// used encoding is never evicted.
TEST(EncodingTest, LargeListsDoNotEvictFrequentlyUsedEncodings) {
  const EntryClassPtr type = TestClass(200'000);
  std::vector<EntryPtr> list;
  for (int i = 0; i < 400; ++i) list.push_back(TestEntry("/l" + std::to_string(i), "v", 1, type));
  const EntryPtr popular = TestEntry("/popular", "v", 1, type);
  int popular_made = 0;
  int made = 0;
  for (int round = 0; round < 10; ++round) {
    for (const EntryPtr& entry : list) {
      ASSERT_TRUE(entry->Encoding(0, Encoder(1000, &made)).ok());
      ASSERT_TRUE(popular->Encoding(0, Encoder(1000, &popular_made)).ok());
    }
  }
  EXPECT_EQ(popular_made, 1);
  EXPECT_LT(made, 3400) << "of 4000; a plain LRU would make each one each time";
}

TEST(EncodingTest, BudgetIsSharedByConcurrentThreads) {
  const EntryClassPtr type = TestClass(50'000);
  std::vector<EntryPtr> entries;
  for (int i = 0; i < 64; ++i) entries.push_back(TestEntry("/k" + std::to_string(i), "v", 1, type));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&entries, t] {
      for (int i = 0; i < 4000; ++i) {
        const EntryPtr entry = entries[static_cast<size_t>(i * (t + 1)) % entries.size()];
        const Bytes bytes = *entry->Encoding(0, Encoder(1000));
        ASSERT_TRUE(bytes.view().starts_with(entry->key()));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(type->encodings->bytes(), 50'000u);
}

}  // namespace
}  // namespace cox::storage
