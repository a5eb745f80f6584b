// SPDX-License-Identifier: Apache-2.0
#include "cmd/commands.h"
#include "cmd/component/component.h"
#include "cmd/controllermanager/account_clients.h"
#include "cmd/controllermanager/options.h"
#include "controllers/registry.h"

namespace cox::cmd {
namespace {

constexpr uint16_t kPort = 10257;

Status AddAll(const Component& component) {
  COX_ASSIGN_OR_RETURN(const controllers::Options options, ControllerOptionsFrom(component.flags));
  if (!component.flags.GetBool("use-service-account-credentials")) {
    return controllers::AddControllers(component.manager, options);
  }
  COX_ASSIGN_OR_RETURN(const std::unique_ptr<AccountClients> accounts,
                       AccountClients::Create(component.manager, component.config));
  return controllers::AddControllers(
      component.manager, options, [&](std::string_view account) -> Result<std::shared_ptr<Client>> {
        return accounts->For(account);
      });
}

}  // namespace

int RunControllerManager(std::span<char* const> arguments) {
  ComponentOptions options{
      .name = "kube-controller-manager",
      .intro = ControllerManagerIntro(),
      .flags = ControllerManagerFlags(),
      .secure_port = kPort,
      .leader_elect = true,
      .cache = {},
      .check = [](const Flags& flags) { return ControllerOptionsFrom(flags).status(); }};
  return RunComponent(arguments, options, AddAll);
}

}  // namespace cox::cmd
