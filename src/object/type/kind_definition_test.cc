// SPDX-License-Identifier: Apache-2.0
#include "object/type/kind_definition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "object/codec.h"
#include "object/runtime_type.h"
#include "object/scheme.h"

namespace cox {
namespace {

using ::testing::ElementsAre;

KindDefinition::Options Widget(std::string version) {
  static const Type kType{.shape = Shape::kStruct};
  return {.gvk = {"example.com", version, "Widget"},
          .plural = "widgets",
          .singular = "widget",
          .short_names = {"wg", "wid"},
          .categories = {"all"},
          .namespaced = true,
          .verbs = {"get", "list"},
          .subresources = {{.name = "status",
                            .gvk = {"example.com", version, "Widget"},
                            .verbs = {"get", "patch", "update"}}},
          .type = std::shared_ptr<const Type>(std::shared_ptr<void>(), &kType)};
}

TEST(KindDefinitionTest, OwnsEverythingThatItsKindInfoRefersTo) {
  auto options = std::make_unique<KindDefinition::Options>(Widget("v1"));
  const KindDefinition definition(*options);
  options.reset();
  const KindInfo& info = definition.info();
  EXPECT_EQ(info.group, "example.com");
  EXPECT_EQ(info.version, "v1");
  EXPECT_EQ(info.kind, "Widget");
  EXPECT_EQ(info.plural, "widgets");
  EXPECT_EQ(info.singular, "widget");
  EXPECT_THAT(info.short_names, ElementsAre("wg", "wid"));
  EXPECT_THAT(info.categories, ElementsAre("all"));
  EXPECT_TRUE(info.namespaced);
  EXPECT_THAT(info.verbs, ElementsAre("get", "list"));
  ASSERT_EQ(info.subresources.size(), 1u);
  EXPECT_EQ(info.subresources[0].name, "status");
  EXPECT_EQ(info.subresources[0].group, "example.com");
  EXPECT_EQ(info.subresources[0].kind, "Widget");
  EXPECT_THAT(info.subresources[0].verbs, ElementsAre("get", "patch", "update"));
}

TEST(KindDefinitionTest, KeepsTheOwnerOfItsTypeAlive) {
  std::shared_ptr<const RuntimeType> type =
      *RuntimeType::FromSchema(*json::Parse(R"({"type":"object"})"));
  const std::weak_ptr<const RuntimeType> watched = type;
  KindDefinition::Options options = Widget("v1");
  options.type = std::shared_ptr<const Type>(type, &type->type());
  type.reset();
  auto definition = std::make_unique<KindDefinition>(std::move(options));
  EXPECT_FALSE(watched.expired());
  EXPECT_EQ(definition->info().type->shape, Shape::kStruct);
  definition.reset();
  EXPECT_TRUE(watched.expired());
}

TEST(SchemeTest, SchemeWithBaseFindsTheKindsOfBoth) {
  const KindDefinition v1(Widget("v1")), v2(Widget("v2"));
  const KindInfo* const kinds[] = {&v1.info(), &v2.info()};
  const Scheme scheme(kinds, Scheme::Builtin());
  EXPECT_EQ(scheme.FindKind({"example.com", "v1", "Widget"}), &v1.info());
  EXPECT_EQ(scheme.FindKind({"example.com", "v2", "Widget"}), &v2.info());
  EXPECT_EQ(scheme.FindResource({"example.com", "v2", "widgets"}), &v2.info());
  EXPECT_EQ(scheme.FindKind({"example.com", "v3", "Widget"}), nullptr);
  const KindInfo* const pod = Scheme::Builtin().FindKind({"", "v1", "Pod"});
  EXPECT_EQ(scheme.FindKind({"", "v1", "Pod"}), pod);
  EXPECT_EQ(scheme.FindResource({"", "v1", "pods"}), pod);
  // Options also belong to each of its group versions.
  const KindInfo* const options = scheme.FindKind({"example.com", "v1", "DeleteOptions"});
  ASSERT_NE(options, nullptr);
  EXPECT_EQ(options->kind, "DeleteOptions");
  EXPECT_EQ(scheme.FindKind({"example.com", "v3", "DeleteOptions"}), nullptr);
  EXPECT_EQ(Scheme::Builtin().FindKind({"example.com", "v1", "Widget"}), nullptr);
}

}  // namespace
}  // namespace cox
