// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "base/scope.h"
#include "coxswain/pod_streams.h"

namespace cox {
namespace {

Status Gather(Context& ctx, ContainerProcess& process, size_t max_bytes, ExecResult* result) {
  for (;;) {
    COX_ASSIGN_OR_RETURN(const std::optional<ProcessOutput> piece, process.Read(ctx));
    if (!piece) break;
    if (result->output.size() + result->error_output.size() + piece->bytes.size() > max_bytes) {
      return Status::TooLarge("the command wrote more than " + std::to_string(max_bytes) +
                              " bytes");
    }
    const bool error = piece->channel == ProcessOutput::Channel::kStderr;
    (error ? result->error_output : result->output).append(piece->bytes.view());
  }
  COX_ASSIGN_OR_RETURN(result->exit_code, process.Wait(ctx));
  return {};
}

}  // namespace

Result<ExecResult> ExecOutput(Context& ctx, Client& client, const ObjectKey& pod,
                              ExecOptions options, std::string_view input, size_t max_bytes) {
  options.attach_stdin = !input.empty();
  COX_ASSIGN_OR_RETURN(const std::unique_ptr<ContainerProcess> process,
                       Exec(ctx, client, pod, options));
  // Otherwise the command would wait for the end of its input forever.
  if (!input.empty() && !process->can_close_stdin()) return process->CloseStdin(ctx);
  ExecResult result;
  Status gathered;
  {
    // Write concurrently with reading: a command that writes while it reads would cause a deadlock.
    Scope writer(ctx, "exec-input");
    if (!input.empty()) {
      COX_RETURN_IF_ERROR(writer.Go("write", [&process, input](Context& inner) {
        // A command may ignore its input; its exit code shows the result.
        if (process->Write(inner, input).ok()) static_cast<void>(process->CloseStdin(inner));
      }));
    }
    gathered = Gather(ctx, *process, max_bytes, &result);
    writer.Stop();
  }
  COX_RETURN_IF_ERROR(gathered);
  return result;
}

}  // namespace cox
