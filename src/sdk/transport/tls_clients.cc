// SPDX-License-Identifier: Apache-2.0
#include "sdk/transport/tls_clients.h"

#include <span>
#include <utility>
#include <vector>

#include "net/tls/client_tls.h"

namespace cox::sdk {
namespace {

// The destination of a file's content, in the order of watching.
using Member = std::string net::ClientTls::*;
struct NamedFile {
  std::filesystem::path path;
  Member member;
};

std::vector<NamedFile> FilesOf(const Config& config) {
  std::vector<NamedFile> files;
  const auto add = [&files](const std::filesystem::path& path, Member member) {
    if (!path.empty()) files.push_back({path, member});
  };
  add(config.ca_file, &net::ClientTls::ca_pem);
  add(config.certificate_file, &net::ClientTls::certificate_pem);
  add(config.key_file, &net::ClientTls::key_pem);
  return files;
}

Status CheckCombination(const Config& config) {
  const bool has_ca = !config.ca_pem.empty() || !config.ca_file.empty();
  if (config.insecure_skip_tls_verify && has_ca) {
    return Status::BadRequest(
        "a CA and insecure-skip-tls-verify exclude each other: which of them is meant?");
  }
  const bool has_certificate = !config.certificate_pem.empty() || !config.certificate_file.empty();
  const bool has_key = !config.key_pem.Reveal().empty() || !config.key_file.empty();
  if (has_certificate != has_key) {
    return Status::BadRequest("a client certificate and its key belong together");
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<TlsClients>> TlsClients::Open(const Context& ctx, const Config& config,
                                                     net::ClientOptions options) {
  COX_RETURN_IF_ERROR(CheckCombination(config));
  auto clients = std::make_unique<TlsClients>(Private{}, ctx, std::move(options));
  const net::ClientTls base{.ca_pem = config.ca_pem,
                            .insecure = config.insecure_skip_tls_verify,
                            .server_name = config.tls_server_name,
                            .certificate_pem = config.certificate_pem,
                            .key_pem = config.key_pem.Reveal()};
  const std::vector<NamedFile> files = FilesOf(config);
  const bool tls = clients->options_.tls;
  if (files.empty() || !tls) {
    if (tls) COX_RETURN_IF_ERROR(net::MakeClientContext(base, true).status());
    clients->fixed_ = std::make_shared<const Material>(base);
    return clients;
  }
  std::vector<std::filesystem::path> paths;
  for (const NamedFile& file : files) paths.push_back(file.path);
  const auto parse = [base, files](std::span<const std::string> texts) -> Result<MaterialPtr> {
    auto material = std::make_shared<Material>(base);
    for (size_t i = 0; i < files.size(); ++i) (*material).*files[i].member = texts[i];
    // An empty CA would select the system's roots, which is not intended if a file is set.
    if (material->ca_pem.empty() && files[0].member == &Material::ca_pem) {
      return Status::BadRequest("CA: the file is empty");
    }
    COX_RETURN_IF_ERROR(net::MakeClientContext(*material, true).status());
    return material;
  };
  COX_ASSIGN_OR_RETURN(
      clients->files_,
      WatchedFile<Material>::Open(ctx, {.name = "client-tls", .paths = std::move(paths)}, parse));
  return clients;
}

net::ClientOptions TlsClients::OptionsFor(const Material& material,
                                          const ExecCredentials::Ptr& plugin) const {
  net::ClientOptions options = options_;
  options.tls_options = material;
  if (plugin != nullptr && !plugin->certificate_pem.empty()) {
    options.tls_options.certificate_pem = plugin->certificate_pem;
    options.tls_options.key_pem = plugin->key_pem;
  }
  return options;
}

Result<std::shared_ptr<net::Client>> TlsClients::For(const ExecCredentials::Ptr& plugin) {
  MaterialPtr material = Current();
  const std::string& certificate = plugin != nullptr ? plugin->certificate_pem : std::string();
  std::shared_ptr<net::Client> before;  // destroyed without the lock, because that joins its thread
  MutexLock lock(mu_);
  if (client_ != nullptr && material_ == material && certificate_pem_ == certificate) {
    return client_;
  }
  auto made = net::Client::Create(context_, OptionsFor(*material, plugin));
  if (!made.ok()) return made.status();
  before = std::exchange(client_, *std::move(made));
  material_ = std::move(material);
  certificate_pem_ = certificate;
  return client_;
}

}  // namespace cox::sdk
