// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/nft/rule.h"

namespace cox::proxy::nft {

// The type of a set's keys; determines their length and their format in `nft list`.
enum class KeyType : uint8_t { kAddress, kAddressPort, kPort, kNumber };

struct SetSpec {
  std::string name;
  KeyType key = KeyType::kAddress;
  bool verdicts = false;              // a verdict map
  uint64_t timeout_milliseconds = 0;  // > 0: packets add elements, which expire after this time
  bool operator==(const SetSpec&) const = default;
};

// The chains and sets of a table in the kernel.
struct Listing {
  struct Set {
    std::string name;
    uint32_t flags = 0;
    uint32_t key_length = 0;
    uint64_t timeout_milliseconds = 0;

    bool is_verdict_map() const;
    // Whether AddSet(spec) would create the same set.
    bool Matches(const SetSpec& spec, Family family) const;
  };
  std::vector<std::string> chains;
  std::vector<Set> sets;
};

// The hook of a base chain, with the kernel's hook numbers.
struct Hook {
  enum class Type : uint8_t { kFilter, kNat };
  Type type = Type::kFilter;
  uint32_t number = 0;
  int32_t priority = 0;
};

// Changes of one table that the kernel applies atomically, in this order.
class Batch {
 public:
  // REQUIRES: table outlives the batch.
  Batch(Family family, std::string_view table) : family_(family), table_(table) {}

  void AddTable();  // no error if it exists
  void DeleteTable();
  void AddChain(const std::string& name);
  void AddBaseChain(const std::string& name, const Hook& hook);
  void FlushChains();  // deletes all rules of the table
  void FlushChain(const std::string& name);
  void DeleteChain(const std::string& name);
  void AddRule(const std::string& chain, std::string_view expressions);
  void AddSet(const SetSpec& set);
  void DeleteSet(const std::string& name);
  // `verdict`: EncodeVerdict, or empty for a set.
  void AddElement(const std::string& set, std::string_view key, std::string_view verdict);
  void DeleteElement(const std::string& set, std::string_view key);
  void FlushSet(const std::string& name);  // deletes all elements

  bool empty() const { return count_ == 0; }
  size_t count() const { return count_; }
  Family family() const { return family_; }
  // Netlink messages, without those that begin and end a batch.
  const std::string& messages() const { return messages_; }

 private:
  template <class Fill>
  void Message(uint16_t type, uint16_t flags, Fill fill);
  void Elements(uint16_t type, uint16_t flags, const std::string& set, std::string_view key,
                std::string_view verdict);

  const Family family_;
  const std::string_view table_;
  std::string messages_;
  size_t count_ = 0;
  uint32_t next_set_id_ = 1;
};

}  // namespace cox::proxy::nft
