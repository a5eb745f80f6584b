// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// DNS messages (RFC 1035, EDNS0 of RFC 6891) as far as a server of a zone and a forwarder need
// them. Reading is strict: what does not fit is an error, never a guess.
namespace cox::dns {

enum Type : uint16_t {
  kA = 1,
  kNs = 2,
  kCname = 5,
  kSoa = 6,
  kPtr = 12,
  kHinfo = 13,
  kTxt = 16,
  kAaaa = 28,
  kSrv = 33,
  kOpt = 41,
  kAny = 255,
};
inline constexpr uint16_t kClassIn = 1;

enum class Rcode : uint16_t {
  kOk = 0,
  kFormErr = 1,
  kServFail = 2,
  kNxDomain = 3,
  kNotImp = 4,
  kRefused = 5,
  kBadVers = 16,
};

// A question. The name is lower case with dots between labels and none at the end; the root is "".
// Dots and other odd bytes inside of a label are as in master files: "\." and "\ddd".
struct Query {
  uint16_t id = 0;
  bool recursion_desired = false;
  std::string name;
  uint16_t type = 0;
  uint16_t klass = 0;
  // As it was sent: the question goes back in the letters it came in.
  std::string question;
  bool edns = false;
  uint16_t udp_size = 512;
  bool dnssec_ok = false;

  // What must not be answered, though it could be read.
  Rcode refused = Rcode::kOk;
};

// None: not even an error can be answered (too short, or itself an answer). Else `refused` says
// what is wrong with it, if anything is.
std::optional<Query> ParseQuery(std::string_view bytes);

// The name as bytes, without compression. Empty if a label or the whole is too long.
std::string EncodeName(std::string_view name);

struct Record {
  std::string name;
  uint16_t type = 0;
  uint32_t ttl = 0;
  std::string data;     // A, AAAA, TXT: as on the wire; SRV: priority, weight, port
  std::string target;   // a name that follows the data: CNAME, PTR, NS, SRV, SOA's first
  std::string target2;  // SOA's second
  std::string tail;     // what follows the names: SOA's numbers
  bool operator==(const Record&) const = default;
};

struct Answer {
  Rcode rcode = Rcode::kOk;
  bool authoritative = false;
  std::vector<Record> answers;
  std::vector<Record> authority;
  std::vector<Record> additional;
};

// Never longer than `limit`: what does not fit is left out, and the peer told to ask by TCP.
std::string EncodeAnswer(const Query& query, const Answer& answer, size_t limit);

// How long an answer to this query may be over UDP. 1,232 bytes pass every network unfragmented,
// and make us a poor amplifier.
inline constexpr size_t kMaxUdpAnswer = 1232;
size_t UdpLimit(const Query& query);

// What a forwarder looks at in an answer, which it otherwise passes on as it is.
struct Scanned {
  uint16_t id = 0;
  Rcode rcode = Rcode::kOk;
  bool truncated = false;
  std::string question;               // name in lower case, type and class
  std::vector<size_t> ttl_offsets;    // of all records but OPT
  std::optional<uint32_t> least_ttl;  // of the answers; of the SOA if there are none
  // A and AAAA of the answer, whatever their names.
  std::vector<std::pair<uint16_t, std::string>> addresses;
};
std::optional<Scanned> ScanAnswer(std::string_view bytes);

// A query of our own, for somebody else to answer.
std::string EncodeQuery(const Query& query, uint16_t id);

// A question in the form of Scanned::question.
std::string NormalQuestion(const Query& query);

}  // namespace cox::dns
