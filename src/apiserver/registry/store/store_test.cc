// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/store/store.h"

#include <gtest/gtest.h>

#include "api/core/v1.h"
#include "base/testing/test_clock.h"
#include "object/owner.h"
#include "storage/encryption/encrypted_store.h"
#include "storage/memory/memory_store.h"

namespace cox::apiserver {
namespace {

using core::v1::ReplicationController;

// A kind with what the store handles: a generation, validation, warnings, graceful deletion.
class WidgetStrategy final : public StrategyOf<ReplicationController> {
 public:
  std::string_view storage_prefix() const override { return "widgets"; }
  bool AllowUnconditionalUpdate() const override { return unconditional; }

  bool unconditional = true;
  int64_t grace_seconds = 0;  // 0: deletion is immediate

 protected:
  void PrepareCreate(const WriteContext&, ReplicationController& object) const override {
    object.metadata.generation = 1;
    object.status = {};
  }
  void PrepareUpdate(const WriteContext&, ReplicationController& object,
                     const ReplicationController& old) const override {
    object.status = old.status;
    if (object.spec.replicas != old.spec.replicas) ++object.metadata.generation;
  }
  FieldErrorList Check(const WriteContext&, const ReplicationController& object) const override {
    if (object.spec.replicas.value_or(0) >= 0) return {};
    return {FieldError::Invalid(FieldPath("spec").Child("replicas"), *object.spec.replicas,
                                "must be greater than or equal to 0")};
  }
  Warnings Warn(const WriteContext&, const ReplicationController& object,
                const ReplicationController*) const override {
    return object.spec.replicas.value_or(0) > 100 ? Warnings{"that is a lot"} : Warnings();
  }
  bool DeletesGracefully() const override { return grace_seconds > 0; }
  int64_t GraceOf(const ReplicationController&, std::optional<int64_t> requested) const override {
    return requested.value_or(grace_seconds);
  }
};

class StoreTest : public ::testing::Test {
 protected:
  static Object Widget(const std::string& name, int replicas = 1) {
    ReplicationController widget;
    widget.metadata.name = name;
    widget.metadata.namespace_ = "ns";
    widget.spec.replicas = replicas;
    return Object::Of(std::move(widget));
  }
  WriteContext W(bool dry_run = false) {
    return {ctx_, user_, Time::FromUnix(1'700'000'000), dry_run};
  }
  static meta::v1::ObjectMeta& Meta(Object& object) { return *object.object_meta(); }
  Object Create(Object object) {
    Result<Object> created = store_.Create(W(), std::move(object), nullptr);
    EXPECT_TRUE(created.ok()) << created.status().message();
    return created.ok() ? *created : Widget("failed");
  }
  Result<ResourceStore::UpdateResult> Replace(const Object& object, bool dry_run = false) {
    return Update([&](const Object*) -> Result<Object> { return object; },
                  object.object_meta()->name, dry_run);
  }
  Result<ResourceStore::UpdateResult> Update(ResourceStore::Change change, std::string name = "a",
                                             bool dry_run = false) {
    return store_.Update(W(dry_run), {.ns = "ns",
                                      .name = std::move(name),
                                      .change = std::move(change),
                                      .validate = {},
                                      .validate_create = {},
                                      .uid = {},
                                      .warnings = &warnings_});
  }
  Result<ResourceStore::DeleteResult> Delete(const std::string& name,
                                             const meta::v1::DeleteOptions& options = {},
                                             bool dry_run = false) {
    return store_.Delete(W(dry_run), "ns", name, options, nullptr);
  }
  bool Exists(const std::string& name) { return store_.Get(ctx_, "ns", name).ok(); }

  TestClock clock_;
  Context ctx_{clock_};
  // The kind of the widgets is not implemented; components get no warnings about that.
  UserInfo user_{.name = "system:apiserver", .uid = {}, .groups = {}, .extra = {}};
  Warnings warnings_;
  WidgetStrategy strategy_;
  const std::unique_ptr<storage::Store> storage_ = storage::NewMemoryStore(clock_);
  ResourceStore store_{{.strategy = &strategy_, .storage = storage_.get()}};
};

TEST_F(StoreTest, KeysStartWithKindPrefix) {
  EXPECT_EQ(store_.Prefix(""), "/registry/widgets/");
  EXPECT_EQ(store_.Prefix("ns"), "/registry/widgets/ns/");
  EXPECT_EQ(store_.Key("ns", "a"), "/registry/widgets/ns/a");
}

TEST_F(StoreTest, CreateSetsServerManagedMetadata) {
  Object given = Widget("a");
  Meta(given).uid = "mine";
  Meta(given).deletionTimestamp = Time::FromUnix(1);
  Meta(given).selfLink = "/x";
  Object created = Create(given);
  EXPECT_NE(Meta(created).uid, "mine");
  EXPECT_EQ(Meta(created).uid.size(), 36u);
  EXPECT_EQ(Meta(created).generation, 1);
  EXPECT_FALSE(Meta(created).deletionTimestamp.has_value());
  EXPECT_EQ(Meta(created).selfLink, "");
  EXPECT_EQ(Meta(created).creationTimestamp, Time::FromUnix(1'700'000'000));
  Result<Object> read = store_.Get(ctx_, "ns", "a");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(*read, created);
  EXPECT_EQ(Meta(*read).resourceVersion, Meta(created).resourceVersion);
}

TEST_F(StoreTest, CreateRejectsInvalidAndExistingObjects) {
  Create(Widget("a"));
  const struct {
    Object object;
    int code;
    std::string_view message;
  } cases[] = {
      {Widget("a"), 409, "replicationcontrollers \"a\" already exists"},
      {Widget("b", -1), 422,
       "ReplicationController \"b\" is invalid: spec.replicas: Invalid value: -1: must be greater "
       "than or equal to 0"},
  };
  for (const auto& c : cases) {
    const Status status = store_.Create(W(), c.object, nullptr).status();
    EXPECT_EQ(status.message(), c.message);
    EXPECT_EQ(status.code(), c.code);
  }
  EXPECT_EQ(store_.Create(W(), Widget("Not A Name"), nullptr).status().code(), 422);
  const ValidateFunc refuse = [](const Object&, const Object*) { return Status::Forbidden("no"); };
  EXPECT_EQ(store_.Create(W(), Widget("c"), refuse).status().message(), "no");
  EXPECT_FALSE(Exists("c"));
}

TEST_F(StoreTest, CreateGeneratesNameFromGenerateName) {
  Object object = Widget("");
  Meta(object).generateName = "web-";
  Object created = Create(object);
  EXPECT_TRUE(Meta(created).name.starts_with("web-"));
  EXPECT_EQ(Meta(created).name.size(), 9u);
  EXPECT_TRUE(Exists(Meta(created).name));
}

TEST_F(StoreTest, CreateAndUpdateReturnWarnings) {
  Warnings warnings;
  ASSERT_TRUE(store_.Create(W(), Widget("a", 1000), nullptr, &warnings).ok());
  EXPECT_EQ(warnings, Warnings{"that is a lot"});
  ASSERT_TRUE(Replace(Widget("a", 2000)).ok());
  EXPECT_EQ(warnings_, Warnings{"that is a lot"});
}

TEST_F(StoreTest, UpdateIncrementsGenerationOnlyIfSpecChanges) {
  Object created = Create(Widget("a"));
  Result<ResourceStore::UpdateResult> result = Replace(Widget("a", 2));
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(Meta(result->object).generation, 2);
  EXPECT_EQ(Meta(result->object).uid, Meta(created).uid);
  EXPECT_EQ(Meta(result->object).creationTimestamp, Meta(created).creationTimestamp);
  EXPECT_NE(Meta(result->object).resourceVersion, Meta(created).resourceVersion);
  Object labelled = result->object;
  Meta(labelled).labels["x"] = "y";
  EXPECT_EQ(Meta(Replace(labelled)->object).generation, 2);
}

TEST_F(StoreTest, UpdateWithoutChangesWritesNothing) {
  Object created = Create(Widget("a"));
  Result<ResourceStore::UpdateResult> result = Replace(created);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(Meta(result->object).resourceVersion, Meta(created).resourceVersion);
  EXPECT_EQ(std::to_string(*storage_->CurrentRevision(ctx_)), Meta(created).resourceVersion);
}

TEST_F(StoreTest, UpdateWithOldResourceVersionConflicts) {
  Object old = Create(Widget("a"));
  ASSERT_TRUE(Replace(Widget("a", 2)).ok());
  const Status status = Replace(old).status();
  EXPECT_EQ(status.code(), 409);
  EXPECT_EQ(status.message(),
            "Operation cannot be fulfilled on replicationcontrollers \"a\": the object has been "
            "modified; please apply your changes to the latest version and try again");
  Object garbled = old;
  Meta(garbled).resourceVersion = "abc";
  EXPECT_EQ(Replace(garbled).status().code(), 500);
}

TEST_F(StoreTest, UpdateWithoutResourceVersionFailsIfKindRequiresIt) {
  Create(Widget("a"));
  strategy_.unconditional = false;
  const Status status = Replace(Widget("a", 2)).status();
  EXPECT_EQ(status.code(), 422);
  EXPECT_NE(status.message().find("must be specified for an update"), std::string::npos);
}

TEST_F(StoreTest, UpdateRetriesChangeAfterConflict) {
  Create(Widget("a"));
  int calls = 0;
  Result<ResourceStore::UpdateResult> result =
      Update([&](const Object* existing) -> Result<Object> {
        if (++calls == 1) {
          EXPECT_TRUE(Replace(Widget("a", 50)).ok());
        }
        Object next = *existing;
        Meta(next).labels["seen"] =
            std::to_string(*existing->As<ReplicationController>()->spec.replicas);
        return next;
      });
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(Meta(result->object).labels["seen"], "50");
}

TEST_F(StoreTest, UpdateChecksUidPrecondition) {
  Object created = Create(Widget("a"));
  auto with_uid = [&](std::string uid) {
    return store_.Update(
        W(), {.ns = "ns",
              .name = "a",
              .change = [](const Object* existing) -> Result<Object> { return *existing; },
              .validate = {},
              .validate_create = {},
              .uid = std::move(uid)});
  };
  EXPECT_TRUE(with_uid(Meta(created).uid).ok());
  const Status status = with_uid("other").status();
  EXPECT_EQ(status.code(), 409);
  EXPECT_NE(status.message().find("Precondition failed: UID in precondition: other"),
            std::string::npos)
      << status.message();
}

TEST_F(StoreTest, UpdateCreatesOnlyIfAllowed) {
  EXPECT_EQ(Replace(Widget("a")).status().code(), 404);
  Result<ResourceStore::UpdateResult> result =
      store_.Update(W(), {.ns = "ns",
                          .name = "a",
                          .change = [](const Object* existing) -> Result<Object> {
                            EXPECT_EQ(existing, nullptr);
                            return Widget("a");
                          },
                          .validate = {},
                          .validate_create = {},
                          .uid = {},
                          .may_create = true});
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_TRUE(result->created);
  EXPECT_TRUE(Exists("a"));
}

TEST_F(StoreTest, UpdateRejectsChangedUid) {
  Create(Widget("a"));
  Object other = Widget("a");
  Meta(other).uid = "other";
  EXPECT_EQ(Replace(other).status().code(), 422);
}

TEST_F(StoreTest, DeleteIsImmediateWithoutGracePeriodAndFinalizers) {
  Object created = Create(Widget("a"));
  Result<ResourceStore::DeleteResult> deleted = Delete("a");
  ASSERT_TRUE(deleted.ok());
  EXPECT_TRUE(deleted->gone);
  EXPECT_EQ(Meta(deleted->object).uid, Meta(created).uid);
  EXPECT_FALSE(Exists("a"));
  EXPECT_EQ(Delete("a").status().message(), "replicationcontrollers \"a\" not found");
}

TEST_F(StoreTest, FinalizersKeepObjectUntilLastIsRemoved) {
  Object object = Widget("a");
  Meta(object).finalizers = {"example.com/one", "example.com/two"};
  Create(object);
  Result<ResourceStore::DeleteResult> deleted = Delete("a");
  ASSERT_TRUE(deleted.ok());
  EXPECT_FALSE(deleted->gone);
  EXPECT_EQ(Meta(deleted->object).deletionTimestamp, Time::FromUnix(1'700'000'000));
  EXPECT_EQ(Meta(deleted->object).deletionGracePeriodSeconds, 0);
  EXPECT_EQ(Meta(deleted->object).generation, 2);
  EXPECT_TRUE(Exists("a"));

  auto remove = [&](std::string_view finalizer) {
    return Update([&](const Object* existing) -> Result<Object> {
      Object next = *existing;
      RemoveFinalizer(&Meta(next), finalizer);
      return next;
    });
  };
  ASSERT_TRUE(remove("example.com/one").ok());
  EXPECT_TRUE(Exists("a"));
  ASSERT_TRUE(remove("example.com/two").ok());
  EXPECT_FALSE(Exists("a"));
}

TEST_F(StoreTest, GracePeriodCanOnlyBecomeShorter) {
  strategy_.grace_seconds = 30;
  Create(Widget("a"));
  const Time now = W().now;
  auto grace = [](int64_t seconds) {
    meta::v1::DeleteOptions options;
    options.gracePeriodSeconds = seconds;
    return options;
  };
  Result<ResourceStore::DeleteResult> first = Delete("a");
  ASSERT_TRUE(first.ok());
  EXPECT_FALSE(first->gone);
  EXPECT_EQ(Meta(first->object).deletionGracePeriodSeconds, 30);
  EXPECT_EQ(Meta(first->object).deletionTimestamp, now + Duration::Seconds(30));
  EXPECT_EQ(Meta(Delete("a", grace(60))->object).deletionGracePeriodSeconds, 30);
  EXPECT_EQ(Meta(Delete("a", grace(5))->object).deletionGracePeriodSeconds, 5);
  Result<ResourceStore::DeleteResult> last = Delete("a", grace(0));
  ASSERT_TRUE(last.ok());
  EXPECT_TRUE(last->gone);
  EXPECT_FALSE(Exists("a"));
}

TEST_F(StoreTest, DeleteChecksPreconditions) {
  Object created = Create(Widget("a"));
  meta::v1::DeleteOptions options;
  options.preconditions.emplace();
  options.preconditions->uid = "other";
  Status status = Delete("a", options).status();
  EXPECT_EQ(status.code(), 409);
  EXPECT_NE(status.message().find("the UID in the precondition (other) does not match"),
            std::string::npos)
      << status.message();
  options.preconditions->uid = Meta(created).uid;
  options.preconditions->resourceVersion = "1000";
  EXPECT_EQ(Delete("a", options).status().code(), 409);
  options.preconditions->resourceVersion = Meta(created).resourceVersion;
  EXPECT_TRUE(Delete("a", options)->gone);
}

TEST_F(StoreTest, PropagationPolicyAddsFinalizer) {
  const struct {
    std::string_view policy, finalizer;
  } kCases[] = {{"Foreground", "foregroundDeletion"}, {"Orphan", "orphan"}};
  for (const auto& c : kCases) {
    Create(Widget("a"));
    meta::v1::DeleteOptions options;
    options.propagationPolicy = std::string(c.policy);
    Result<ResourceStore::DeleteResult> deleted = Delete("a", options);
    ASSERT_TRUE(deleted.ok());
    EXPECT_FALSE(deleted->gone);
    EXPECT_EQ(Meta(deleted->object).finalizers, std::vector<std::string>{std::string(c.finalizer)});
    options.propagationPolicy = "Background";
    EXPECT_TRUE(Delete("a", options)->gone);
  }
}

TEST_F(StoreTest, DryRunReturnsResultAndChangesNothing) {
  Result<Object> created = store_.Create(W(/*dry_run=*/true), Widget("a"), nullptr);
  ASSERT_TRUE(created.ok());
  EXPECT_EQ(Meta(*created).uid.size(), 36u);
  EXPECT_FALSE(Exists("a"));

  Create(Widget("a"));
  EXPECT_EQ(store_.Create(W(true), Widget("a"), nullptr).status().code(), 409);
  EXPECT_EQ(Meta(Replace(Widget("a", 9), /*dry_run=*/true)->object).generation, 2);
  EXPECT_EQ(store_.Get(ctx_, "ns", "a")->As<ReplicationController>()->spec.replicas, 1);
  EXPECT_TRUE(Delete("a", {}, /*dry_run=*/true)->gone);
  EXPECT_TRUE(Exists("a"));
}

TEST(ParseResourceVersion, AcceptsNumberOrEmptyText) {
  EXPECT_EQ(*ParseResourceVersion(""), 0);
  EXPECT_EQ(*ParseResourceVersion("42"), 42);
  EXPECT_EQ(ParseResourceVersion("-1").status().message(),
            "strconv.ParseUint: parsing \"-1\": invalid syntax");
  EXPECT_EQ(ParseResourceVersion("99999999999999999999").status().message(),
            "strconv.ParseUint: parsing \"99999999999999999999\": value out of range");
}

// As upstream, so that all values are rewritten after a key rotation.
TEST_F(StoreTest, UpdateWithoutChangesRewritesValueWithOldEncryptionKey) {
  const auto keys = [](std::initializer_list<char> letters) {
    std::vector<storage::EncryptionKey> made;
    for (const char letter : letters) {
      made.push_back({std::string(1, letter), storage::KeyBytes(std::string(32, letter))});
    }
    return storage::NewPrefixChain({storage::NewAesGcmProvider(std::move(made))},
                                   "no matching prefix found");
  };
  const auto slot = std::make_shared<storage::TransformerSlot>(ctx_, keys({'a'}));
  const auto encrypted = storage::NewEncryptedStore(*storage_, slot);
  ResourceStore store({.strategy = &strategy_, .storage = encrypted.get()});
  const auto rewrite = [&] {
    return store
        .Update(W(), {.ns = "ns",
                      .name = "a",
                      .change = [](const Object* old) -> Result<Object> { return *old; }})
        ->object.object_meta()
        ->resourceVersion;
  };
  ASSERT_TRUE(store.Create(W(), Widget("a"), nullptr).ok());
  const std::string first = rewrite();
  EXPECT_EQ(rewrite(), first);

  slot->Replace(keys({'b', 'a'}));
  const std::string second = rewrite();
  EXPECT_NE(second, first);
  EXPECT_EQ(rewrite(), second);

  slot->Replace(keys({'c'}));
  const Status status = store.Get(ctx_, "ns", "a").status();
  EXPECT_TRUE(status.Is(Reason::kInternalError));
  EXPECT_EQ(status.message(),
            "Internal error occurred: no matching key was found for the provided AES transformer");
  EXPECT_EQ(store.Delete(W(), "ns", "a", {}, nullptr).status().message(), status.message());
}

}  // namespace
}  // namespace cox::apiserver
