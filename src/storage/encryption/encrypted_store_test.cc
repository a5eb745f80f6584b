// SPDX-License-Identifier: Apache-2.0
#include "storage/encryption/encrypted_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "base/testing/test_clock.h"
#include "storage/memory/memory_store.h"
#include "storage/testing/contract_test.h"
#include "storage/testing/hex.h"
#include "storage/unreadable.h"

namespace cox::storage {
namespace {

using testing::StartsWith;

TransformerPtr Gcm(std::initializer_list<std::pair<const char*, int>> keys) {
  std::vector<EncryptionKey> made;
  for (const auto& [name, first] : keys) {
    made.push_back({name, CountingKey(static_cast<unsigned char>(first), 32)});
  }
  return NewPrefixChain({NewAesGcmProvider(std::move(made))}, "no matching prefix found");
}

// The contract of Store also holds for an encrypted store.
class EncryptedBackend final : public StoreBackend {
 public:
  Store& store() override { return *store_; }
  void Pass(std::chrono::seconds time) override { clock_.Advance(time); }

 private:
  TestClock clock_;
  const std::unique_ptr<Store> memory_ = NewMemoryStore(clock_);
  const std::unique_ptr<Store> store_ = NewEncryptedStore(
      *memory_, std::make_shared<TransformerSlot>(Context(clock_), Gcm({{"a", 1}})));
};

INSTANTIATE_TEST_SUITE_P(Encrypted, StoreContract,
                         testing::Values(StoreCase{
                             "Encrypted", []() { return std::make_unique<EncryptedBackend>(); }}),
                         CaseName);

class EncryptedStoreTest : public testing::Test {
 protected:
  std::string Raw(std::string_view key) {
    return std::string(memory_->Get(ctx_, key)->kv->value.view());
  }
  KeyValue Read(std::string_view key) { return *store_->Get(ctx_, key)->kv; }

  RealClock clock_;
  Context ctx_ = Context(clock_).WithTimeout(seconds(30));
  const std::unique_ptr<Store> memory_ = NewMemoryStore(clock_);
  const std::shared_ptr<TransformerSlot> slot_ =
      std::make_shared<TransformerSlot>(ctx_, Gcm({{"a", 1}}));
  const std::unique_ptr<Store> store_ = NewEncryptedStore(*memory_, slot_);
};

TEST_F(EncryptedStoreTest, EncryptsOnWriteAndDecryptsOnRead) {
  const Revision first = *store_->Create(ctx_, "/s/a", "plain value");
  EXPECT_THAT(Raw("/s/a"), StartsWith("k8s:enc:aesgcm:v1:a:"));
  EXPECT_EQ(Raw("/s/a").find("plain"), std::string::npos);
  EXPECT_EQ(Read("/s/a").value.view(), "plain value");
  ASSERT_TRUE(store_->Update(ctx_, "/s/a", "other value", first)->written);
  EXPECT_EQ(Raw("/s/a").find("other"), std::string::npos);
  EXPECT_EQ(store_->List(ctx_, "/s/", {})->items.front().value.view(), "other value");
  // A conflict returns the current value, decrypted.
  EXPECT_EQ(store_->Update(ctx_, "/s/a", "x", first)->current->value.view(), "other value");
  EXPECT_EQ(store_->Delete(ctx_, "/s/a", first)->current->value.view(), "other value");
}

TEST_F(EncryptedStoreTest, ValueCopiedToAnotherKeyIsUnreadable) {
  ASSERT_TRUE(store_->Create(ctx_, "/s/a", "plain value").ok());
  ASSERT_TRUE(memory_->Create(ctx_, "/s/b", Raw("/s/a")).ok());
  EXPECT_EQ(WhyUnreadable(Read("/s/b").value.view()), "cipher: message authentication failed");
}

TEST_F(EncryptedStoreTest, ValuesOfAnOldKeyAreStaleUntilRewritten) {
  const Revision first = *store_->Create(ctx_, "/s/a", "v");
  EXPECT_FALSE(Read("/s/a").stale);
  slot_->Replace(Gcm({{"b", 2}, {"a", 1}}));
  EXPECT_TRUE(Read("/s/a").stale);
  ASSERT_TRUE(store_->Update(ctx_, "/s/a", "v", first)->written);
  EXPECT_FALSE(Read("/s/a").stale);
  EXPECT_THAT(Raw("/s/a"), StartsWith("k8s:enc:aesgcm:v1:b:"));
}

TEST_F(EncryptedStoreTest, UnreadableValueDoesNotAffectOthers) {
  ASSERT_TRUE(store_->Create(ctx_, "/s/a", "one").ok());
  ASSERT_TRUE(memory_->Create(ctx_, "/s/b", "not encrypted").ok());
  ASSERT_TRUE(store_->Create(ctx_, "/s/c", "three").ok());
  const Page page = *store_->List(ctx_, "/s/", {});
  ASSERT_EQ(page.items.size(), 3U);
  EXPECT_EQ(page.items[0].value.view(), "one");
  EXPECT_EQ(WhyUnreadable(page.items[1].value.view()), "no matching prefix found");
  EXPECT_EQ(page.items[2].value.view(), "three");
  EXPECT_EQ(WhyUnreadable(Read("/s/b").value.view()), "no matching prefix found");
}

TEST_F(EncryptedStoreTest, WatchExpiresWhenUnreadableValuesMayBeReadable) {
  ASSERT_TRUE(store_->Create(ctx_, "/s/a", "one").ok());
  const TransformerPtr good = slot_->Load().transformer;
  slot_->Replace(Gcm({{"b", 2}}));
  const Page page = *store_->List(ctx_, "/s/", {});
  ASSERT_TRUE(WhyUnreadable(page.items.front().value.view()));
  const std::unique_ptr<Watch> watch = *store_->StartWatch(ctx_, "/s/", page.revision);
  std::thread change([&] { slot_->Replace(good); });
  Result<WatchBatch> batch = watch->Next(ctx_);
  change.join();
  ASSERT_FALSE(batch.ok());
  EXPECT_TRUE(batch.status().Is(Reason::kExpired)) << batch.status().ToString();
  EXPECT_EQ(store_->List(ctx_, "/s/", {})->items.front().value.view(), "one");
}

TEST_F(EncryptedStoreTest, WatchContinuesIfAllValuesWereReadable) {
  const Revision first = *store_->Create(ctx_, "/s/a", "one");
  const std::unique_ptr<Watch> watch = *store_->StartWatch(ctx_, "/s/", first);
  slot_->Replace(Gcm({{"b", 2}, {"a", 1}}));
  std::thread writer([&] { ASSERT_TRUE(store_->Create(ctx_, "/s/b", "two").ok()); });
  Result<WatchBatch> batch = watch->Next(ctx_);
  writer.join();
  ASSERT_TRUE(batch.ok()) << batch.status().ToString();
  EXPECT_EQ(batch->events.front().kv.value.view(), "two");
}

TEST_F(EncryptedStoreTest, StoresPlaintextWithoutATransformer) {
  slot_->Replace(nullptr);
  ASSERT_TRUE(store_->Create(ctx_, "/s/a", "plain").ok());
  EXPECT_EQ(Raw("/s/a"), "plain");
  EXPECT_EQ(Read("/s/a").value.view(), "plain");
}

}  // namespace
}  // namespace cox::storage
