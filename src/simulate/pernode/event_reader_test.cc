// SPDX-License-Identifier: Apache-2.0
#include "simulate/pernode/event_reader.h"

#include <gtest/gtest.h>

#include <vector>

#include "api/core/v1.h"
#include "simulate/testing/node_harness.h"

namespace cox::simulate {
namespace {

using core::v1::Service;

Service MakeService(const std::string& name, const std::string& version) {
  Service service;
  service.metadata.name = name;
  service.metadata.namespace_ = "default";
  service.metadata.uid = "uid-" + name;
  service.metadata.resourceVersion = version;
  return service;
}

// Feeds pieces of `size` bytes and returns "type name version" of each event.
std::vector<std::string> ReadInPieces(const std::string& stream, size_t size) {
  EventReader reader;
  std::vector<std::string> events;
  for (size_t at = 0; at < stream.size(); at += size) {
    const Status read = reader.Feed(stream.substr(at, size), [&](const WatchedEvent& event) {
      ObjectView view;
      EXPECT_TRUE(ReadObjectView(event.object, &view));
      EXPECT_EQ(view.ns, "default");
      EXPECT_EQ(view.uid, "uid-" + std::string(view.name));
      events.push_back(std::to_string(static_cast<int>(event.type)) + " " + std::string(view.name) +
                       " " + std::string(view.resource_version));
      return true;
    });
    EXPECT_TRUE(read.ok()) << read.ToString();
  }
  return events;
}

TEST(EventReader, ReadsEventsOfAnyFragmentation) {
  const std::string stream = NodeHarness::Event("ADDED", MakeService("a", "1")) +
                             NodeHarness::Event("MODIFIED", MakeService("b", "22")) +
                             NodeHarness::Event("DELETED", MakeService("c", "333"));
  const std::vector<std::string> expected = {"0 a 1", "1 b 22", "2 c 333"};
  for (const size_t size : {size_t{1}, size_t{3}, size_t{50}, stream.size()}) {
    EXPECT_EQ(ReadInPieces(stream, size), expected) << size;
  }
}

TEST(EventReader, ReportsEndOfInitialEvents) {
  for (const bool end : {false, true}) {
    EventReader reader;
    ObjectView view;
    ASSERT_TRUE(reader
                    .Feed(NodeHarness::Bookmark<Service>("7", end),
                          [&](const WatchedEvent& event) {
                            EXPECT_EQ(event.type, WatchedEvent::Type::kBookmark);
                            // The view points into bytes that the test must not keep.
                            EXPECT_TRUE(ReadObjectView(event.object, &view));
                            EXPECT_EQ(view.resource_version, "7");
                            EXPECT_EQ(view.initial_events_end, end);
                            return true;
                          })
                    .ok());
  }
}

TEST(EventReader, ReadsCodeOfErrorEvent) {
  meta::v1::Status gone;
  gone.status = "Failure";
  gone.code = 410;
  EventReader reader;
  int code = 0;
  ASSERT_TRUE(reader
                  .Feed(NodeHarness::Event("ERROR", gone),
                        [&](const WatchedEvent& event) {
                          EXPECT_EQ(event.type, WatchedEvent::Type::kError);
                          code = CodeOfStatus(event.object);
                          return false;
                        })
                  .ok());
  EXPECT_EQ(code, 410);
}

TEST(EventReader, RejectsOtherInput) {
  for (const std::string& input :
       {std::string("{\"type\":\"ADDED\"}"), std::string("\xff\xff\xff\xff", 4),
        NodeHarness::Event("MOVED", MakeService("a", "1"))}) {
    EventReader reader;
    EXPECT_FALSE(reader.Feed(input, [](const WatchedEvent&) { return true; }).ok());
  }
}

}  // namespace
}  // namespace cox::simulate
