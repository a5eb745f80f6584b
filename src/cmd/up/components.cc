// SPDX-License-Identifier: Apache-2.0
#include "cmd/up/components.h"

#include <utility>

#include "apiserver/request/user.h"
#include "base/file_watch.h"
#include "cmd/apiserver/flag_table.h"
#include "cmd/component/serving.h"
#include "controllers/registry.h"
#include "scheduler/scheduler.h"
#include "scheduler/trim.h"

namespace cox::cmd {
namespace {

// Shorter than the default, because a user waits for the program to end.
constexpr std::chrono::milliseconds kGracefulShutdown{10'000};

Result<Flags> Parsed(std::span<const FlagInfo> known, std::vector<std::string> arguments) {
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  return Flags::Parse(known, argv);
}

}  // namespace

Result<Flags> ApiServerFlagsFor(const UpOptions& options) {
  const std::string pki = options.paths.pki();
  std::vector<std::string> arguments = {
      "--secure-port=" + std::to_string(options.ports.api),
      "--advertise-address=" + options.advertise_address,
      "--tls-cert-file=" + pki + "/apiserver.crt",
      "--tls-private-key-file=" + pki + "/apiserver.key",
      "--client-ca-file=" + pki + "/ca.crt",
      "--requestheader-client-ca-file=" + pki + "/front-proxy-ca.crt",
      "--requestheader-allowed-names=front-proxy-client",
      "--requestheader-username-headers=X-Remote-User",
      "--requestheader-group-headers=X-Remote-Group",
      "--requestheader-extra-headers-prefix=X-Remote-Extra-",
      "--proxy-client-cert-file=" + pki + "/front-proxy-client.crt",
      "--proxy-client-key-file=" + pki + "/front-proxy-client.key",
      "--kubelet-client-certificate=" + pki + "/apiserver-kubelet-client.crt",
      "--kubelet-client-key=" + pki + "/apiserver-kubelet-client.key",
      "--kubelet-certificate-authority=" + pki + "/ca.crt",
      "--kubelet-preferred-address-types=InternalIP,Hostname",
      "--service-account-issuer=https://kubernetes.default.svc." + options.cluster_domain,
      "--service-account-signing-key-file=" + pki + "/sa.key",
      "--service-account-key-file=" + pki + "/sa.pub",
      "--service-cluster-ip-range=" + options.service_cidr,
      "--authorization-mode=Node,RBAC",
      "--enable-admission-plugins=NodeRestriction",
      "--enable-bootstrap-token-auth=true",
      "--allow-privileged=true",
  };
  const auto add = [&](const std::string& name, const std::string& value) {
    if (!value.empty()) arguments.push_back("--" + name + "=" + value);
  };
  if (options.etcd_servers.empty()) {
    add("etcd-servers", "https://127.0.0.1:" + std::to_string(options.ports.etcd));
    add("etcd-cafile", pki + "/etcd/ca.crt");
    add("etcd-certfile", pki + "/apiserver-etcd-client.crt");
    add("etcd-keyfile", pki + "/apiserver-etcd-client.key");
  }
  for (const std::string& server : options.etcd_servers) add("etcd-servers", server);
  add("etcd-cafile", options.etcd_ca_file);
  add("etcd-certfile", options.etcd_certificate_file);
  add("etcd-keyfile", options.etcd_key_file);
  return Parsed(ApiServerFlags(), std::move(arguments));
}

// In dependency order: later members use earlier ones.
struct Components::Running {
  std::string name;
  std::optional<Flags> flags;  // for its secure port
  Config config;               // not used, because its requests do not need a connection
  std::unique_ptr<Manager> manager;
  std::unique_ptr<SecureServing> serving;
};

Components::Components(const Context& ctx, Logging& logging, apiserver::ApiServer& server,
                       OnFailure failed)
    : ctx_(ctx),
      logging_(logging),
      server_(server),
      failed_(std::move(failed)),
      scope_(ctx, "components") {}

Components::~Components() { Stop(); }

std::shared_ptr<Client> Components::ClientFor(const std::string& name, const Identity& identity) {
  const Secret<std::string> token = server_.loopback_tokens().Add(
      {.name = identity.user, .uid = {}, .groups = identity.groups, .extra = {}});
  Config config;
  config.user_agent = name;
  return MakeClient(MakeInProcessTransport(ctx_, server_.handler(), "Bearer " + token.Reveal()),
                    config);
}

Status Components::Add(Component component) {
  auto made = std::make_unique<Running>();
  made->name = component.name;
  const Context ctx = ctx_.WithLogger(logging_.For(component.name));
  component.manager.name = component.name;
  component.manager.graceful_shutdown = kGracefulShutdown;
  component.manager.metric_style = MetricStyle::kComponent;
  component.manager.metrics_address = "0";
  component.manager.health_address = "0";
  COX_ASSIGN_OR_RETURN(made->manager,
                       Manager::Create(ctx, ClientFor(component.name, component.identity),
                                       std::move(component.manager)));
  COX_RETURN_IF_ERROR(component.setup(*made->manager).WithContext(component.name));
  if (component.secure_port != 0) {
    COX_ASSIGN_OR_RETURN(
        made->flags,
        Parsed(ComponentFlags(), {"--bind-address=127.0.0.1",
                                  "--secure-port=" + std::to_string(component.secure_port)}));
    COX_ASSIGN_OR_RETURN(
        made->serving, SecureServing::Start(ctx, {*made->manager, *made->flags, made->config,
                                                  ClientFor(component.name, component.identity)}));
  }
  Running* const running = made.get();
  running_.push_back(std::move(made));
  return scope_.Go(running->name, [this, running, log = ctx.log()](Context& work) {
    Context run = work.WithLogger(log);
    const Status status = running->manager->Run(run);
    if (!work.Done()) failed_(running->name, status);
  });
}

void Components::Stop() {
  scope_.Stop();
  scope_.Wait();
  // In reverse order, because later components depend on earlier ones.
  while (!running_.empty()) running_.pop_back();
}

Status AddControlPlane(Components& components, const UpOptions& options) {
  const auto manager_options = [&](const std::string& name) {
    ManagerOptions manager;
    // An external etcd may be shared with another control plane.
    if (!options.etcd_servers.empty()) {
      manager.leader_election.emplace().lease = {"kube-system", name};
    }
    return manager;
  };
  COX_ASSIGN_OR_RETURN(const std::string ca, ReadBoundedFile(options.paths.pki() / "ca.crt"));
  COX_RETURN_IF_ERROR(components.Add(
      {.name = "kube-controller-manager",
       .identity = {"system:kube-controller-manager", {}},
       .manager = manager_options("kube-controller-manager"),
       .secure_port = options.ports.controller_manager,
       .setup = [&](Manager& manager) {
         controllers::Options wanted;
         wanted.root_ca.root_ca_pem = ca;
         wanted.node_ipam.allocate_node_cidrs = true;
         wanted.node_ipam.cluster_cidrs = {options.cluster_cidr};
         wanted.node_ipam.service_cidrs = {options.service_cidr};
         // Each controller uses its own service account, with the permissions of its role.
         return controllers::AddControllers(
             manager, wanted, [&](std::string_view account) -> Result<std::shared_ptr<Client>> {
               const std::string name(account);
               return manager.ClientOver(components.ClientFor(
                   name, {"system:serviceaccount:kube-system:" + name,
                          {"system:serviceaccounts", "system:serviceaccounts:kube-system"}}));
             });
       }}));
  ManagerOptions scheduling = manager_options("kube-scheduler");
  scheduling.cache = scheduler::TrimmedCache();
  return components.Add(
      {.name = "kube-scheduler",
       .identity = {"system:kube-scheduler", {}},
       .manager = std::move(scheduling),
       .secure_port = options.ports.scheduler,
       .setup = [](Manager& manager) { return scheduler::AddScheduler(manager); }});
}

}  // namespace cox::cmd
