// SPDX-License-Identifier: Apache-2.0
#include "sdk/transport/exec_credential.h"

#include <utility>

#include "base/file_watch.h"
#include "base/program.h"
#include "base/strings.h"
#include "object/codec/json/json.h"
#include "object/codec/json/text.h"
#include "object/scalar/time.h"
#include "object/type/value.h"

namespace cox::sdk {
namespace {

constexpr std::string_view kGroup = "client.authentication.k8s.io/";
// A plugin that is not interactive must finish within this time.
constexpr std::chrono::minutes kTimeout{1};
constexpr size_t kMaxOutput = size_t{1024} * 1024;

bool IsExpired(const ExecCredential& credential, const Clock& clock) {
  return credential.expires && clock.Now() >= *credential.expires;
}

std::string TextOf(const Value& object, std::string_view name) {
  const Value* const found = object.Find(name);
  return found != nullptr && found->is_string() ? std::string(found->as_string()) : "";
}

}  // namespace

Result<ExecCredential> ParseExecCredential(std::string_view text, std::string_view api_version) {
  const auto parsed = json::Parse(text);
  // The parser's message may contain a part of the text.
  if (!parsed.ok() || !parsed->is_object()) return Status::BadRequest("it wrote no JSON object");
  if (TextOf(*parsed, "kind") != "ExecCredential") {
    return Status::BadRequest("it wrote an object that is no ExecCredential");
  }
  if (TextOf(*parsed, "apiVersion") != api_version) {
    return Status::BadRequest("it is configured for " + Quote(api_version) +
                              " and wrote another version of ExecCredential");
  }
  const Value* const status = parsed->Find("status");
  if (status == nullptr || !status->is_object()) return Status::BadRequest("it gave no status");
  ExecCredential credential;
  credential.token = TextOf(*status, "token");
  credential.certificate_pem = TextOf(*status, "clientCertificateData");
  credential.key_pem = TextOf(*status, "clientKeyData");
  if (credential.certificate_pem.empty() != credential.key_pem.empty()) {
    return Status::BadRequest("it gave only one of clientCertificateData and clientKeyData");
  }
  if (credential.token.empty() && credential.certificate_pem.empty()) {
    return Status::BadRequest("it gave neither a token nor a certificate");
  }
  if (const std::string expires = TextOf(*status, "expirationTimestamp"); !expires.empty()) {
    const auto time = Time::Parse(expires);
    if (!time.ok()) return Status::BadRequest("its expirationTimestamp is no time");
    credential.expires = Clock::WallTime(std::chrono::duration_cast<Clock::WallTime::duration>(
        std::chrono::nanoseconds(time->UnixNanos())));
  }
  return credential;
}

std::string ExecInfo(const Config& config, const std::string& ca_pem, bool interactive) {
  Value spec = Value::MakeObject({{"interactive", interactive}});
  if (config.exec->provide_cluster_info) {
    Value cluster = Value::MakeObject({{"server", config.server}});
    Value::Object& members = cluster.as_object();
    if (!config.tls_server_name.empty()) members["tls-server-name"] = config.tls_server_name;
    if (config.insecure_skip_tls_verify) members["insecure-skip-tls-verify"] = true;
    if (!config.proxy_url.empty()) members["proxy-url"] = config.proxy_url;
    if (!ca_pem.empty()) {
      std::string encoded;
      json::WriteBase64(ca_pem, &encoded);
      members["certificate-authority-data"] = encoded;
    }
    if (!config.exec->cluster_config.empty()) {
      if (auto parsed = json::Parse(config.exec->cluster_config); parsed.ok()) {
        members["config"] = *std::move(parsed);
      }
    }
    spec.as_object()["cluster"] = std::move(cluster);
  }
  return json::Write(Value::MakeObject({{"kind", "ExecCredential"},
                                        {"apiVersion", config.exec->api_version},
                                        {"spec", std::move(spec)}}));
}

Result<std::unique_ptr<ExecCredentials>> ExecCredentials::Create(const Config& config,
                                                                 bool terminal) {
  const ExecPlugin& plugin = *config.exec;
  const std::string name = "exec plugin " + Quote(plugin.command) + ": ";
  if (plugin.command.empty()) return Status::BadRequest("exec plugin: command must be set");
  if (plugin.api_version != std::string(kGroup) + "v1" &&
      plugin.api_version != std::string(kGroup) + "v1beta1") {
    return Status::BadRequest(name + "apiVersion " + Quote(plugin.api_version) +
                              " is not supported: use " + std::string(kGroup) + "v1");
  }
  const std::string& mode = plugin.interactive_mode;
  if (mode != "Never" && mode != "IfAvailable" && mode != "Always") {
    return Status::BadRequest(name + "interactiveMode must be Never, IfAvailable or Always, not " +
                              Quote(mode));
  }
  if (mode == "Always" && !terminal) {
    return Status::BadRequest(name +
                              "it wants to ask the user (interactiveMode Always), and there "
                              "is no terminal");
  }
  std::string ca_pem = config.ca_pem;
  if (plugin.provide_cluster_info && !config.ca_file.empty()) {
    COX_ASSIGN_OR_RETURN(ca_pem, ReadBoundedFile(config.ca_file));
  }
  const bool interactive = mode != "Never" && terminal;
  return std::make_unique<ExecCredentials>(plugin, ExecInfo(config, ca_pem, interactive),
                                           interactive);
}

Status ExecCredentials::Failed(const std::string& how) const {
  std::string text = "getting credentials: exec plugin " + Quote(plugin_.command) + ": " + how;
  if (!plugin_.install_hint.empty()) text += "\n\n" + plugin_.install_hint;
  return {Reason::kUnauthorized, std::move(text)};
}

Result<ExecCredentials::Ptr> ExecCredentials::GetOtherThan(const Context& ctx, const Ptr& refused) {
  {
    MutexLock lock(mu_);
    for (;;) {
      if (current_ != nullptr && current_ != refused && !IsExpired(*current_, ctx.clock())) {
        return current_;
      }
      if (!running_) break;
      COX_RETURN_IF_ERROR(
          ctx.Await(mu_, changed_, [this]() COX_REQUIRES(mu_) { return !running_; }));
    }
    running_ = true;
  }
  Result<Ptr> made = Run(ctx);
  MutexLock lock(mu_);
  running_ = false;
  if (made.ok()) current_ = *made;
  changed_.NotifyAll();
  return made;
}

Result<ExecCredentials::Ptr> ExecCredentials::Run(const Context& ctx) const {
  Program program{.arguments = {plugin_.command},
                  .environment = plugin_.environment,
                  .interactive = interactive_,
                  .max_output = kMaxOutput};
  program.arguments.insert(program.arguments.end(), plugin_.arguments.begin(),
                           plugin_.arguments.end());
  program.environment.emplace_back("KUBERNETES_EXEC_INFO", info_);
  const Context run = interactive_ ? ctx : ctx.WithTimeout(kTimeout);
  const auto ran = RunProgram(run, program);
  if (!ran.ok()) {
    if (ctx.Done()) return ctx.status();
    if (run.Done()) return Failed("it did not end within " + FormatDuration(kTimeout));
    if (ran.status().Is(Reason::kNotFound)) {
      return Failed("it is not installed, or not executable (" + ran.status().message() + ")");
    }
    return Failed(ran.status().message());
  }
  if (ran->exit_code != 0) return Failed("exit code " + std::to_string(ran->exit_code));
  auto credential = ParseExecCredential(ran->output, plugin_.api_version);
  if (!credential.ok()) return Failed(credential.status().message());
  return std::make_shared<const ExecCredential>(*std::move(credential));
}

}  // namespace cox::sdk
