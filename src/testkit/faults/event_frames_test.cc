// SPDX-License-Identifier: Apache-2.0
#include "testkit/faults/event_frames.h"

#include <gtest/gtest.h>

namespace cox::testkit {
namespace {

const std::string kJsonBookmark = "{\"type\":\"BOOKMARK\",\"object\":{}}\n";
const std::string kJsonAdded = "{\"type\":\"ADDED\",\"object\":{\"a\":\"BOOKMARK\"}}\n";
const std::string kProtoBookmark{
    "\0\0\0\x0c\x0a\x08"
    "BOOKMARK\x12\x00",
    16};
const std::string kProtoAdded{
    "\0\0\0\x0c\x0a\x05"
    "ADDED\x12\x03\x0a\x01x",
    16};

TEST(EventFramesTest, EventsAreSplitAtAnyChunkBoundary) {
  struct Case {
    const char* type;
    std::string first, second;
  };
  for (const Case& c :
       {Case{"application/json", kJsonAdded, kJsonBookmark},
        Case{"application/vnd.kubernetes.protobuf;stream=watch", kProtoAdded, kProtoBookmark}}) {
    const std::string all = c.first + c.second;
    for (size_t at = 0; at <= all.size(); ++at) {
      EventFrames frames(c.type);
      std::string seen;
      int events = 0;
      for (const std::string& piece : {all.substr(0, at), all.substr(at)}) {
        frames.Add(piece);
        while (std::optional<std::string> event = frames.Next()) {
          EXPECT_EQ(frames.IsBookmark(*event), events == 1);
          seen += *event;
          ++events;
        }
      }
      EXPECT_EQ(events, 2) << c.type << " cut at " << at;
      EXPECT_EQ(seen, all);
      EXPECT_EQ(frames.TakeRest(), "");
    }
  }
}

TEST(EventFramesTest, IncompleteEventIsTheRest) {
  EventFrames frames("application/json");
  frames.Add(kJsonAdded + "{\"type\":");
  EXPECT_EQ(frames.Next(), kJsonAdded);
  EXPECT_EQ(frames.Next(), std::nullopt);
  EXPECT_EQ(frames.TakeRest(), "{\"type\":");
}

}  // namespace
}  // namespace cox::testkit
