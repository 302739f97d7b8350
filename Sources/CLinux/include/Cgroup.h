// cgroups (v2) for the processes of commands, and the kernel's counts of kills for memory.
#ifndef CLINUX_CGROUP_H
#define CLINUX_CGROUP_H

#include <stdint.h>

/// A leaf is a cgroup `flowrun-NAME-NUMBER` in this process' own cgroup, without controllers. It holds the processes
/// of one command at a time, and their children wherever they go. Leaves are made as commands need them. The guard
/// removes all of them at the end, and kills what is in them; the runner does if the guard has died.

/// Opens the leaf with this number, and makes it if it is not there. Returns a descriptor for its folder,
/// close-on-exec, or a negative error number: there is no cgroup v2, it is not ours to divide, or there is no guard.
int clinux_open_leaf(int number);

/// Removes an empty leaf. Returns 0, or a negative error number.
int clinux_remove_leaf(int number);

/// Returns 1 if any process is in a leaf or below it, zombies not counted, by its `cgroup.events`; otherwise 0. -1
/// with errno if that cannot be read.
int clinux_is_populated(int events);

/// Kills the processes in the leaves of another run that has divided the same cgroup, and removes the leaves; `name`
/// as below.
void clinux_remove_leaves(uint64_t name);

/// Returns the number of processes of the machine, or of this process' own memory cgroup if it has one, that the
/// kernel has killed for memory since the guard began to count, five milliseconds after the start; -1 if unknown.
int64_t clinux_oom_kills(void);

/// Returns the same for one leaf, since it was made; -1 if the leaf has no memory controller.
int64_t clinux_oom_kills_in(int leaf);

// MARK: For the guard

struct clinux_cgroup;

/// Returns the size of the memory that the guard and its runner share for this.
unsigned long clinux_cgroup_size(void);

/// Sets the place of that memory, before the fork, and the name of the leaves.
void clinux_cgroup_share(struct clinux_cgroup *memory, uint64_t name);

/// Makes the first leaf, so that it is there when the runner has read its files.
void clinux_cgroup_prepare(void);

/// Begins to count kills for memory, the first time.
void clinux_cgroup_count(void);

/// Removes leaves, the last first, up to one that has processes in it. Returns the number that is left.
int clinux_cgroup_remove_empty(void);

/// Removes all leaves. Returns 0, or 1 if some have processes in them; those are killed then, and the call has to be
/// repeated.
int clinux_cgroup_remove(void);

/// Returns the number of processors whose time the cgroups around this process allow it, rounded up, the least of
/// all; 0 if none limits it. `own` is /proc/self/cgroup, `mounts` the folder where cgroups are mounted. Costs three
/// calls for that file and one to four for each cgroup around.
int clinux_cpu_quota(const char *own, const char *mounts);

#endif
