// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "coxswain/options.h"
#include "object/codec/json/json.h"
#include "object/patch/json_pointer.h"

namespace cox {
namespace {

// Writes the operations that change one document into another, in order of application.
class Differ {
 public:
  void Compare(const Value& before, const Value& after) {
    if (before == after) return;
    if (before.is_object() && after.is_object()) {
      CompareObjects(before.as_object(), after.as_object());
    } else if (before.is_array() && after.is_array()) {
      CompareArrays(before.as_array(), after.as_array());
    } else {
      Write("replace", &after);
    }
  }

  std::string Take() { return out_.empty() ? "" : std::move(out_) + "]"; }

 private:
  // Appends a path segment for its lifetime.
  class Deeper {
   public:
    Deeper(std::string& path, std::string_view token) : path_(path), size_(path.size()) {
      path_ += '/';
      path_ += patch::EscapePointerToken(token);
    }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;
    ~Deeper() { path_.resize(size_); }

   private:
    std::string& path_;
    const size_t size_;
  };

  void CompareObjects(const ValueObject& before, const ValueObject& after) {
    for (const ValueObject::Member& member : before) {
      if (after.contains(member.key)) continue;
      const Deeper deeper(path_, member.key);
      Write("remove", nullptr);
    }
    for (const ValueObject::Member& member : after) {
      const Deeper deeper(path_, member.key);
      if (const Value* old = before.Find(member.key)) {
        Compare(*old, member.value);
      } else {
        Write("add", &member.value);
      }
    }
  }

  // Keeps the common prefix and suffix. Items in between are compared pairwise, and surplus items
  // are removed or added, so that one inserted or removed item is one operation.
  void CompareArrays(const Value::Array& before, const Value::Array& after) {
    const size_t shorter = std::min(before.size(), after.size());
    size_t front = 0, back = 0;
    while (front < shorter && before[front] == after[front]) ++front;
    while (back < shorter - front &&
           before[before.size() - 1 - back] == after[after.size() - 1 - back]) {
      ++back;
    }
    const size_t paired = shorter - back;
    for (size_t i = front; i < paired; ++i) {
      const Deeper deeper(path_, std::to_string(i));
      Compare(before[i], after[i]);
    }
    // Backwards, so that the remaining indices stay valid.
    for (size_t i = before.size() - back; i > paired; --i) {
      const Deeper deeper(path_, std::to_string(i - 1));
      Write("remove", nullptr);
    }
    for (size_t i = paired; i < after.size() - back; ++i) {
      const Deeper deeper(path_, std::to_string(i));
      Write("add", &after[i]);
    }
  }

  void Write(std::string_view op, const Value* value) {
    out_ += out_.empty() ? "[{\"op\":\"" : ",{\"op\":\"";
    out_ += op;
    out_ += "\",\"path\":";
    json::WriteString(path_, &out_);
    if (value != nullptr) {
      out_ += ",\"value\":";
      json::WriteTo(*value, &out_);
    }
    out_ += '}';
  }

  std::string path_;
  std::string out_;
};

}  // namespace

Patch Patch::JsonBetween(const Value& before, const Value& after) {
  Differ differ;
  differ.Compare(before, after);
  return Json(differ.Take());
}

}  // namespace cox
