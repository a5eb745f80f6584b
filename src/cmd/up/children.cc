// SPDX-License-Identifier: Apache-2.0
#include "cmd/up/children.h"

#include <utility>

#include "api/cri/v1.h"
#include "base/file_watch.h"
#include "base/oom_score.h"
#include "base/replace_file.h"
#include "cmd/up/containerd_config.h"
#include "net/tcp.h"
#include "runtime/cri/cri_runtime.h"
#include "storage/etcd/etcd_store.h"

namespace cox::cmd {
namespace {

std::string LocalUrl(uint16_t port) { return "https://127.0.0.1:" + std::to_string(port); }

storage::EtcdOptions EtcdAccess(const UpOptions& options) {
  storage::EtcdOptions access;
  if (!options.etcd_servers.empty()) {
    access.servers = options.etcd_servers;
    access.ca_file = options.etcd_ca_file;
    access.certificate_file = options.etcd_certificate_file;
    access.key_file = options.etcd_key_file;
    return access;
  }
  access.servers = {LocalUrl(options.ports.etcd)};
  access.ca_file = options.paths.pki() / "etcd/ca.crt";
  access.certificate_file = options.paths.pki() / "apiserver-etcd-client.crt";
  access.key_file = options.paths.pki() / "apiserver-etcd-client.key";
  return access;
}

std::vector<std::string> EtcdArguments(const UpOptions& options) {
  const std::string client = LocalUrl(options.ports.etcd);
  const std::string peer = LocalUrl(options.ports.etcd_peer);
  const std::string pki = options.paths.pki() / "etcd";
  return {
      "etcd",
      "--name=coxswain",
      EtcdMark(options.paths),
      "--listen-client-urls=" + client,
      "--advertise-client-urls=" + client,
      "--listen-peer-urls=" + peer,
      "--initial-advertise-peer-urls=" + peer,
      "--initial-cluster=coxswain=" + peer,
      "--cert-file=" + pki + "/server.crt",
      "--key-file=" + pki + "/server.key",
      "--trusted-ca-file=" + pki + "/ca.crt",
      "--client-cert-auth",
      "--peer-cert-file=" + pki + "/peer.crt",
      "--peer-key-file=" + pki + "/peer.key",
      "--peer-trusted-ca-file=" + pki + "/ca.crt",
      "--peer-client-cert-auth",
      "--log-level=warn",
      // Not needed; disabled to reduce the attack surface.
      "--enable-grpc-gateway=false",
  };
}

// Settings that not every version has, as variables, because etcd ignores unknown variables.
std::vector<std::string> EtcdEnvironment() {
  return {
      // Halves the memory at the cost of more garbage collection.
      "GOGC=50",
      // The log entries that etcd keeps in memory for slow followers; there are none here.
      "ETCD_SNAPSHOT_COUNT=2000",                        // until 3.6
      "ETCD_EXPERIMENTAL_SNAPSHOT_CATCHUP_ENTRIES=500",  // 3.5.14 to 3.6
      "ETCD_SNAPSHOT_CATCHUP_ENTRIES=500",               // from 3.6 on
  };
}

Status Installed(std::string_view program, std::string_view package) {
  if (!FindProgram(program).empty()) return {};
  return Status::NotFound(std::string(program) + " is not installed.\nOn Debian: apt install " +
                          std::string(package));
}

}  // namespace

Status CheckPrograms(const UpOptions& options) {
  if (options.etcd_servers.empty()) COX_RETURN_IF_ERROR(Installed("etcd", "etcd-server"));
  if (!options.node || !options.runtime_endpoint.empty()) return {};
  COX_RETURN_IF_ERROR(Installed("containerd", "containerd"));
  return Installed("runc", "runc");
}

std::string EtcdMark(const UpPaths& paths) { return "--data-dir=" + paths.etcd().string(); }
std::string ContainerdMark(const UpPaths& paths) {
  return "--config=" + paths.containerd_config().string();
}

Status EtcdResponds(Context& ctx, const UpOptions& options) {
  COX_ASSIGN_OR_RETURN(const auto store, storage::ConnectEtcd(ctx, EtcdAccess(options)));
  return store->Healthy(ctx);
}

Result<std::unique_ptr<Supervisor>> StartEtcd(const Context& ctx, const UpOptions& options) {
  return Supervisor::Start(
      ctx, {.name = "etcd",
            .start = {.arguments = EtcdArguments(options),
                      .environment = EtcdEnvironment(),
                      .log = options.paths.logs() / "etcd.log"},
            .mark = EtcdMark(options.paths),
            .probe = [options](Context& attempt) -> Status {
              // A plain connection fails immediately if refused; the client would retry.
              COX_RETURN_IF_ERROR(
                  net::TcpSocket::Connect(attempt, "127.0.0.1", options.ports.etcd).status());
              return EtcdResponds(attempt, options);
            },
            .served_again = {},
            .log_limits = options.log_limits,
            .oom_score_adj = kNodeOomScoreAdj});
}

SupervisedProgram ContainerdProgram(const Context& ctx, const UpPaths& paths) {
  return {.name = "containerd",
          .start = {.arguments = {"containerd", ContainerdMark(paths)},
                    .environment = {},
                    .log = paths.logs() / "containerd.log"},
          .mark = ContainerdMark(paths),
          .probe = [ctx, endpoint = paths.runtime_endpoint()](Context& attempt) -> Status {
            COX_ASSIGN_OR_RETURN(const auto runtime, runtime::ConnectCri(ctx, endpoint));
            return runtime->GetVersion(attempt).status();
          },
          .served_again = [paths](const Context& now) { EndLostShims(now, paths); }};
}

void EndLostShims(const Context& ctx, const UpPaths& paths) {
  for (const Process& shim : FindProcesses(kShim, paths.containerd_socket().string())) {
    if (!HasLostItsFolder(shim)) continue;
    const Status ended = EndProcess(ctx, shim, std::chrono::milliseconds(0));
    COX_WARNING(ctx.log(), "Ended an orphaned containerd shim", {"pid", shim.pid}, {"err", ended});
  }
}

namespace {

// Stops a containerd that runs with another configuration, so that it is restarted; its containers
// keep running.
Status Configure(const Context& ctx, const UpPaths& paths, const std::string& text) {
  const Result<std::string> before = ReadBoundedFile(paths.containerd_config());
  if (before.ok() && *before == text) return {};
  COX_RETURN_IF_ERROR(ReplaceFile(paths.containerd_config(), text, /*secret=*/false));
  const auto running = FindProcess("containerd", ContainerdMark(paths));
  return running ? EndProcess(ctx, *running, std::chrono::seconds(10)) : Status();
}

// Removes the registry mirrors of an earlier start.
void ForgetMirrors(const UpPaths& paths) {
  std::error_code error;
  for (const auto& registry : std::filesystem::directory_iterator(paths.registries(), error)) {
    const std::filesystem::path hosts = registry.path() / "hosts.toml";
    const Result<std::string> text = ReadBoundedFile(hosts);
    if (text.ok() && text->starts_with(kWrittenByUp)) std::filesystem::remove(hosts, error);
  }
}

}  // namespace

Result<std::unique_ptr<NodeRuntime>> NodeRuntime::Start(const Context& ctx,
                                                        const UpOptions& options) {
  COX_ASSIGN_OR_RETURN(const RuntimeInfo facts, DetectRuntime(ctx, options));
  auto made = std::make_unique<NodeRuntime>(ctx, options.paths);
  made->image_ = std::make_shared<const PauseImage>();
  COX_ASSIGN_OR_RETURN(made->registry_, ServePauseImage(ctx, made->image_));

  ForgetMirrors(options.paths);
  auto hosts = options.mirrors;
  hosts.emplace_back(kPauseRegistry, "http://127.0.0.1:" + std::to_string(made->registry_->port()));
  for (const auto& [registry, url] : hosts) {
    COX_RETURN_IF_ERROR(ReplaceFile(options.paths.registries() / registry / "hosts.toml",
                                    HostsToml(registry, url), /*secret=*/false));
  }
  COX_RETURN_IF_ERROR(Configure(ctx, options.paths,
                                ContainerdConfig(options.paths, facts, made->image_->reference())));
  std::error_code error;
  std::filesystem::create_directories(options.paths.containerd_socket().parent_path(), error);
  std::filesystem::create_directories(options.paths.cni_config().parent_path(), error);
  SupervisedProgram program = ContainerdProgram(ctx, options.paths);
  program.log_limits = options.log_limits;
  COX_ASSIGN_OR_RETURN(made->containerd_, Supervisor::Start(ctx, std::move(program)));
  return made;
}

Status NodeRuntime::WaitReady(Context& ctx) {
  COX_RETURN_IF_ERROR(containerd_->WaitReady(ctx));
  EndLostShims(ctx_, paths_);
  COX_ASSIGN_OR_RETURN(const auto runtime, runtime::ConnectCri(ctx_, paths_.runtime_endpoint()));
  cri::v1::ImageSpec image;
  image.image = image_->reference();
  COX_ASSIGN_OR_RETURN(const auto there, runtime->GetImage(ctx, image));
  if (there) return {};
  return runtime->PullImage(ctx, image, nullptr, {})
      .status()
      .WithContext("image of infra containers");
}

}  // namespace cox::cmd
