// SPDX-License-Identifier: Apache-2.0
#include "object/runtime_type.h"

#include <gtest/gtest.h>

#include "object/testing/test_schema.h"
#include "object/type/limits.h"
#include "object/type/name_index_builder.h"

namespace cox {
namespace {

using apply::J;

std::shared_ptr<const RuntimeType> Make(std::string_view schema,
                                        RuntimeType::Options options = {}) {
  auto type = RuntimeType::FromSchema(J(schema), options);
  EXPECT_TRUE(type.ok()) << schema << type.status().ToString();
  return type.ok() ? *type : nullptr;
}

// The type of a property `p` with the given schema.
const Type* Property(std::string_view schema, std::shared_ptr<const RuntimeType>* keep) {
  *keep = Make("{'type':'object','properties':{'p':" + std::string(schema) + "}}");
  return *keep != nullptr ? (*keep)->type().Find("p")->type : nullptr;
}

TEST(RuntimeTypeTest, MapsSchemasToShapes) {
  struct {
    std::string_view schema;
    Shape shape;
  } const cases[] = {
      {"{'type':'boolean'}", Shape::kBool},
      {"{'type':'integer'}", Shape::kInt64},
      {"{'type':'integer','format':'int32'}", Shape::kInt32},
      {"{'type':'number'}", Shape::kDouble},
      {"{'type':'string'}", Shape::kString},
      {"{'type':'string','format':'date-time'}", Shape::kString},
      {"{'x-kubernetes-int-or-string':true}", Shape::kIntOrString},
      {"{'type':'array','items':{'type':'string'}}", Shape::kList},
      {"{'type':'array'}", Shape::kList},
      {"{'type':'object','additionalProperties':{'type':'string'}}", Shape::kMap},
      {"{'type':'object','additionalProperties':true}", Shape::kMap},
      {"{'type':'object','additionalProperties':false}", Shape::kStruct},
      {"{'type':'object','properties':{'a':{'type':'string'}}}", Shape::kStruct},
      {"{'type':'object'}", Shape::kStruct},
      {"{'type':'object','x-kubernetes-preserve-unknown-fields':true}", Shape::kMap},
      {"{'x-kubernetes-preserve-unknown-fields':true}", Shape::kAny},
      {"{'type':'object','x-kubernetes-embedded-resource':true,"
       "'x-kubernetes-preserve-unknown-fields':true}",
       Shape::kStruct},
      {"{}", Shape::kAny},
  };
  for (const auto& c : cases) {
    std::shared_ptr<const RuntimeType> keep;
    const Type* type = Property(c.schema, &keep);
    ASSERT_NE(type, nullptr);
    EXPECT_EQ(static_cast<int>(type->shape), static_cast<int>(c.shape)) << c.schema;
  }
}

TEST(RuntimeTypeTest, ReadsListAndMapTypes) {
  std::shared_ptr<const RuntimeType> keep;
  const Type* type = Property("{'type':'array','items':{'type':'string'}}", &keep);
  EXPECT_EQ(type->list_type, ListType::kAtomic);
  EXPECT_EQ(type->name, "[]string");
  type =
      Property("{'type':'array','items':{'type':'string'},'x-kubernetes-list-type':'set'}", &keep);
  EXPECT_EQ(type->list_type, ListType::kSet);
  type = Property(
      "{'type':'array','items':{'type':'object'},'x-kubernetes-list-type':'map',"
      "'x-kubernetes-list-map-keys':['a','b']}",
      &keep);
  EXPECT_EQ(type->list_type, ListType::kMap);
  EXPECT_EQ(std::vector<std::string_view>(type->keys.begin(), type->keys.end()),
            (std::vector<std::string_view>{"a", "b"}));
  type = Property(
      "{'type':'array','items':{'type':'object'},'x-kubernetes-patch-strategy':"
      "'merge,retainKeys','x-kubernetes-patch-merge-key':'name'}",
      &keep);
  EXPECT_EQ(type->list_type, ListType::kMap);
  EXPECT_EQ(type->keys[0], "name");
  const Field* field = keep->type().Find("p");
  EXPECT_TRUE(field->Has(Field::kPatchMerge));
  EXPECT_TRUE(field->Has(Field::kPatchRetainKeys));
  EXPECT_EQ(field->merge_key, "name");
  type = Property("{'type':'object','x-kubernetes-map-type':'atomic','properties':{}}", &keep);
  EXPECT_TRUE(type->atomic);
}

TEST(RuntimeTypeTest, KeepsDefaultsNullabilityEnumsAndRequired) {
  auto type = Make(
      "{'type':'object','required':['b'],'properties':{"
      "'a':{'type':'string','enum':['x','y'],'default':'x','nullable':true},"
      "'b':{'type':'object','default':{'c':[1]}}}}");
  const Field* a = type->type().Find("a");
  EXPECT_EQ(a->default_json, R"("x")");
  EXPECT_TRUE(a->Has(Field::kPointer));
  EXPECT_FALSE(a->Has(Field::kRequired));
  EXPECT_EQ(a->type->enum_values.size(), 2u);
  EXPECT_EQ(type->type().Find("b")->default_json, R"({"c":[1]})");
  EXPECT_TRUE(type->type().Find("b")->Has(Field::kRequired));
  EXPECT_EQ(type->type().Find("zzz"), nullptr);
}

TEST(RuntimeTypeTest, RootIsAResource) {
  auto type = Make("{'type':'object','properties':{'kind':{'type':'string'},'spec':{}}}");
  EXPECT_TRUE(type->type().type_meta);
  EXPECT_EQ(type->type().Find("kind"), nullptr) << "implied by type_meta";
  EXPECT_EQ(type->type().Find("metadata")->type, &types::kAny);
  auto with = Make("{'type':'object','properties':{'metadata':{'type':'object'}}}",
                   {.metadata = &types::kRawExtension});
  EXPECT_EQ(with->type().Find("metadata")->type, &types::kRawExtension);
}

TEST(RuntimeTypeTest, DefinitionsCanBeRecursive) {
  Value definitions =
      J("{'A':{'type':'object','properties':{'next':{'$ref':'#/definitions/B'},"
        "'all':{'allOf':[{'$ref':'#/components/schemas/B'}],'default':{}}}},"
        "'B':{'type':'object','properties':{'b':{'$ref':'#/definitions/B'}}},"
        "'L':{'$ref':'#/definitions/M'},'M':{'$ref':'#/definitions/L'}}");
  auto type = RuntimeType::FromDefinitions(definitions, "A", {});
  ASSERT_TRUE(type.ok()) << type.status().ToString();
  const Type* b = (*type)->type().Find("next")->type;
  EXPECT_EQ(b, b->Find("b")->type);
  EXPECT_EQ(b, (*type)->type().Find("all")->type);
  EXPECT_EQ((*type)->type().Find("all")->default_json, "{}");
  EXPECT_FALSE(RuntimeType::FromDefinitions(definitions, "L", {}).ok());
  EXPECT_FALSE(RuntimeType::FromDefinitions(definitions, "Z", {}).ok());
}

TEST(RuntimeTypeTest, RejectsMalformedSchemas) {
  for (std::string_view schema :
       {"1", "[]", "{'properties':1}", "{'properties':{'a':1}}",
        "{'properties':{'a':{'type':'x'}}}", "{'properties':{'a':{'$ref':'#/definitions/B'}}}",
        "{'properties':{'a':{'type':'array','x-kubernetes-list-type':'x'}}}",
        "{'properties':{'a':{'type':'array','x-kubernetes-list-type':'map'}}}",
        "{'properties':{'a':{'type':'array','items':7}}}",
        "{'properties':{'a':{'type':'array','x-kubernetes-list-type':'map',"
        "'x-kubernetes-list-map-keys':[1]}}}"}) {
    auto type = RuntimeType::FromSchema(J(schema));
    ASSERT_FALSE(type.ok()) << schema;
    EXPECT_TRUE(type.status().Is(Reason::kInvalid)) << schema;
  }
}

TEST(RuntimeTypeTest, DepthIsLimited) {
  auto nested = [](int depth) {
    std::string schema = "{}";
    for (int i = 0; i < depth; ++i) schema = "{'type':'array','items':" + schema + "}";
    return J("{'properties':{'a':" + schema + "}}");
  };
  EXPECT_TRUE(RuntimeType::FromSchema(nested(RuntimeType::kMaxDepth - 1)).ok());
  EXPECT_FALSE(RuntimeType::FromSchema(nested(RuntimeType::kMaxDepth + 1)).ok());
}

TEST(RuntimeTypeTest, NumberOfPropertiesIsLimited) {
  auto wide = [](size_t n) {
    Value::Object properties;
    for (size_t i = 0; i < n; ++i) properties.Append("f" + std::to_string(i), J("{}"));
    properties.Seal();
    return Value::MakeObject({{"properties", Value(std::move(properties))}});
  };
  auto type = RuntimeType::FromSchema(wide(RuntimeType::kMaxProperties));
  ASSERT_TRUE(type.ok());
  for (std::string_view name : {"f0", "f1", "f9999"}) {
    const Field* field = (*type)->type().Find(name);
    ASSERT_NE(field, nullptr) << name;
    EXPECT_EQ(field->name, name);
  }
  EXPECT_FALSE(RuntimeType::FromSchema(wide(RuntimeType::kMaxProperties + 1)).ok());
}

TEST(RuntimeTypeTest, FindsNamesWithTheSameHash) {
  auto type = Make("{'properties':{'accessKeyABSecretRef':{},'accessKeyCDSecretRef':{}}}");
  EXPECT_EQ(type->type().Find("accessKeyABSecretRef")->name, "accessKeyABSecretRef");
  EXPECT_EQ(type->type().Find("accessKeyCDSecretRef")->name, "accessKeyCDSecretRef");
  EXPECT_EQ(type->type().Find("accessKeyEFSecretRef"), nullptr);
}

TEST(PruneTest, RemovesUnknownMembers) {
  auto type = Make(
      "{'type':'object','properties':{"
      "'spec':{'type':'object','properties':{'a':{'type':'string'},"
      "'list':{'type':'array','items':{'type':'object','properties':{'b':{}}}},"
      "'map':{'type':'object','additionalProperties':{'type':'object','properties':"
      "{'c':{}}}},"
      "'keep':{'type':'object','x-kubernetes-preserve-unknown-fields':true,"
      "'properties':{'d':{'type':'object','properties':{'e':{}}}}},"
      "'none':{'type':'object'}}}}}");
  Value value =
      J("{'apiVersion':'v1','kind':'T','metadata':{'x':1},'zzz':1,'spec':{'a':'1','z':1,"
        "'list':[{'b':1},{'b':1,'z':{'y':1}}],'map':{'k':{'c':1,'z':1}},"
        "'keep':{'any':1,'d':{'e':1,'f':1}},'none':{'q':1}}}");
  EXPECT_EQ(Prune(value, type->type()),
            (std::vector<std::string>{"spec.keep.d.f", "spec.list[1].z", "spec.map.k.z",
                                      "spec.none.q", "spec.z", "zzz"}));
  EXPECT_EQ(value, J("{'apiVersion':'v1','kind':'T','metadata':{'x':1},'spec':{'a':'1',"
                     "'list':[{'b':1},{'b':1}],'map':{'k':{'c':1}},'keep':{'any':1,'d':{'e':1}},"
                     "'none':{}}}"));
  EXPECT_TRUE(Prune(value, type->type()).empty());
}

TEST(PruneTest, NumberOfReportedPathsIsLimited) {
  auto type = Make("{'type':'object'}");
  Value::Object many;
  for (int i = 0; i < 1000; ++i) many.Append("f" + std::to_string(i), 1);
  many.Seal();
  Value value(std::move(many));
  EXPECT_EQ(Prune(value, type->type()).size(), limits::kMaxStrictErrors);
  EXPECT_TRUE(value.as_object().empty());
}

TEST(ApplyDefaultsTest, SetsMissingMembers) {
  auto type = Make(
      "{'type':'object','properties':{"
      "'a':{'type':'string','default':'x'},"
      "'n':{'type':'string','default':'x','nullable':true},"
      "'p':{'type':'string'},"
      "'o':{'type':'object','default':{},'properties':{'b':{'type':'integer','default':1}}},"
      "'q':{'type':'object','properties':{'b':{'type':'integer','default':1}}},"
      "'l':{'type':'array','items':{'type':'object','properties':"
      "{'c':{'type':'boolean','default':true}}}},"
      "'m':{'type':'object','additionalProperties':{'type':'object','properties':"
      "{'d':{'type':'number','default':0.5}}}}}}");
  struct {
    std::string_view in, out;
  } const cases[] = {
      {"{}", "{'a':'x','n':'x','o':{'b':1}}"},
      {"{'a':'y','n':null,'o':{'b':2}}", "{'a':'y','n':null,'o':{'b':2}}"},
      {"{'a':null,'p':null}", "{'a':'x','n':'x','o':{'b':1}}"},
      {"{'q':{},'l':[{},{'c':false}],'m':{'k':{}}}",
       "{'a':'x','l':[{'c':true},{'c':false}],'m':{'k':{'d':0.5}},'n':'x','o':{'b':1},'q':{'b':1}"
       "}"},
  };
  for (const auto& c : cases) {
    Value value = J(c.in);
    ApplyDefaults(value, type->type());
    EXPECT_EQ(json::Write(value), json::Write(J(c.out))) << c.in;
  }
}

TEST(BuildNameIndexTest, FindsEveryName) {
  for (size_t n : {0u, 1u, 2u, 3u, 17u, 60u, 300u, 2000u}) {
    std::vector<std::string> texts;
    for (size_t i = 0; i < n; ++i) texts.push_back("field" + std::to_string(i * 7919));
    std::vector<std::string_view> names(texts.begin(), texts.end());
    NameIndexParts parts = BuildNameIndex(names);
    EXPECT_EQ(parts.slots.size(), n > 0 ? parts.mask + size_t{1} : 0);
    EXPECT_LE(parts.slots.size(), std::max<size_t>(1024, 64 * n));
    EXPECT_EQ(parts.perfect, n < 1000) << n;
    for (size_t row = 0; row < n; ++row) {
      uint32_t at = NameIndex::Hash(names[row], parts.seed) & parts.mask;
      if (parts.perfect) {
        ASSERT_EQ(parts.slots[at], row);
      }
      while (parts.slots[at] != row) {
        ASSERT_NE(parts.slots[at], NameIndex::kNone);
        at = (at + 1) & parts.mask;
      }
    }
  }
}

TEST(BuildNameIndexTest, PlacesNamesWithTheSameHash) {
  std::vector<std::string_view> names = {"beginning-A-endending", "beginning-B-endending"};
  NameIndexParts parts = BuildNameIndex(names);
  EXPECT_FALSE(parts.perfect);
  EXPECT_EQ(std::count(parts.slots.begin(), parts.slots.end(), NameIndex::kNone),
            static_cast<std::ptrdiff_t>(parts.slots.size()) - 2);
}

}  // namespace
}  // namespace cox
