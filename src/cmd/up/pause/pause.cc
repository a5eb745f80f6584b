// SPDX-License-Identifier: Apache-2.0
// The pause program of sandboxes: it holds the namespaces of a Pod until it gets SIGTERM or SIGINT,
// and reaps orphaned processes as PID 1 of the PID namespace. Built without libraries, to be small
// and static; see CMakeLists.txt.
namespace {

#if defined(__x86_64__)
enum Call : long { kSigProcMask = 14, kWait4 = 61, kSigTimedWait = 128, kExitGroup = 231 };
long System(long call, long a, long b, long c, long d) {
  register long r10 asm("r10") = d;
  long result;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(call), "D"(a), "S"(b), "d"(c), "r"(r10)
               : "rcx", "r11", "memory");
  return result;
}
#elif defined(__aarch64__)
enum Call : long { kSigProcMask = 135, kWait4 = 260, kSigTimedWait = 137, kExitGroup = 94 };
long System(long call, long a, long b, long c, long d) {
  register long x8 asm("x8") = call;
  register long x0 asm("x0") = a;
  register long x1 asm("x1") = b;
  register long x2 asm("x2") = c;
  register long x3 asm("x3") = d;
  asm volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
  return x0;
}
#else
#error "pause: add the system calls of this processor"
#endif

constexpr long kBlock = 0;   // SIG_BLOCK
constexpr long kNoHang = 1;  // WNOHANG
constexpr int kInterrupt = 2, kTerminate = 15, kChild = 17;

constexpr unsigned long Bit(int signal) { return 1ul << (signal - 1); }

}  // namespace

extern "C" [[noreturn]] void _start() {
  const unsigned long signals = Bit(kInterrupt) | Bit(kTerminate) | Bit(kChild);
  const long set = reinterpret_cast<long>(&signals);
  System(kSigProcMask, kBlock, set, 0, sizeof signals);
  for (;;) {
    const long signal = System(kSigTimedWait, set, 0, 0, sizeof signals);
    if (signal == kInterrupt || signal == kTerminate) System(kExitGroup, 0, 0, 0, 0);
    while (System(kWait4, -1, 0, kNoHang, 0) > 0) {
    }
  }
}
