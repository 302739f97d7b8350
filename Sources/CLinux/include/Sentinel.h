// The sentinel: the process that ends a run's processes where the guard and the runner were killed together.
#ifndef CLINUX_SENTINEL_H
#define CLINUX_SENTINEL_H

#include <stdint.h>
#include <sys/types.h>

struct clinux_guard;

/// Kills all processes that have a mark of a run and may not outlive it, wherever they are, and waits until they are dead;
/// only what hangs in the kernel may take longer than the limit, in seconds. Of this process' own run also what is in the
/// leaves of cgroup v2. Nobody has to be a child. `spared` is a process group that belongs to others. Allocates nothing.
void clinux_end_marked(uint64_t mark, pid_t spared, double limit);

/// Makes the calling process, a child of the guard, the sentinel of a run. It takes another name, session and process
/// group than the other two, and its own number stands in `*standing` from then on. It does nothing while one of them
/// lives but to wake a stopped guard whose runner has ended. When both are gone, it ends what they have left and removes
/// `folder`, a path that may be empty. The guard kills it at its own end.
_Noreturn void clinux_be_sentinel(const struct clinux_guard *guard, pid_t runner, const char *folder, pid_t *standing);

#endif
