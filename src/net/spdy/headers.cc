// SPDX-License-Identifier: Apache-2.0
#include <zlib.h>

#include <algorithm>

#include "base/check.h"
#include "base/strings.h"
#include "net/spdy/frame.h"

namespace cox::net::spdy {
namespace {

// The zlib dictionary (draft-mbelshe-httpbis-spdy-00, section 2.6.10.1): words, each after its
// length, and then text.
constexpr std::string_view kWords =
    "options|head|post|put|delete|trace|accept|accept-charset|accept-encoding|accept-language|"
    "accept-ranges|age|allow|authorization|cache-control|connection|content-base|"
    "content-encoding|content-language|content-length|content-location|content-md5|"
    "content-range|content-type|date|etag|expect|expires|from|host|if-match|if-modified-since|"
    "if-none-match|if-range|if-unmodified-since|last-modified|location|max-forwards|pragma|"
    "proxy-authenticate|proxy-authorization|range|referer|retry-after|server|te|trailer|"
    "transfer-encoding|upgrade|user-agent|vary|via|warning|www-authenticate|method|get|status|"
    "200 OK|version|HTTP/1.1|url|public|set-cookie|keep-alive|origin";
constexpr std::string_view kText =
    "100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505"
    "203 Non-Authoritative Information204 No Content301 Moved Permanently400 Bad Request"
    "401 Unauthorized403 Forbidden404 Not Found500 Internal Server Error501 Not Implemented"
    "503 Service UnavailableJan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 "
    "Mon, Tue, Wed, Thu, Fri, Sat, Sun, GMTchunked,text/html,image/png,image/jpg,image/gif,"
    "application/xml,application/xhtml+xml,text/plain,text/javascript,publicprivatemax-age="
    "gzip,deflate,sdchcharset=utf-8charset=iso-8859-1,utf-,*,enq=0.";

void AppendLength(size_t value, std::string* out) {
  for (int shift = 24; shift >= 0; shift -= 8) *out += static_cast<char>(value >> shift & 0xff);
}

const std::string& Dictionary() {
  static const std::string kDictionary = [] {
    std::string text;
    for (const std::string_view word : Split(kWords, '|')) {
      AppendLength(word.size(), &text);
      text.append(word);
    }
    return text.append(kText);
  }();
  return kDictionary;
}

const Bytef* BytesOf(std::string_view text) { return reinterpret_cast<const Bytef*>(text.data()); }

Status Bad(std::string_view what) {
  return Status::BadRequest("SPDY headers: " + std::string(what));
}

// Reads an uncompressed header block.
class BlockReader {
 public:
  explicit BlockReader(std::string_view text) : rest_(text) {}
  bool Length(size_t* value) {
    if (rest_.size() < 4) return false;
    *value = 0;
    for (int i = 0; i < 4; ++i) *value = *value << 8 | static_cast<unsigned char>(rest_[i]);
    rest_.remove_prefix(4);
    return true;
  }
  bool Text(std::string* text) {
    size_t size = 0;
    if (!Length(&size) || size > rest_.size()) return false;
    *text = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return true;
  }
  bool done() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

Result<HeaderList> ReadBlock(std::string_view text) {
  BlockReader reader(text);
  size_t count = 0;
  if (!reader.Length(&count)) return Bad("the count is missing");
  if (count > kMaxHeaders) return Bad("too many");
  HeaderList headers(count);
  for (auto& [name, value] : headers) {
    if (!reader.Text(&name) || !reader.Text(&value)) return Bad("cut short");
    if (name.empty()) return Bad("one without a name");
  }
  if (!reader.done()) return Bad("more than their count");
  return headers;
}

}  // namespace

struct HeaderPacker::State {
  z_stream stream{};
};

HeaderPacker::HeaderPacker() : state_(std::make_unique<State>()) {
  COX_CHECK(deflateInit(&state_->stream, Z_DEFAULT_COMPRESSION) == Z_OK) << "deflateInit";
  const std::string& words = Dictionary();
  COX_CHECK(deflateSetDictionary(&state_->stream, BytesOf(words),
                                 static_cast<uInt>(words.size())) == Z_OK)
      << "deflateSetDictionary";
}

HeaderPacker::~HeaderPacker() { deflateEnd(&state_->stream); }

std::string HeaderPacker::Pack(const HeaderList& headers) {
  std::string text;
  AppendLength(headers.size(), &text);
  for (const auto& [name, value] : headers) {
    AppendLength(name.size(), &text);
    text += name;
    AppendLength(value.size(), &text);
    text += value;
  }
  z_stream& stream = state_->stream;
  std::string out;
  stream.next_in = const_cast<Bytef*>(BytesOf(text));
  stream.avail_in = static_cast<uInt>(text.size());
  size_t used = 0;
  do {
    out.resize(used + text.size() + 64);
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + used);
    stream.avail_out = static_cast<uInt>(out.size() - used);
    const int result = deflate(&stream, Z_SYNC_FLUSH);
    COX_CHECK(result != Z_STREAM_ERROR) << "zlib lost its state";
    used = out.size() - stream.avail_out;
  } while (stream.avail_out == 0);
  out.resize(used);
  return out;
}

struct HeaderUnpacker::State {
  z_stream stream{};
  bool broken = false;
};

HeaderUnpacker::HeaderUnpacker() : state_(std::make_unique<State>()) {
  COX_CHECK(inflateInit(&state_->stream) == Z_OK) << "inflateInit";
}

HeaderUnpacker::~HeaderUnpacker() { inflateEnd(&state_->stream); }

Result<HeaderList> HeaderUnpacker::Unpack(std::string_view block) {
  if (state_->broken) return Bad("broken before");
  state_->broken = true;  // until everything succeeded
  z_stream& stream = state_->stream;
  // One byte more than allowed, to distinguish a block of exactly the maximum size.
  std::string out(kMaxHeaderBytes + 1, '\0');
  stream.next_in = const_cast<Bytef*>(BytesOf(block));
  stream.avail_in = static_cast<uInt>(block.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  while (stream.avail_in > 0) {
    const int result = inflate(&stream, Z_SYNC_FLUSH);
    if (result == Z_NEED_DICT) {
      const std::string& words = Dictionary();
      if (inflateSetDictionary(&stream, BytesOf(words), static_cast<uInt>(words.size())) != Z_OK) {
        return Bad("packed with another dictionary");
      }
      continue;
    }
    if (stream.avail_out == 0) return Bad("too large");
    if (result != Z_OK) return Bad("not packed by zlib");
  }
  out.resize(out.size() - stream.avail_out);
  COX_ASSIGN_OR_RETURN(HeaderList headers, ReadBlock(out));
  state_->broken = false;
  return headers;
}

}  // namespace cox::net::spdy
