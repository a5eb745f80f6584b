// SPDX-License-Identifier: Apache-2.0
#include "storage/testing/etcd_server.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <utility>

namespace cox::storage {
namespace {

std::string FindProgram() {
  const char* path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path;
  while (!rest.empty()) {
    const std::string_view folder = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(rest.size(), folder.size() + 1));
    std::string program = std::string(folder) + "/etcd";
    if (::access(program.c_str(), X_OK) == 0) return program;
  }
  return "";
}

Status WriteFile(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  return file ? Status() : Status::Internal("cannot write " + path);
}

std::string LocalUrl(bool tls, int port) {
  return (tls ? "https://127.0.0.1:" : "http://127.0.0.1:") + std::to_string(port);
}

}  // namespace

bool EtcdServer::Available() { return !FindProgram().empty(); }

std::string EtcdServer::url() const { return LocalUrl(options_.tls, client_port_); }
std::string EtcdServer::peer_url() const { return LocalUrl(false, peer_port_); }

Result<std::unique_ptr<EtcdServer>> EtcdServer::Prepare(const EtcdServerOptions& options,
                                                        std::string name) {
  auto server = std::make_unique<EtcdServer>(Private());
  server->options_ = options;
  server->name_ = std::move(name);
  std::string folder = (std::filesystem::temp_directory_path() / "etcd-test-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) return Status::Internal("cannot make " + folder);
  server->directory_ = folder;
  COX_ASSIGN_OR_RETURN(server->client_port_, FreePort());
  COX_ASSIGN_OR_RETURN(server->peer_port_, FreePort());
  server->cluster_ = server->name_ + "=" + server->peer_url();
  if (options.tls) COX_RETURN_IF_ERROR(server->WriteCertificates());
  return server;
}

Result<std::unique_ptr<EtcdServer>> EtcdServer::Start(Context& ctx, EtcdServerOptions options) {
  COX_ASSIGN_OR_RETURN(std::unique_ptr<EtcdServer> server, Prepare(options, "one"));
  COX_RETURN_IF_ERROR(server->Restart(ctx));
  return server;
}

EtcdServer::~EtcdServer() {
  Kill();
  std::error_code ignored;
  if (!directory_.empty()) std::filesystem::remove_all(directory_, ignored);
}

Status EtcdServer::WriteCertificates() {
  net::CertificateRequest request;
  request.common_name = "etcd-test-ca";
  request.is_ca = true;
  COX_ASSIGN_OR_RETURN(const net::CertificatePair ca, net::MakeCertificate(request, nullptr));
  request = {};
  request.common_name = "etcd-test-server";
  request.ip_addresses = {"127.0.0.1"};
  COX_ASSIGN_OR_RETURN(const net::CertificatePair server, net::MakeCertificate(request, &ca));
  request = {};
  request.common_name = "etcd-test-client";
  request.client_auth = true;
  COX_ASSIGN_OR_RETURN(const net::CertificatePair client, net::MakeCertificate(request, &ca));
  COX_RETURN_IF_ERROR(WriteFile(directory_ + "/ca.crt", ca.certificate_pem));
  COX_RETURN_IF_ERROR(WriteFile(directory_ + "/server.crt", server.certificate_pem));
  COX_RETURN_IF_ERROR(WriteFile(directory_ + "/server.key", server.key_pem));
  client_tls_.emplace();
  client_tls_->ca_pem = ca.certificate_pem;
  client_tls_->certificate_pem = client.certificate_pem;
  client_tls_->key_pem = client.key_pem;
  return {};
}

Status EtcdServer::Launch() {
  std::vector<std::string> arguments = {
      FindProgram(), "--name=" + name_, "--data-dir=" + directory_ + "/data",
      "--listen-client-urls=" + url(), "--advertise-client-urls=" + url(),
      "--listen-peer-urls=" + peer_url(), "--initial-advertise-peer-urls=" + peer_url(),
      "--initial-cluster=" + cluster_,
      // Short timeouts speed up elections and reduce the minimum lease TTL.
      "--heartbeat-interval=50", "--election-timeout=500", "--log-level=warn",
      "--enable-grpc-gateway=false",  // it would require its own client certificate
  };
  if (!options_.fsync) arguments.push_back("--unsafe-no-fsync");
  if (options_.quota_bytes > 0) {
    arguments.push_back("--quota-backend-bytes=" + std::to_string(options_.quota_bytes));
  }
  if (options_.tls) {
    arguments.push_back("--cert-file=" + directory_ + "/server.crt");
    arguments.push_back("--key-file=" + directory_ + "/server.key");
    arguments.push_back("--trusted-ca-file=" + directory_ + "/ca.crt");
    arguments.push_back("--client-cert-auth");
  }
  COX_ASSIGN_OR_RETURN(child_, Child::Start(std::move(arguments), log_file()));
  return {};
}

Status EtcdServer::Restart(Context& ctx) {
  COX_RETURN_IF_ERROR(Launch());
  return AwaitReady(ctx);
}

Status EtcdServer::AwaitReady(Context& ctx) const {
  // The client retries only for a while; the start on a busy machine may take longer.
  COX_ASSIGN_OR_RETURN(const auto store, ConnectEtcd(ctx, ClientOptions()));
  Status status;
  do {
    status = store->Healthy(ctx);
  } while (!status.ok() && !ctx.Done());
  return status;
}

EtcdOptions EtcdServer::ClientOptions() const {
  EtcdOptions options;
  options.servers = {url()};
  if (client_tls_.has_value()) options.tls = *client_tls_;
  return options;
}

void EtcdServer::Kill() { child_.reset(); }

void EtcdServer::Pause() {
  child_->Signal(SIGSTOP);
  // Wait, because some of its threads may still run until all have stopped.
  siginfo_t info{};
  ::waitid(P_PID, static_cast<id_t>(child_->pid()), &info, WSTOPPED);
}

void EtcdServer::Resume() { child_->Signal(SIGCONT); }

Result<std::unique_ptr<EtcdCluster>> EtcdCluster::Start(Context& ctx, int members,
                                                        EtcdServerOptions options) {
  auto cluster = std::make_unique<EtcdCluster>();
  std::string initial;
  for (int i = 0; i < members; ++i) {
    COX_ASSIGN_OR_RETURN(auto server, EtcdServer::Prepare(options, "m" + std::to_string(i)));
    initial += (i == 0 ? "" : ",") + server->cluster_;
    cluster->members_.push_back(std::move(server));
  }
  for (auto& server : cluster->members_) {
    server->cluster_ = initial;
    COX_RETURN_IF_ERROR(server->Launch());
  }
  for (auto& server : cluster->members_) COX_RETURN_IF_ERROR(server->AwaitReady(ctx));
  return cluster;
}

EtcdOptions EtcdCluster::ClientOptions() const {
  EtcdOptions options = members_.front()->ClientOptions();
  options.servers.clear();
  for (const auto& server : members_) options.servers.push_back(server->url());
  return options;
}

std::optional<size_t> EtcdCluster::Leader(Context& ctx) {
  for (size_t i = 0; i < members_.size(); ++i) {
    if (members_[i]->pid() <= 0) continue;
    const auto store = ConnectEtcd(ctx, members_[i]->ClientOptions());
    Context attempt = ctx.WithTimeout(std::chrono::seconds(2));
    const auto member = store.ok() ? (*store)->GetMember(attempt) : store.status();
    if (member.ok() && member->id != 0 && member->id == member->leader) return i;
  }
  return std::nullopt;
}

}  // namespace cox::storage
