// The sentinel: the process that ends a run's processes when guard and runner are killed together.
#ifndef CLINUX_SENTINEL_H
#define CLINUX_SENTINEL_H

#include <stdint.h>
#include <sys/types.h>

struct clinux_guard;

/// Kills all processes that have a run's mark and may not outlive it, children or not, and waits until they are dead;
/// only a process that hangs in the kernel may take longer than `limit`, in seconds. For this process' own run it
/// also empties the cgroup leaves. Leaves the process group `spared` alone. Allocates nothing.
void clinux_end_marked(uint64_t mark, pid_t spared, double limit);

/// Makes the calling process, a child of the guard, the sentinel of a run. It takes a name, a session and a process
/// group of its own, and writes its process number to `*standing`. While guard or runner lives it only wakes a stopped
/// guard whose runner has ended. When both are gone, it ends what they have left and removes `folder`, a path that may
/// be empty. The guard kills it at its own end.
_Noreturn void clinux_be_sentinel(const struct clinux_guard *guard, pid_t runner, const char *folder, pid_t *standing);

#endif
