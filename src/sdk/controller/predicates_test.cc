// SPDX-License-Identifier: Apache-2.0
#include "coxswain/predicate.h"

#include <gtest/gtest.h>

#include "api/core/v1.h"

namespace cox {
namespace {

using Type = Delta::Type;

core::v1::Pod Pod() {
  core::v1::Pod pod;
  pod.metadata.namespace_ = "default";
  pod.metadata.name = "web";
  pod.metadata.generation = 1;
  pod.metadata.resourceVersion = "10";
  pod.metadata.labels["app"] = "web";
  return pod;
}

ObjectPtr Shared(const core::v1::Pod& pod) {
  return std::make_shared<const Object>(Object::Of(pod));
}

Delta Update(const std::function<void(core::v1::Pod&)>& change) {
  core::v1::Pod after = Pod();
  change(after);
  return {.type = Type::kUpdated, .before = Shared(Pod()), .after = Shared(after)};
}

TEST(PredicatesTest, EachPassesOnlyItsChange) {
  const Delta generation = Update([](auto& pod) { pod.metadata.generation = 2; });
  const Delta labels = Update([](auto& pod) { pod.metadata.labels["app"] = "x"; });
  const Delta annotations = Update([](auto& pod) { pod.metadata.annotations["a"] = "b"; });
  const Delta version = Update([](auto& pod) { pod.metadata.resourceVersion = "11"; });
  const Delta resync{.type = Type::kResync, .before = nullptr, .after = Shared(Pod())};
  const Delta added{.type = Type::kAdded, .before = nullptr, .after = Shared(Pod())};
  const Delta deleted{.type = Type::kDeleted, .before = Shared(Pod()), .after = nullptr};
  struct Case {
    const char* name;
    Predicate predicate;
    const Delta* passes;
  };
  const Case cases[] = {
      {"generation", predicates::GenerationChanged(), &generation},
      {"labels", predicates::LabelsChanged(), &labels},
      {"annotations", predicates::AnnotationsChanged(), &annotations},
      {"version", predicates::ResourceVersionChanged(), &version},
  };
  for (const Case& c : cases) {
    for (const Delta* delta : {&generation, &labels, &annotations, &version}) {
      EXPECT_EQ(c.predicate(*delta), delta == c.passes) << c.name;
    }
    EXPECT_FALSE(c.predicate(resync)) << c.name;
    EXPECT_TRUE(c.predicate(added)) << c.name;
    EXPECT_TRUE(c.predicate(deleted)) << c.name;
  }
}

TEST(PredicatesTest, SelectByLabelNamespaceWriterAndStruct) {
  Delta added{.before = nullptr, .after = Shared(Pod())};
  EXPECT_TRUE(predicates::HasLabels(*labels::Selector::Parse("app=web"))(added));
  EXPECT_FALSE(predicates::HasLabels(*labels::Selector::Parse("app!=web"))(added));
  EXPECT_TRUE(predicates::InNamespace("default")(added));
  EXPECT_FALSE(predicates::InNamespace("other")(added));
  EXPECT_TRUE(predicates::NotOwnWrites("me")(added));
  added.own_writer = "me";
  EXPECT_FALSE(predicates::NotOwnWrites("me")(added));
  const auto named = [](std::string name) {
    return predicates::On<core::v1::Pod>(
        [name](const core::v1::Pod& pod) { return pod.metadata.name == name; });
  };
  EXPECT_TRUE(named("web")(added));
  EXPECT_FALSE(named("db")(added));
  EXPECT_FALSE(predicates::On<core::v1::Secret>([](const auto&) { return true; })(added));
}

TEST(PredicatesTest, AreCombined) {
  const Delta added{.before = nullptr, .after = Shared(Pod())};
  const Predicate yes = [](const Delta&) { return true; };
  const Predicate no = predicates::Not(yes);
  EXPECT_TRUE(predicates::All({yes, yes})(added));
  EXPECT_FALSE(predicates::All({yes, no})(added));
  EXPECT_TRUE(predicates::Any({no, yes})(added));
  EXPECT_FALSE(predicates::Any({no, no})(added));
}

TEST(PredicatesTest, ReadDynamicObjects) {
  const auto object = [](std::string app) {
    return std::make_shared<const Object>(
        GroupVersionKind{"example.com", "v1", "Backup"}, types::kAny,
        Value::MakeObject(
            {{"metadata", Value::MakeObject({{"labels", Value::MakeObject({{"app", app}})}})}}));
  };
  const Delta update{.type = Type::kUpdated, .before = object("a"), .after = object("b")};
  EXPECT_TRUE(predicates::LabelsChanged()(update));
  EXPECT_FALSE(predicates::AnnotationsChanged()(update));
  EXPECT_TRUE(predicates::HasLabels(*labels::Selector::Parse("app=b"))(update));
}

}  // namespace
}  // namespace cox
