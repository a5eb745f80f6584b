// SPDX-License-Identifier: Apache-2.0
#include "object/apply/typed.h"

#include <gtest/gtest.h>

#include "object/apply/fields_v1.h"
#include "object/testing/test_schema.h"
#include "object/type/limits.h"

namespace cox::apply {
namespace {

std::string Json(std::string_view quoted) { return json::Write(J(quoted)); }
// Sets are compared as Values: the order of fieldsV1 has its own test.
std::string Text(const FieldSet& set) { return json::Write(FieldsV1ToValue(set)); }

TEST(ToFieldSetTest, ContainsTheFieldsOfAValue) {
  struct {
    std::string_view value, set;
  } const cases[] = {
      {"{}", "{}"},
      {"{'apiVersion':'v1','kind':'T'}", "{'f:apiVersion':{},'f:kind':{}}"},
      {"{'num':1}", "{'f:num':{}}"},
      {"{'num':null}", "{'f:num':{}}"},
      {"{'struct':{}}", "{'f:struct':{}}"},
      {"{'struct':null}", "{'f:struct':{}}"},
      {"{'struct':{'c':{}}}", "{'f:struct':{'f:c':{}}}"},
      {"{'struct':{'a':'1','c':{'d':'2'}}}", "{'f:struct':{'f:a':{},'f:c':{'f:d':{}}}}"},
      {"{'map':{}}", "{'f:map':{}}"},
      {"{'map':{'a':'x'}}", "{'f:map':{'f:a':{}}}"},
      // Keys of maps are owned, fields of structs are not.
      {"{'maps':{'x':{'a':'1'}}}", "{'f:maps':{'f:x':{'.':{},'f:a':{}}}}"},
      {"{'atomicMap':{'a':'1'}}", "{'f:atomicMap':{}}"},
      {"{'atomicMap':{}}", "{'f:atomicMap':{}}"},
      {"{'atomicStruct':{'a':'1'}}", "{'f:atomicStruct':{}}"},
      {"{'atomicList':['b','a']}", "{'f:atomicList':{}}"},
      {"{'atomicList':[]}", "{'f:atomicList':{}}"},
      {"{'set':['b','a']}", "{'f:set':{'v:\\'a\\'':{},'v:\\'b\\'':{}}}"},
      {"{'set':[]}", "{}"},
      {"{'set':null}", "{'f:set':{}}"},
      {"{'containers':[{'name':'a','image':'x'}]}",
       "{'f:containers':{'k:{\\'name\\':\\'a\\'}':{'.':{},'f:image':{},'f:name':{}}}}"},
      // A missing key counts as its default, which is not owned.
      {"{'containers':[{'name':'a','ports':[{'port':80}]}]}",
       "{'f:containers':{'k:{\\'name\\':\\'a\\'}':{'.':{},'f:name':{},'f:ports':"
       "{'k:{\\'port\\':80,\\'protocol\\':\\'TCP\\'}':{'.':{},'f:port':{}}}}}}"},
      {"{'containers':[]}", "{}"},
      {"{'any':{'a':{'b':[1],'c':{}}}}", "{'f:any':{'f:a':{'.':{},'f:b':{},'f:c':{}}}}"},
      {"{'any':[1]}", "{'f:any':{}}"},
      {"{'any':1}", "{'f:any':{}}"},
  };
  for (const auto& c : cases) {
    Value value = J(c.value);
    ASSERT_TRUE(Validate(value, TestType()).ok()) << c.value;
    Result<FieldSet> set = ToFieldSet(value, TestType());
    ASSERT_TRUE(set.ok()) << c.value;
    EXPECT_EQ(Text(*set), Json(c.set)) << c.value;
  }
}

TEST(ToFieldSetTest, OnlyTheElementOfDuplicateItemsIsOwned) {
  Value value = J("{'containers':[{'name':'a','image':'x'},{'name':'a'}],'set':['a','a']}");
  EXPECT_TRUE(Validate(value, TestType(), Duplicates::kAllow).ok());
  Result<FieldSet> set = ToFieldSet(value, TestType());
  ASSERT_TRUE(set.ok());
  EXPECT_EQ(Text(*set),
            Json("{'f:containers':{'k:{\\'name\\':\\'a\\'}':{}},'f:set':{'v:\\'a\\'':{}}}"));
}

TEST(ValidateTest, ErrorsContainThePath) {
  struct {
    std::string_view value, error;
  } const cases[] = {
      {"{'nope':1}", ".nope: field not declared in schema"},
      {"{'struct':{'z':1}}", ".struct.z: field not declared in schema"},
      {"{'num':'x'}", ".num: expected numeric (int or float), got string"},
      {"{'num':true}", ".num: expected numeric (int or float), got boolean"},
      {"{'str':5}", ".str: expected string, got &value.valueUnstructured{Value:5}"},
      {"{'str':{'a':[1,null,'x']}}",
       ".str: expected string, got &value.valueUnstructured{Value:map[string]interface {}"
       "{\"a\":[]interface {}{1, interface {}(nil), \"x\"}}}"},
      {"{'bool':'x'}", ".bool: expected boolean, got &{x}"},
      {"{'map':['a','b']}", ".map: expected map, got &{[a b]}"},
      {"{'map':{'a':1}}", ".map.a: expected string, got &value.valueUnstructured{Value:1}"},
      {"{'set':{'a':1,'b':null}}", ".set: expected list, got &{map[a:1 b:<nil>]}"},
      {"{'set':['a','b','a']}", ".set: duplicate entries for key [=\"a\"]"},
      {"{'set':['a',null]}",
       ".set: element 1: associative list without keys has an element that's an explicit null"},
      {"{'set':[{'a':1}]}",
       ".set: element 0: associative list without keys has an element that's a map type"},
      {"{'set':[['a']]}",
       ".set: element 0: not supported: associative list with lists as elements"},
      {"{'containers':[{'name':'a'},{'name':'a'}]}",
       ".containers: duplicate entries for key [name=\"a\"]"},
      {"{'containers':[null]}",
       ".containers: element 0: associative list with keys may not have a null element"},
      {"{'containers':['x']}",
       ".containers: element 0: associative list with keys may not have non-map elements"},
      {"{'containers':[{'image':'x'}]}",
       ".containers: element 0: associative list with keys has an element that omits all key "
       "fields [\"name\"] (and doesn't have default values for any key fields)"},
      {"{'containers':[{'name':'a','ports':[{'port':1},{'port':1,'protocol':'TCP'}]}]}",
       ".containers[name=\"a\"].ports: duplicate entries for key [port=1,protocol=\"TCP\"]"},
      {"{'atomicList':[1]}",
       ".atomicList[0]: expected string, got &value.valueUnstructured{Value:1}"},
      {"{'atomicStruct':{'z':1}}", ".atomicStruct.z: field not declared in schema"},
  };
  for (const auto& c : cases) {
    Status status = Validate(J(c.value), TestType());
    ASSERT_FALSE(status.ok()) << c.value;
    EXPECT_EQ(status.message(), c.error);
  }
}

TEST(ValidateTest, DepthIsLimited) {
  auto nested = [](int depth) {
    Value value = 1;
    for (int i = 0; i < depth; ++i) value = Value::MakeObject({{"a", std::move(value)}});
    return Value::MakeObject({{"any", std::move(value)}});
  };
  EXPECT_TRUE(Validate(nested(limits::kMaxTypedDepth - 1), TestType()).ok());
  EXPECT_FALSE(Validate(nested(limits::kMaxTypedDepth + 1), TestType()).ok());
  EXPECT_FALSE(ToFieldSet(nested(limits::kMaxTypedDepth + 1), TestType()).ok());
  Value deep = nested(limits::kMaxTypedDepth + 1);
  EXPECT_FALSE(Compare(deep, deep, TestType()).ok());
  EXPECT_FALSE(Merge(deep, deep, TestType()).ok());
}

TEST(CompareTest, ReportsAddedModifiedAndRemovedFields) {
  struct {
    std::string_view before, after, added, modified, removed;
  } const cases[] = {
      {"{'num':1}", "{'num':1}", "{}", "{}", "{}"},
      {"{}", "{'num':1}", "{'f:num':{}}", "{}", "{}"},
      {"{'num':1}", "{'num':2}", "{}", "{'f:num':{}}", "{}"},
      {"{'num':1}", "{}", "{}", "{}", "{'f:num':{}}"},
      {"{'num':1}", "{'num':null}", "{}", "{'f:num':{}}", "{}"},
      {"{}", "{'map':{'a':'1'}}", "{'f:map':{'.':{},'f:a':{}}}", "{}", "{}"},
      {"{'map':{'a':'1'}}", "{'map':{'b':'1'}}", "{'f:map':{'f:b':{}}}", "{}",
       "{'f:map':{'f:a':{}}}"},
      {"{'map':null}", "{'map':{}}", "{}", "{'f:map':{}}", "{}"},
      {"{'map':null}", "{'map':{'a':'1'}}", "{'f:map':{'f:a':{}}}", "{}", "{}"},
      {"{}", "{'struct':{'c':{'d':'1'}}}", "{'f:struct':{'.':{},'f:c':{'.':{},'f:d':{}}}}", "{}",
       "{}"},
      {"{'atomicMap':{'a':'1'}}", "{'atomicMap':{'a':'2'}}", "{}", "{'f:atomicMap':{}}", "{}"},
      {"{'atomicStruct':{'a':'1'}}", "{}", "{}", "{}", "{'f:atomicStruct':{}}"},
      {"{'atomicList':['a']}", "{'atomicList':['b']}", "{}", "{'f:atomicList':{}}", "{}"},
      {"{'set':['a','b']}", "{'set':['b','a']}", "{}", "{}", "{}"},
      {"{'set':['a','b']}", "{'set':['b','c']}", "{'f:set':{'v:\\'c\\'':{}}}", "{}",
       "{'f:set':{'v:\\'a\\'':{}}}"},
      {"{'containers':[{'name':'a','image':'x'},{'name':'b'}]}",
       "{'containers':[{'name':'c'},{'name':'a','image':'y'}]}",
       "{'f:containers':{'k:{\\'name\\':\\'c\\'}':{'.':{},'f:name':{}}}}",
       "{'f:containers':{'k:{\\'name\\':\\'a\\'}':{'f:image':{}}}}",
       "{'f:containers':{'k:{\\'name\\':\\'b\\'}':{'.':{},'f:name':{}}}}"},
      {"{'any':{'a':1}}", "{'any':[1]}", "{}", "{'f:any':{}}", "{'f:any':{'f:a':{}}}"},
      {"{'any':1}", "{'any':{'a':1}}", "{'f:any':{'f:a':{}}}", "{'f:any':{}}", "{}"},
      // Duplicates count as one value.
      {"{'set':['a','a']}", "{'set':['a','b','a']}", "{'f:set':{'v:\\'b\\'':{}}}", "{}", "{}"},
      {"{'set':['a','a']}", "{'set':['a']}", "{'f:set':{'v:\\'a\\'':{}}}", "{}",
       "{'f:set':{'v:\\'a\\'':{}}}"},
      {"{'containers':[{'name':'a','image':'x'},{'name':'a'}]}",
       "{'containers':[{'name':'a'},{'name':'a','image':'x'}]}", "{}",
       "{'f:containers':{'k:{\\'name\\':\\'a\\'}':{}}}", "{}"},
  };
  for (const auto& c : cases) {
    Result<Comparison> difference = Compare(J(c.before), J(c.after), TestType());
    ASSERT_TRUE(difference.ok()) << c.before;
    EXPECT_EQ(Text(difference->added), Json(c.added)) << c.before << c.after;
    EXPECT_EQ(Text(difference->modified), Json(c.modified)) << c.before << c.after;
    EXPECT_EQ(Text(difference->removed), Json(c.removed)) << c.before << c.after;
  }
}

TEST(MergeTest, MergesConfigIntoBase) {
  struct {
    std::string_view base, config, merged;
  } const cases[] = {
      {"{'num':1,'str':'a'}", "{'num':2}", "{'num':2,'str':'a'}"},
      {"{'num':1}", "{'num':null}", "{'num':null}"},
      {"{'map':{'a':'1'}}", "{'map':{'b':'2'}}", "{'map':{'a':'1','b':'2'}}"},
      {"{'map':{'a':'1'}}", "{'map':null}", "{'map':{'a':'1'}}"},
      {"{'map':{}}", "{'map':null}", "{'map':null}"},
      {"{'atomicMap':{'a':'1'}}", "{'atomicMap':{'b':'2'}}", "{'atomicMap':{'b':'2'}}"},
      {"{'atomicList':['a']}", "{'atomicList':[]}", "{'atomicList':[]}"},
      {"{'set':['a']}", "{'set':[]}", "{'set':['a']}"},
      {"{'set':['a','b','c']}", "{'set':['c','d','a']}", "{'set':['b','c','d','a']}"},
      {"{'set':['a','b','c','d']}", "{'set':['d','x','b']}", "{'set':['a','c','d','x','b']}"},
      {"{'set':['1','2','3']}", "{'set':['x','2','y']}", "{'set':['1','x','2','3','y']}"},
      {"{'set':['e','a','d','b','g']}", "{'set':['a','e','b','d','f']}",
       "{'set':['a','g','e','b','d','f']}"},
      {"{'set':['a','b','a']}", "{'set':['a']}", "{'set':['a','b']}"},
      {"{'set':['a','a']}", "{'set':['b']}", "{'set':['a','a','b']}"},
      {"{'containers':[{'name':'a','image':'1'},{'name':'b'}]}",
       "{'containers':[{'name':'c'},{'name':'a','ports':[{'port':1}]}]}",
       "{'containers':[{'name':'c'},{'image':'1','name':'a','ports':[{'port':1}]},{'name':'b'}]}"},
      {"{'any':{'a':{'b':[1],'c':1}}}", "{'any':{'a':{'b':[2]}}}", "{'any':{'a':{'b':[2],'c':1}}}"},
      {"{'any':{'a':1}}", "{'any':[1]}", "{'any':[1]}"},
      {"{'any':{'a':1}}", "{'any':null}", "{'any':{'a':1}}"},
      {"{'any':[1]}", "{'any':null}", "{'any':null}"},
  };
  for (const auto& c : cases) {
    Result<Value> merged = Merge(J(c.base), J(c.config), TestType());
    ASSERT_TRUE(merged.ok()) << c.base;
    EXPECT_EQ(json::Write(*merged), Json(c.merged)) << c.base << c.config;
  }
}

TEST(RemoveItemsTest, RemovesFields) {
  struct {
    std::string_view value, set, result;
  } const cases[] = {
      {"{'num':1,'str':'a'}", "{'f:num':{}}", "{'str':'a'}"},
      {"{'num':1}", "{'f:num':{}}", "null"},
      {"{'map':{'a':'1','b':'2'}}", "{'f:map':{'f:a':{}}}", "{'map':{'b':'2'}}"},
      {"{'map':{'a':'1'}}", "{'f:map':{'f:a':{}}}", "{'map':null}"},
      {"{'map':{'a':'1'}}", "{'f:map':{'.':{},'f:a':{}},'f:x':{}}", "null"},
      {"{'set':['a','b'],'num':1}", "{'f:set':{'v:\\'a\\'':{}}}", "{'num':1,'set':['b']}"},
      {"{'containers':[{'name':'a','image':'x'},{'name':'b'}]}",
       "{'f:containers':{'k:{\\'name\\':\\'b\\'}':{},'k:{\\'name\\':\\'a\\'}':{'f:image':{}}}}",
       "{'containers':[{'name':'a'}]}"},
      {"{'atomicMap':{'a':'1','b':'2'}}", "{'f:atomicMap':{'f:a':{}}}", "{'atomicMap':null}"},
      {"{'num':1}", "{'f:num':{'f:x':{}}}", "{'num':1}"},
      {"{'num':1}", "{}", "{'num':1}"},
  };
  for (const auto& c : cases) {
    Result<Value> left = RemoveItems(J(c.value), TestType(), *FieldsV1FromValue(J(c.set)));
    ASSERT_TRUE(left.ok()) << c.value;
    EXPECT_EQ(json::Write(*left), Json(c.result)) << c.value << c.set;
  }
}

TEST(ExtractItemsTest, KeepsFieldsAndTheKeysOfTheirItems) {
  struct {
    std::string_view value, set, result;
  } const cases[] = {
      {"{'num':1,'str':'a'}", "{'f:num':{}}", "{'num':1}"},
      {"{'num':1}", "{'f:x':{}}", "null"},
      {"{'map':{'a':'1','b':'2'}}", "{'f:map':{'f:a':{}}}", "{'map':{'a':'1'}}"},
      {"{'set':['a','b']}", "{'f:set':{'v:\\'b\\'':{}}}", "{'set':['b']}"},
      {"{'containers':[{'name':'a','image':'x','ports':[{'port':1,'host':'h'}]},{'name':'b'}]}",
       "{'f:containers':{'k:{\\'name\\':\\'a\\'}':{'f:ports':"
       "{'k:{\\'port\\':1,\\'protocol\\':\\'TCP\\'}':{'f:host':{}}}}}}",
       "{'containers':[{'name':'a','ports':[{'host':'h','port':1}]}]}"},
      {"{'atomicMap':{'a':'1','b':'2'}}", "{'f:atomicMap':{}}", "{'atomicMap':{'a':'1','b':'2'}}"},
  };
  for (const auto& c : cases) {
    Result<Value> part = ExtractItems(J(c.value), TestType(), *FieldsV1FromValue(J(c.set)));
    ASSERT_TRUE(part.ok()) << c.value;
    EXPECT_EQ(json::Write(*part), Json(c.result)) << c.value << c.set;
  }
}

TEST(WithNamedFieldsTest, AddsStructFieldsButNoMapKeys) {
  FieldSet set =
      *FieldsV1FromValue(J("{'f:maps':{'f:x':{'f:a':{}}},'f:struct':{'f:c':{'f:d':{}}}}"));
  EXPECT_EQ(Text(WithNamedFields(set, TestType())),
            Json("{'f:maps':{'.':{},'f:x':{'f:a':{}}},"
                 "'f:struct':{'.':{},'f:c':{'.':{},'f:d':{}}}}"));
}

}  // namespace
}  // namespace cox::apply
