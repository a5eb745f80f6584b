// SPDX-License-Identifier: Apache-2.0
// Compares List, Box and Map with std::vector, std::optional and std::map.
#include "object/type/containers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "api/core/v1.h"

namespace cox {

// An item that owns memory, contains itself, and cannot be moved byte by byte.
struct Node {
  std::string name;
  List<Node> children;
  Box<Node> next;
  const Node* self = this;

  Node() = default;
  Node(std::string n) : name(std::move(n)) {}  // NOLINT: items are written as strings
  Node(const Node& other) : name(other.name), children(other.children), next(other.next) {}
  Node(Node&& other) noexcept
      : name(std::move(other.name)),
        children(std::move(other.children)),
        next(std::move(other.next)) {}
  Node& operator=(const Node& other) { return *this = Node(other); }
  Node& operator=(Node&& other) noexcept {
    name = std::move(other.name);
    children = std::move(other.children);
    next = std::move(other.next);
    return *this;
  }
  bool operator==(const Node& other) const {
    return name == other.name && children == other.children && next == other.next;
  }
};

template struct Items<Node>;
template struct Items<Map<Node>::Entry>;

namespace {

// Returns a string that is too long for the small-string buffer.
std::string Name(uint32_t n) {
  return "an item with a long name, number " + std::to_string(n % 100);
}

void ExpectSame(const List<Node>& list, const std::vector<std::string>& names) {
  ASSERT_EQ(list.size(), names.size());
  ASSERT_EQ(list.empty(), names.empty());
  ASSERT_LE(list.size(), list.capacity());
  for (size_t i = 0; i < names.size(); ++i) ASSERT_EQ(list[i].name, names[i]) << i;
}

TEST(ListTest, AgreesWithVectorAfterRandomOperations) {
  std::mt19937 random(7);  // NOLINT: the same operations in every run
  List<Node> list;
  std::vector<std::string> names;
  for (int step = 0; step < 20'000; ++step) {
    const size_t at = random() % (names.size() + 1);
    const std::string name = Name(static_cast<uint32_t>(random()));
    switch (random() % 12) {
      case 0:
      case 1:
        list.push_back(Node(name));
        names.push_back(name);
        break;
      case 2: {
        const Node node(name);
        const auto inserted = list.insert(list.begin() + at, node);
        ASSERT_EQ(inserted - list.begin(), static_cast<std::ptrdiff_t>(at));
        names.insert(names.begin() + static_cast<std::ptrdiff_t>(at), name);
        break;
      }
      case 3:
        list.insert(list.begin() + at, Node(name));
        names.insert(names.begin() + static_cast<std::ptrdiff_t>(at), name);
        break;
      case 4: {
        const std::vector<std::string> more(random() % 4, name);
        list.insert(list.begin() + at, more.begin(), more.end());
        names.insert(names.begin() + static_cast<std::ptrdiff_t>(at), more.begin(), more.end());
        break;
      }
      case 5: {
        const size_t end = at + random() % (names.size() + 1 - at);
        list.erase(list.begin() + at, list.begin() + end);
        names.erase(names.begin() + static_cast<std::ptrdiff_t>(at),
                    names.begin() + static_cast<std::ptrdiff_t>(end));
        break;
      }
      case 6:
        if (names.empty()) break;
        list.pop_back();
        names.pop_back();
        break;
      case 7: {
        const size_t size = random() % 20;
        list.resize(size);
        names.resize(size);
        break;
      }
      case 8:
        ASSERT_EQ(erase_if(list, [&](const Node& node) { return node.name == name; }),
                  std::erase(names, name));
        break;
      case 9: {
        List<Node> copy = list;
        ASSERT_EQ(copy, list);
        list = std::move(copy);
        break;
      }
      case 10: {
        List<Node> other = {Node(name), Node(name)};
        other = list;
        ASSERT_EQ(other, list);
        other.emplace_back(name);
        ASSERT_FALSE(other == list);
        list.swap(other);
        names.push_back(name);
        break;
      }
      case 11:
        list.emplace_back().name = name;
        names.push_back(name);
        std::sort(list.begin(), list.end(),
                  [](const Node& a, const Node& b) { return a.name < b.name; });
        std::sort(names.begin(), names.end());
        break;
    }
    ASSERT_NO_FATAL_FAILURE(ExpectSame(list, names)) << "step " << step;
    for (const Node& node : list) ASSERT_EQ(node.self, &node);
  }
}

TEST(ListTest, InsertsACopyOfItsOwnItem) {
  List<Node> list = {Name(1), Name(2)};
  for (int i = 0; i < 20; ++i) {
    list.push_back(list.front());
    list.insert(list.begin(), list.back());
    EXPECT_EQ(list.front().name, Name(1));
    EXPECT_EQ(list.back().name, Name(1));
  }
}

TEST(ListTest, CanBeAssignedAPartOfItself) {
  List<Node> list = {Name(1)};
  list[0].children = {Name(2), Name(3)};
  list = std::move(list[0].children);
  ASSERT_NO_FATAL_FAILURE(ExpectSame(list, {Name(2), Name(3)}));
  list[1].children = {Name(4)};
  list = list[1].children;
  ASSERT_NO_FATAL_FAILURE(ExpectSame(list, {Name(4)}));
  const List<Node>& same = list;
  list = same;
  ASSERT_NO_FATAL_FAILURE(ExpectSame(list, {Name(4)}));
}

TEST(ListTest, WorksWithSpansAndRanges) {
  List<std::string> list = {"b", "a"};
  EXPECT_EQ(std::span<const std::string>(list).size(), 2u);
  std::ranges::sort(list);
  EXPECT_EQ(list, (List<std::string>{"a", "b"}));
  EXPECT_EQ(std::vector<std::string>(list.rbegin(), list.rend()),
            (std::vector<std::string>{"b", "a"}));
  EXPECT_EQ(sizeof(list), 16u);
}

TEST(ListTest, AtChecksTheIndex) {
  List<std::string> list = {"a"};
  EXPECT_EQ(list.at(0), "a");
  EXPECT_THROW(list.at(1), std::out_of_range);
  EXPECT_THROW(List<int32_t>().at(0), std::out_of_range);
}

TEST(ListTest, CopiesTheItemsOfAVector) {
  const std::vector<std::string> args = {"a", "b"};
  const core::v1::Container container = {.args = args};
  EXPECT_EQ(container.args, args);
  EXPECT_EQ(container.args, (List<std::string>{"a", "b"}));
}

TEST(BoxTest, CopiesItsValue) {
  Box<Node> box;
  EXPECT_FALSE(box.has_value());
  EXPECT_EQ(box, nullptr);
  box = Node(Name(1));
  Box<Node> copy = box;
  EXPECT_EQ(copy, box);
  copy->name = Name(2);
  EXPECT_FALSE(copy == box);
  EXPECT_EQ(box->name, Name(1));
  box = std::move(copy);
  EXPECT_FALSE(copy.has_value());  // NOLINT: a Box that was moved from is empty
  EXPECT_EQ(box->name, Name(2));
  EXPECT_EQ(&box.ensure(), box.get());
  box.reset();
  EXPECT_EQ(box.ensure().name, "");
}

TEST(BoxTest, CanBeAssignedAPartOfItself) {
  Box<Node> box = Node(Name(1));
  box->next = Node(Name(2));
  box->next->next = Node(Name(3));
  box = box->next;
  EXPECT_EQ(box->name, Name(2));
  box = std::move(box->next);
  EXPECT_EQ(box->name, Name(3));
  EXPECT_FALSE(box->next.has_value());
}

TEST(MapTest, AgreesWithStdMapAfterRandomOperations) {
  std::mt19937 random(7);  // NOLINT: the same operations in every run
  Map<Node> map;
  std::map<std::string, std::string> expected;
  for (int step = 0; step < 10'000; ++step) {
    const std::string key = Name(static_cast<uint32_t>(random()));
    switch (random() % 4) {
      case 0:
      case 1:
        map[key] = Node(key + "'");
        expected[key] = key + "'";
        break;
      case 2:
        ASSERT_EQ(map.erase(key), expected.erase(key) == 1);
        break;
      case 3:
        if (expected.empty()) break;
        map[map.begin()->first].name = "first";
        expected.begin()->second = "first";
        break;
    }
    ASSERT_EQ(map.size(), expected.size());
    ASSERT_EQ(map.contains(key), expected.contains(key));
    auto entry = map.begin();
    for (const auto& [name, value] : expected) {
      ASSERT_EQ(entry->first, name);
      ASSERT_EQ(entry->second.name, value);
      ++entry;
    }
  }
}

TEST(MapTest, SealSortsAndKeepsTheLastOfEqualKeys) {
  std::mt19937 random(7);  // NOLINT: the same keys in every run
  for (int run = 0; run < 200; ++run) {
    Map<std::string> map;
    std::map<std::string, std::string> expected;
    const size_t count = random() % 30;
    for (size_t i = 0; i < count; ++i) {
      const std::string key = Name(static_cast<uint32_t>(random()));
      map.Append(key) = std::to_string(i);
      expected[key] = std::to_string(i);
    }
    EXPECT_EQ(map.Seal(), expected.size() == count);
    ASSERT_EQ(map.size(), expected.size());
    for (const auto& [key, value] : expected) EXPECT_EQ(*map.Get(key), value);
    EXPECT_TRUE(std::ranges::is_sorted(map, {}, &Map<std::string>::Entry::first));
  }
}

TEST(StructTest, EqualityComparesEveryField) {
  core::v1::Pod pod;
  pod.metadata.labels = {{"app", "web"}};
  pod.spec.containers = {{.name = "a", .args = {"x"}}};
  core::v1::Pod copy = pod;
  EXPECT_EQ(copy, pod);
  copy.spec.containers[0].args[0] = "y";
  EXPECT_FALSE(copy == pod);
  copy = pod;
  copy.metadata.labels["app"] = "other";
  EXPECT_FALSE(copy == pod);
  copy = pod;
  copy.spec.containers[0].securityContext.ensure();
  EXPECT_FALSE(copy == pod);
}

}  // namespace
}  // namespace cox
