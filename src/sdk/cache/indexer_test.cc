// SPDX-License-Identifier: Apache-2.0
#include "sdk/cache/indexer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "api/core/v1.h"
#include "base/strings.h"

namespace cox::sdk {
namespace {

using core::v1::ConfigMap;

// A ConfigMap with the values of its index entries, separated by commas.
Item MakeItem(const std::string& ns, const std::string& name, const std::string& values,
              int64_t version = 1) {
  ConfigMap map;
  map.metadata.namespace_ = ns;
  map.metadata.name = name;
  map.metadata.uid = ns + "/" + name;
  map.metadata.resourceVersion = std::to_string(version);
  map.data["values"] = values;
  const ItemForm form(Resource::Of<ConfigMap>(), false, {});
  return form.Make(std::make_shared<const Object>(Object::Of(std::move(map))));
}

std::vector<std::string> ValuesIn(const Object& object) {
  std::vector<std::string> values;
  for (const std::string_view value :
       Split(object.As<ConfigMap>()->data.find("values")->second, ',')) {
    if (!value.empty()) values.emplace_back(value);
  }
  return values;
}

std::set<std::string> NamesOf(const std::vector<Item>& items) {
  std::set<std::string> names;
  for (const Item& item : items) names.insert(item.key().ToString());
  EXPECT_EQ(names.size(), items.size()) << "each item once";
  return names;
}

TEST(IndexerTest, FindsItemsByEachOfTheirValues) {
  using Names = std::set<std::string>;
  Indexer indexer;
  indexer.Put(MakeItem("ns", "before", "x"));
  indexer.AddIndex("by-value", ValuesIn);
  indexer.Put(MakeItem("ns", "a", "x,y"));
  indexer.Put(MakeItem("other", "a", "y,y"));
  indexer.Put(MakeItem("ns", "none", ""));
  EXPECT_EQ(NamesOf(indexer.Find("by-value", "x")), (Names{"ns/before", "ns/a"}));
  EXPECT_EQ(NamesOf(indexer.Find("by-value", "y")), (Names{"ns/a", "other/a"}));
  EXPECT_TRUE(indexer.Find("by-value", "z").empty());
  EXPECT_TRUE(indexer.Find("unknown", "x").empty());
  indexer.Put(MakeItem("ns", "a", "z,x"));
  EXPECT_EQ(NamesOf(indexer.Find("by-value", "y")), (Names{"other/a"}));
  EXPECT_EQ(NamesOf(indexer.Find("by-value", "z")), (Names{"ns/a"}));
  indexer.Remove("ns", "a");
  EXPECT_TRUE(indexer.Find("by-value", "z").empty());
  EXPECT_EQ(NamesOf(indexer.Find("by-value", "x")), (Names{"ns/before"}));
}

TEST(IndexerTest, NewFunctionReplacesTheIndexOfTheSameName) {
  Indexer indexer;
  indexer.AddIndex("index", ValuesIn);
  indexer.Put(MakeItem("ns", "a", "x"));
  indexer.AddIndex("index", [](const Object&) { return std::vector<std::string>{"all"}; });
  EXPECT_TRUE(indexer.Find("index", "x").empty());
  EXPECT_EQ(indexer.Find("index", "all").size(), 1U);
}

TEST(IndexerTest, VisitStopsWhenTheVisitorReturnsFalse) {
  Indexer indexer;
  indexer.AddIndex("index", ValuesIn);
  for (const char* name : {"a", "b", "c"}) indexer.Put(MakeItem("ns", name, "x"));
  int visited = 0;
  indexer.Visit("index", "x", [&](const Item&) { return ++visited < 2; });
  EXPECT_EQ(visited, 2);
}

TEST(IndexerTest, SubstituteKeepsTheIndexEntries) {
  Indexer indexer;
  indexer.AddIndex("index", ValuesIn);
  indexer.Put(MakeItem("ns", "a", "x"));
  const Item other_form = MakeItem("ns", "a", "x");
  indexer.Substitute(other_form);
  EXPECT_EQ(indexer.size(), 1U);
  EXPECT_EQ(indexer.Get("ns", "a").Read(), other_form.Read());
  EXPECT_EQ(indexer.Find("index", "x").front().Read(), other_form.Read());
}

TEST(IndexerTest, BytesAreThoseOfTheCurrentItems) {
  Indexer indexer;
  EXPECT_EQ(indexer.bytes(), 0U);
  indexer.Put(MakeItem("ns", "a", ""));
  const size_t small = indexer.bytes();
  indexer.Put(MakeItem("ns", "a", std::string(10'000, 'x')));
  EXPECT_GT(indexer.bytes(), small + 10'000);
  indexer.Put(MakeItem("ns", "a", ""));
  EXPECT_EQ(indexer.bytes(), small);
  indexer.Remove("ns", "a");
  EXPECT_EQ(indexer.bytes(), 0U);
}

// Random changes lead to the same index entries as a search through all items.
TEST(IndexerTest, IndexesAgreeWithTheItemsAfterRandomChanges) {
  std::minstd_rand random(42);
  const auto below = [&random](unsigned limit) { return static_cast<unsigned>(random()) % limit; };
  Indexer indexer;
  indexer.AddIndex("first", ValuesIn);
  indexer.AddIndex("second", [](const Object& object) {
    std::vector<std::string> values = ValuesIn(object);
    if (values.size() > 1) values.resize(1);
    return values;
  });
  for (int step = 0; step < 3000; ++step) {
    const std::string ns = below(2) == 0 ? "a" : "b";
    const std::string name = std::to_string(below(20));
    if (below(4) == 0) {
      indexer.Remove(ns, name);
    } else {
      std::string values;
      for (unsigned i = below(4); i > 0; --i) values += std::to_string(below(5)) + ",";
      indexer.Put(MakeItem(ns, name, values));
    }
    if (step % 50 != 0) continue;
    for (int value = 0; value < 5; ++value) {
      const std::string text = std::to_string(value);
      std::set<std::string> first;
      std::set<std::string> second;
      for (const Item& item : indexer.List("")) {
        const std::vector<std::string> values = ValuesIn(*item.Read());
        const auto at = std::find(values.begin(), values.end(), text);
        if (at != values.end()) first.insert(item.key().ToString());
        if (at == values.begin() && at != values.end()) second.insert(item.key().ToString());
      }
      ASSERT_EQ(NamesOf(indexer.Find("first", text)), first) << "step " << step;
      ASSERT_EQ(NamesOf(indexer.Find("second", text)), second) << "step " << step;
    }
  }
}

}  // namespace
}  // namespace cox::sdk
