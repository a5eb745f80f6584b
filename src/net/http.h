// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"

// Types shared by HTTP/1.1 and HTTP/2: requests, responses, headers and bodies.
namespace cox::net {

// Header fields in the order received or to be sent. Names are lower case.
class Headers {
 public:
  using Field = std::pair<std::string, std::string>;

  Headers() = default;
  Headers(std::initializer_list<Field> fields) : fields_(fields) {}

  // REQUIRES: `name` is lower case.
  void Add(std::string name, std::string value) {
    fields_.emplace_back(std::move(name), std::move(value));
  }
  // Replaces all fields of that name with one.
  void Set(std::string_view name, std::string value);
  // The first value of that name; nullopt if there is none.
  std::optional<std::string_view> Get(std::string_view name) const;
  // All values of that name, in order.
  std::vector<std::string_view> All(std::string_view name) const;
  void Remove(std::string_view name);
  // Replaces line breaks and NULs in values with blanks, which prevents header injection.
  void Clean();

  bool empty() const { return fields_.empty(); }
  size_t size() const { return fields_.size(); }
  auto begin() const { return fields_.begin(); }
  auto end() const { return fields_.end(); }

 private:
  std::vector<Field> fields_;
};

// The remote end of a connection. One per connection, shared by its requests.
struct Peer {
  std::string address;  // "127.0.0.1:41234"; "pipe" for connections inside the process
  bool tls = false;
  // The client's certificates, leaf first, DER. Not verified by TLS: the authenticator verifies
  // them, because it can answer 401 where TLS could only close the connection.
  std::vector<std::string> certificates;
  // Cached result of authentication by these certificates. Written once, when the first request is
  // authenticated.
  mutable std::shared_ptr<const void> identity;
};

struct Request {
  std::string method;  // "GET"
  std::string target;  // path and query as sent: "/api/v1/pods?limit=5"
  Headers headers;     // without pseudo headers; host is set for HTTP/2 too
  std::string body;    // whole; bounded by ServerOptions::max_body_bytes
  // The body was not received, because ServerOptions::accepts_body returned false. The request must
  // not be executed.
  bool rejected = false;
  int version = 2;  // 1 or 2
  std::shared_ptr<const Peer> peer;

  std::string_view path() const { return std::string_view(target).substr(0, target.find('?')); }
  // Without the question mark; empty if there is none.
  std::string_view query() const {
    const size_t at = target.find('?');
    return at == std::string::npos ? std::string_view() : std::string_view(target).substr(at + 1);
  }
};

struct Response {
  int status = 200;
  Headers headers;  // content-length and date are added by the server
  std::vector<Bytes> body;
};

// A response body in another form than bytes, for a reader in the same process that knows its type.
class Content {
 public:
  virtual ~Content() = default;
};

// A streamed response body: a watch, a log, a large list.
//
// The connection pulls: it calls Pull when the peer can receive more, so a slow peer costs one
// cursor and no queue. Pull is called on the connection's loop thread and must not block.
// Lifetime: destroyed on the loop thread when the body has ended or the peer has disconnected,
//   whichever is first.
class BodySource {
 public:
  enum class State {
    kMore,  // more may be available now: pull again after these bytes
    kWait,  // nothing available now: Waker::Wake follows
    kEnd,   // end of the body
  };

  virtual ~BodySource() = default;
  // Appends about `budget` bytes or less to `out`; a single larger piece may be appended whole.
  virtual State Pull(size_t budget, std::vector<Bytes>* out) = 0;
  // The body in another form, part of this object; null if there is none. A reader uses either Pull
  // or the content.
  virtual Content* content() { return nullptr; }
};

// Notifies a connection that its BodySource has data again. Cheap, callable from any thread any
// number of times; no effect after the end of the response.
class Waker {
 public:
  virtual ~Waker() = default;
  virtual void Wake() = 0;
};

// Whether a header field is hop-by-hop, that is, applies to one connection only.
bool IsHopByHop(std::string_view lower_case_name);

}  // namespace cox::net
