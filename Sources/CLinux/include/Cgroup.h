// Places of cgroup v2 for the processes of commands, and what the kernel counts of them.
#ifndef CLINUX_CGROUP_H
#define CLINUX_CGROUP_H

#include <stdint.h>

/// A leaf is a folder `flowrun-NAME-NUMBER` in this process' own cgroup, without controllers. The processes of one command
/// at a time are in it, and their children wherever they go. Leaves are made as commands need them; the guard removes all
/// of them at the end, and kills what is in them; the runner does where the guard has died.

/// Opens the leaf with this number, which is made if it is not there. Returns a descriptor for its folder,
/// close-on-exec, or a negative error number: there is no cgroup v2, it is not ours to divide, or there is no guard.
int clinux_open_leaf(int number);

/// Removes an empty leaf. Returns 0, or a negative error number.
int clinux_remove_leaf(int number);

/// Whether any process is in a leaf or below it, zombies not counted, by its `cgroup.events`. -1 with errno if it cannot
/// be told.
int clinux_is_populated(int events);

/// Kills what is in the leaves of another run that has divided the same cgroup, and removes them; `name` as below.
void clinux_remove_leaves(uint64_t name);

/// How many processes of the machine, or of this process' own memory cgroup where it has one, the kernel has killed for
/// memory since the guard has begun to count, two milliseconds after the start; -1 if that is not known.
int64_t clinux_oom_kills(void);

/// The same for one leaf, since it was made; -1 where the leaf has no memory controller.
int64_t clinux_oom_kills_in(int leaf);

// MARK: For the guard

struct clinux_cgroup;

/// How much memory the guard and its runner share for this.
unsigned long clinux_cgroup_size(void);

/// Says where that memory is, before the fork, and what the leaves are called.
void clinux_cgroup_share(struct clinux_cgroup *memory, uint64_t name);

/// Makes the first leaf, so that it is there when the runner has read its files.
void clinux_cgroup_prepare(void);

/// Begins to count kills for memory.
void clinux_cgroup_count(void);

/// Removes all leaves. Returns 0, or 1 where some have processes in them; those are killed then, and it is to be asked
/// again.
int clinux_cgroup_remove(void);

#endif
