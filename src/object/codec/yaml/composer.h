// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "object/codec/yaml/parser.h"
#include "object/codec/yaml/resolve.h"
#include "object/type/value.h"

namespace cox::yaml {

// Makes a Value of the first document of a stream: resolves scalars, aliases and merge keys as
// goyaml's decoder does, and turns keys into strings as sigs.k8s.io/yaml does.
//
// Guarantees: depth costs heap, not stack, and is bounded by limits::kMaxDepth also where aliases
//   add up; what aliases expand to is bounded in nodes (as goyaml does) and in bytes.
// Errors: BadRequest. As upstream, where a document has several mistakes: grammar first, then the
//   first node that cannot be decoded, then keys and numbers that JSON cannot hold.
class Composer {
 public:
  // With `strict`, keys that are set again are collected.
  Composer(std::string_view text, bool strict);

  Result<Value> Compose();
  // "yaml: unmarshal errors:\n  line 3: key \"a\" already set in map", or "".
  std::string strict_error() const;

 private:
  // Where a pair of a mapping stood; kept in strict mode, beside the mapping's members.
  struct Pair {
    uint32_t line;
    uint32_t order;  // counts all pairs of the document
    Scalar::Kind key;
  };
  struct Duplicate {
    uint32_t order;
    std::string text;
  };
  struct Origin;
  // A finished node on its way into its parent.
  struct Node {
    Value value;
    Scalar scalar;
    Value::Kind kind = Value::Kind::kNull;  // kArray, kObject, or kNull for any scalar
    bool is_merge_key = false;
    bool is_alias = false;
    uint32_t line = 0;
    uint32_t count = 1;   // nodes decoded for it
    uint16_t height = 0;  // levels below it
    uint64_t bytes = 0;   // roughly what it holds in memory
    std::unique_ptr<Origin> origin;
  };
  // Where the parts of a node stood, for merging.
  struct Origin {
    std::vector<Pair> pairs;   // of a mapping, in the order of its members
    std::vector<Node> merged;  // the items of a sequence behind "<<"
  };
  // What only some open nodes need.
  struct More {
    std::string key;
    Scalar::Kind key_kind = Scalar::Kind::kString;
    size_t seal_at = 64;  // members at which repeated keys are dropped
    std::vector<Pair> pairs;
    std::vector<Node> merged;
  };
  // A mapping or sequence that is still open. Small, because a few bytes of text can open many.
  struct Frame {
    Value value;
    std::unique_ptr<More> more;
    uint64_t bytes = 0;
    uint32_t line = 0;
    uint32_t decoded_before = 0;
    uint16_t height = 0;
    uint16_t duplicates_before = 0;
    uint32_t offset = 0;  // in the text
    int32_t slot = -1;    // of its anchor
    bool has_key = false;
    bool is_merge = false;      // its key was "<<"
    bool merges_items = false;  // a sequence that is the value of "<<"
    bool keeps_pairs = false;   // something will ask where its pairs stood
  };
  // What an anchor names.
  struct Slot {
    Value value;
    double number = 0;
    Value::Kind kind = Value::Kind::kNull;
    Scalar::Kind scalar = Scalar::Kind::kString;
    bool defined = false;
    bool open = false;  // its node has not ended
    uint16_t height = 0;
    uint32_t count = 0;
    uint64_t bytes = 0;
    std::unique_ptr<std::vector<Pair>> pairs;
    std::unique_ptr<std::vector<std::string>> duplicates;
  };

  static More& MoreOf(Frame* frame);
  Status ComposeDocument();
  Status Handle(Event* event);
  void Open(const Event& event);
  Status Close();
  Status AddScalar(Event* event);
  Status AddAlias(const Event& event);
  Status Add(Node node);
  Status AddItem(Frame* frame, Node* node);
  void Grow(Frame* frame);
  Status AddToMapping(Frame* frame, Node node);
  void Merge(Frame* frame, Node* from);
  void MergeMembers(Frame* frame, Node* from);
  void Seal(Frame* frame, bool last);
  void ReportDuplicates(const Value::Object& members, std::vector<Pair>* pairs, bool last);

  Scalar DecodeScalar(const Event& event, std::string* text);
  std::string KeyText(const Node& node);
  static std::string KeySyntax(std::string_view key, Scalar::Kind kind);

  void CollectAliasNames();
  int FindSlot(std::string_view name) const;
  void Define(int slot, const Node& node, size_t duplicates_before);
  void CountDecoded(uint32_t count, uint32_t aliased);
  void ChargeBytes(uint64_t bytes);
  // Keeps the first; reading goes on, for a mistake of grammar would be reported instead.
  void FailDecode(std::string problem);
  Status CheckKeys(const Value& value) const;
  Status CheckNumbers(const Value& value) const;

  size_t text_size_;
  bool strict_;
  Parser parser_;
  std::deque<Frame> frames_;
  Node root_;
  std::string decode_problem_;
  std::vector<std::string_view> alias_names_;  // sorted; one slot for each
  std::vector<Slot> slots_;
  std::vector<Duplicate> duplicates_;
  int64_t decoded_ = 1;  // the document itself
  int64_t aliased_ = 0;
  uint64_t alias_bytes_ = 0;
  uint32_t pairs_ = 0;
  bool odd_keys_ = false;     // a key that JSON cannot have
  bool odd_numbers_ = false;  // infinity or not a number
};

}  // namespace cox::yaml
