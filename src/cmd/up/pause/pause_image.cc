// SPDX-License-Identifier: Apache-2.0
#include "cmd/up/pause/pause_image.h"

#include <cstdio>
#include <cstring>
#include <utility>

#include "net/digest.h"

// The binary that the build created from pause.cc.
asm(R"(
  .pushsection .rodata
  .global cox_pause_begin
  .global cox_pause_end
cox_pause_begin:
  .incbin ")" COX_PAUSE_FILE R"("
cox_pause_end:
  .popsection
)");
extern "C" const char cox_pause_begin[];
extern "C" const char cox_pause_end[];

namespace cox::cmd {
namespace {

constexpr std::string_view kManifestType = "application/vnd.oci.image.manifest.v1+json";
constexpr std::string_view kConfigType = "application/vnd.oci.image.config.v1+json";
constexpr std::string_view kLayerType = "application/vnd.oci.image.layer.v1.tar";
constexpr size_t kTarBlock = 512;

std::string DigestOf(std::string_view bytes) { return "sha256:" + net::Sha256Hex(bytes); }

// A tar archive (ustar) of one executable file.
std::string TarOf(std::string_view name, std::string_view contents) {
  std::string header(kTarBlock, '\0');
  const auto put = [&header](size_t at, std::string_view text) {
    std::memcpy(header.data() + at, text.data(), text.size());
  };
  char size[12];
  std::snprintf(size, sizeof size, "%011zo", contents.size());
  put(0, name);
  put(100, "0000755");
  put(108, "0000000");  // owner and group
  put(116, "0000000");
  put(124, size);
  put(136, "00000000000");  // modification time 0, for reproducible digests
  put(148, "        ");     // the checksum field counts as blanks
  put(156, "0");
  put(257, std::string_view("ustar\00000", 8));
  unsigned sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  char text[8];
  std::snprintf(text, sizeof text, "%06o", sum);
  put(148, std::string_view(text, 7));
  std::string tar = header + std::string(contents);
  tar.resize((tar.size() + kTarBlock - 1) / kTarBlock * kTarBlock + 2 * kTarBlock, '\0');
  return tar;
}

constexpr std::string_view Architecture() {
#if defined(__x86_64__)
  return "amd64";
#else
  return "arm64";
#endif
}

}  // namespace

std::string PauseImage::Add(std::string_view type, std::string bytes) {
  std::string digest = DigestOf(bytes);
  blobs_.emplace(digest, Blob{type, std::move(bytes)});
  return digest;
}

PauseImage::PauseImage() {
  const auto described = [this](std::string_view type, const std::string& digest) {
    return R"({"mediaType":")" + std::string(type) + R"(","digest":")" + digest + R"(","size":)" +
           std::to_string(blobs_.at(digest).bytes.size()) + "}";
  };
  const std::string layer = Add(kLayerType, TarOf("pause", {cox_pause_begin, cox_pause_end}));
  const std::string config = Add(
      kConfigType, R"({"architecture":")" + std::string(Architecture()) +
                       R"(","os":"linux","config":{"Entrypoint":["/pause"],"User":"65535:65535"},)"
                       R"("rootfs":{"type":"layers","diff_ids":[")" +
                       layer + "\"]}}");
  manifest_ =
      Add(kManifestType, R"({"schemaVersion":2,"mediaType":")" + std::string(kManifestType) +
                             R"(","config":)" + described(kConfigType, config) + R"(,"layers":[)" +
                             described(kLayerType, layer) + "]}");
  tag_ = manifest_.substr(manifest_.find(':') + 1, 12);
  reference_ = std::string(kPauseRegistry) + "/pause:" + tag_;
}

net::Response PauseImage::Answer(std::string_view method, std::string_view path) const {
  if (method != "HEAD" && method != "GET") return {.status = 405, .headers = {}, .body = {}};
  if (path == "/v2/" || path == "/v2") return {.status = 200, .headers = {}, .body = {}};
  constexpr std::string_view kManifests = "/v2/pause/manifests/", kBlobs = "/v2/pause/blobs/";
  std::string_view wanted;
  if (path.starts_with(kManifests)) wanted = path.substr(kManifests.size());
  if (path.starts_with(kBlobs)) wanted = path.substr(kBlobs.size());
  const auto blob = blobs_.find(wanted == tag_ ? std::string_view(manifest_) : wanted);
  if (blob == blobs_.end()) return {.status = 404, .headers = {}, .body = {}};
  return {.status = 200,
          .headers = {{"content-type", std::string(blob->second.type)},
                      {"docker-content-digest", blob->first}},
          .body = {Bytes(blob->second.bytes)}};
}

Result<std::unique_ptr<net::Server>> ServePauseImage(const Context& ctx,
                                                     std::shared_ptr<const PauseImage> image) {
  net::ServerOptions options;
  options.bind_address = "127.0.0.1";
  options.loops = 1;
  return net::Server::Start(ctx, std::move(options),
                            [image = std::move(image)](const net::ExchangePtr& exchange) {
                              const net::Request& request = exchange->request();
                              exchange->Send(image->Answer(request.method, request.path()));
                            });
}

}  // namespace cox::cmd
