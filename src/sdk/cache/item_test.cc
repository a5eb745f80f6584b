// SPDX-License-Identifier: Apache-2.0
#include "sdk/cache/item.h"

#include <gtest/gtest.h>

#include "api/core/v1.h"
#include "api/meta/v1.h"
#include "object/codec/json/json.h"
#include "sdk/testing/shared_object.h"

namespace cox::sdk {
namespace {

using core::v1::Pod;

Pod Sample() {
  Pod pod;
  pod.metadata.name = "web-0";
  pod.metadata.namespace_ = "default";
  pod.metadata.uid = "11111111-2222-3333-4444-555555555555";
  pod.metadata.resourceVersion = "42";
  pod.metadata.labels = {{"app", "web"}, {"tier", ""}};
  pod.metadata.managedFields.resize(3);
  pod.spec.containers.resize(2);
  pod.spec.containers[0].name = "main";
  pod.spec.containers[0].image = "registry.example/some/image:with-a-long-tag";
  pod.spec.nodeName = "node-1";
  return pod;
}

ObjectPtr Typed() { return std::make_shared<const Object>(Object::Of(Sample())); }
Resource Pods() { return Resource::Of<Pod>(); }
Resource DynamicPods() { return Resource::Dynamic({"", "v1", "Pod"}, "pods", true); }
ObjectPtr Dynamic() {
  return std::make_shared<const Object>(DynamicPods().gvk, types::kAny, Typed()->ToValue());
}

CacheScope ScopeOf(CacheScope::Keep keep, bool managed_fields) {
  CacheScope scope;
  scope.keep = keep;
  scope.managed_fields = managed_fields;
  return scope;
}

TEST(ItemTest, AllRepresentationsReturnTheSameData) {
  using Keep = CacheScope::Keep;
  const auto metadata = ItemForm(Pods(), true, {}).Convert(Typed());
  const struct {
    ItemForm form;
    ObjectPtr object;
  } kCases[] = {
      {ItemForm(Pods(), false, ScopeOf(Keep::kObjects, true)), Typed()},
      {ItemForm(Pods(), false, ScopeOf(Keep::kBytes, true)), Typed()},
      {ItemForm(DynamicPods(), false, ScopeOf(Keep::kObjects, true)), Dynamic()},
      {ItemForm(DynamicPods(), false, ScopeOf(Keep::kBytes, true)), Dynamic()},
      {ItemForm(Pods(), true, ScopeOf(Keep::kObjects, true)), metadata},
      {ItemForm(Pods(), true, ScopeOf(Keep::kBytes, true)), metadata},
  };
  std::vector<Item> items = {
      ItemForm::Share(std::make_shared<const SharedObject>(Object(*Typed())))};
  std::vector<ObjectPtr> objects = {Typed()};
  for (const auto& c : kCases) {
    items.push_back(ItemForm::WithoutObject(c.form.Make(c.object)));
    objects.push_back(c.object);
    EXPECT_GT(items.back().bytes(), 100);
  }
  for (size_t i = 0; i < items.size(); ++i) {
    const Item& item = items[i];
    EXPECT_EQ(item.key().ToString(), "default/web-0");
    EXPECT_EQ(item.uid(), "11111111-2222-3333-4444-555555555555");
    EXPECT_EQ(item.version(), 42);
    EXPECT_TRUE(item.Matches(*labels::Selector::Parse("app=web,tier=,!other")));
    EXPECT_FALSE(item.Matches(*labels::Selector::Parse("app!=web")));
    EXPECT_TRUE(item.IsVersionOf(items.front()));
    const ObjectPtr read = item.Read();
    ASSERT_NE(read, nullptr);
    EXPECT_EQ(*read, *objects[i]);
  }
}

TEST(ItemTest, EmptyItemReadsAsNull) {
  EXPECT_TRUE(Item().empty());
  EXPECT_EQ(Item().Read(), nullptr);
  EXPECT_FALSE(Item().IsVersionOf(Item()));
}

TEST(ItemTest, SharedObjectNeedsNoMemoryAndIsDecodedForEachReader) {
  const auto shared = std::make_shared<const SharedObject>(Object(*Typed()));
  const Item item = ItemForm::WithoutObject(ItemForm::Share(shared));
  EXPECT_TRUE(item.is_shared());
  EXPECT_EQ(item.bytes(), 0);
  EXPECT_EQ(shared->decoded(), 0) << "lookups need no decoded object";
  EXPECT_EQ(item.Read(), shared->object());
  EXPECT_EQ(item.Read(), shared->object());
  EXPECT_EQ(shared->decoded(), 2);
}

// A cache whose objects differ from those of the server cannot share them.
TEST(ItemTest, SharesUnchangedStructsWithoutManagedFields) {
  CacheScope transformed;
  transformed.transform = [](Object&) {};
  CacheScope optional = transformed;
  optional.transform_is_optional = true;
  using Keep = CacheScope::Keep;
  EXPECT_TRUE(ItemForm(Pods(), false, {}).shares_objects());
  EXPECT_TRUE(ItemForm(Pods(), false, ScopeOf(Keep::kBytes, false)).shares_objects());
  EXPECT_FALSE(ItemForm(Pods(), false, ScopeOf(Keep::kObjects, true)).shares_objects());
  EXPECT_FALSE(ItemForm(Pods(), false, transformed).shares_objects());
  EXPECT_TRUE(ItemForm(Pods(), false, optional).shares_objects());
  EXPECT_FALSE(ItemForm(Pods(), true, {}).shares_objects());
  EXPECT_FALSE(ItemForm(DynamicPods(), false, {}).shares_objects());
}

TEST(ItemTest, ScopeDecidesAboutManagedFields) {
  const auto managers = [](const Object& object) -> size_t {
    if (const meta::v1::ObjectMeta* meta = object.object_meta()) return meta->managedFields.size();
    const Value* all = object.value().At({"metadata", "managedFields"});
    return all == nullptr ? 0 : all->as_array().size();
  };
  for (const auto keep : {CacheScope::Keep::kObjects, CacheScope::Keep::kBytes}) {
    for (const bool kept : {false, true}) {
      for (const bool metadata_only : {false, true}) {
        for (const ObjectPtr& object : {Typed(), Dynamic()}) {
          const Resource resource = object->is_typed() ? Pods() : DynamicPods();
          const ItemForm form(resource, metadata_only, ScopeOf(keep, kept));
          const ObjectPtr read = form.Make(form.Convert(object)).Read();
          EXPECT_EQ(managers(*read), kept ? 3U : 0U);
          EXPECT_EQ(HeadOf(*read).uid, Sample().metadata.uid);
          EXPECT_EQ(managers(*object), 3U) << "others share it";
        }
      }
    }
  }
}

TEST(ItemTest, TransformsBeforeStoring) {
  for (const auto keep : {CacheScope::Keep::kObjects, CacheScope::Keep::kBytes}) {
    CacheScope scope = ScopeOf(keep, false);
    scope.transform = [](Object& object) {
      EXPECT_TRUE(object.object_meta()->managedFields.empty());
      object.As<Pod>()->spec.nodeName.clear();
    };
    const ObjectPtr object = Typed();
    const ObjectPtr read = ItemForm(Pods(), false, scope).Make(object).Read();
    EXPECT_EQ(read->As<Pod>()->spec.nodeName, "");
    EXPECT_EQ(object->As<Pod>()->spec.nodeName, "node-1") << "others share it";
  }
}

TEST(ItemTest, ConvertsBetweenStructsJsonAndMetadata) {
  const ItemForm typed(Pods(), false, {});
  const ItemForm dynamic(DynamicPods(), false, {});
  const ItemForm metadata(Pods(), true, {});
  EXPECT_EQ(*typed.Convert(Dynamic()), *Typed());
  EXPECT_EQ(*dynamic.Convert(Typed()), *Dynamic());
  for (const ObjectPtr& object : {Typed(), Dynamic()}) {
    const auto partial = As<meta::v1::PartialObjectMetadata>(metadata.Convert(object));
    ASSERT_NE(partial, nullptr);
    EXPECT_EQ(partial->metadata.uid, Sample().metadata.uid);
    EXPECT_EQ(partial->metadata.managedFields.size(), 3);
  }
  EXPECT_EQ(typed.Convert(std::make_shared<const Object>(Object::Of(core::v1::Secret()))), nullptr);
}

TEST(ItemTest, SelectsByLabelsAndFieldPaths) {
  const struct {
    const char* labels;
    const char* fields;
    bool selected;
  } kCases[] = {
      {"", "", true},
      {"app=web", "", true},
      {"app=db", "", false},
      {"", "spec.nodeName=node-1", true},
      {"", "spec.nodeName!=node-1", false},
      {"", "spec.hostNetwork=true", false},
      {"", "spec.hostNetwork=false", true},
      {"", "metadata.name=web-0,metadata.namespace=default", true},
      {"", "status.phase=", true},
  };
  for (const auto& c : kCases) {
    CacheScope scope;
    scope.labels = *labels::Selector::Parse(c.labels);
    scope.fields = *fields::Selector::Parse(c.fields);
    EXPECT_EQ(ItemForm(Pods(), false, scope).Selects(*Typed()), c.selected)
        << c.labels << " " << c.fields;
    EXPECT_EQ(ItemForm(DynamicPods(), false, scope).Selects(*Dynamic()), c.selected);
  }
}

}  // namespace
}  // namespace cox::sdk
