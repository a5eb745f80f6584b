// SPDX-License-Identifier: Apache-2.0
#include "sdk/cache/item.h"

#include <gtest/gtest.h>

#include "api/core/v1.h"
#include "api/meta/v1.h"
#include "object/codec/json/json.h"

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

TEST(ItemTest, AllRepresentationsReturnTheSameData) {
  CacheScope bytes;
  bytes.keep = CacheScope::Keep::kBytes;
  Pod unmanaged = Sample();
  unmanaged.metadata.managedFields.clear();  // stored without managedFields
  const auto metadata =
      ItemForm(Pods(), true, {}).Convert(std::make_shared<const Object>(Object::Of(unmanaged)));
  const struct {
    ItemForm form;
    ObjectPtr object;
  } kCases[] = {
      {ItemForm(Pods(), false, {}), Typed()},
      {ItemForm(Pods(), false, bytes), Typed()},
      {ItemForm(DynamicPods(), false, {}), Dynamic()},
      {ItemForm(DynamicPods(), false, bytes), Dynamic()},
      {ItemForm(Pods(), true, {}), metadata},
      {ItemForm(Pods(), true, bytes), metadata},
  };
  for (const auto& c : kCases) {
    const Item item = ItemForm::WithoutObject(c.form.Make(c.object));
    EXPECT_EQ(item.key().ToString(), "default/web-0");
    EXPECT_EQ(item.uid(), "11111111-2222-3333-4444-555555555555");
    EXPECT_EQ(item.version(), 42);
    EXPECT_TRUE(item.Matches(*labels::Selector::Parse("app=web,tier=,!other")));
    EXPECT_FALSE(item.Matches(*labels::Selector::Parse("app!=web")));
    EXPECT_GT(item.bytes(), 100);
    const ObjectPtr read = c.form.Read(item);
    ASSERT_NE(read, nullptr);
    EXPECT_EQ(*read, *c.object);
  }
}

TEST(ItemTest, EmptyItemReadsAsNull) {
  const ItemForm form(Pods(), false, {});
  EXPECT_TRUE(Item().empty());
  EXPECT_EQ(form.Read(Item()), nullptr);
}

TEST(ItemTest, TransformsBeforeStoring) {
  for (const auto keep : {CacheScope::Keep::kObjects, CacheScope::Keep::kBytes}) {
    CacheScope scope;
    scope.keep = keep;
    scope.transform = StripManagedFields;
    const ItemForm form(Pods(), false, scope);
    const ObjectPtr object = Typed();
    const ObjectPtr read = form.Read(form.Make(object));
    EXPECT_TRUE(read->As<Pod>()->metadata.managedFields.empty());
    EXPECT_EQ(read->As<Pod>()->spec.nodeName, "node-1");
    EXPECT_EQ(object->As<Pod>()->metadata.managedFields.size(), 3) << "others share it";
  }
  Object dynamic = *Dynamic();
  StripManagedFields(dynamic);
  EXPECT_EQ(dynamic.value().At({"metadata", "managedFields"}), nullptr);
}

TEST(ItemTest, MetadataIsStoredWithoutManagedFieldsUnlessTheScopeHasATransform) {
  const auto managers_kept = [](const CacheScope& scope) {
    const ItemForm form(Pods(), true, scope);
    const ObjectPtr read = form.Read(form.Make(form.Convert(Typed())));
    EXPECT_EQ(read->object_meta()->uid, Sample().metadata.uid);
    return read->object_meta()->managedFields.size();
  };
  EXPECT_EQ(managers_kept({}), 0);
  EXPECT_EQ(managers_kept({.transform = [](Object&) {}}), 3);
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
