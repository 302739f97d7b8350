// What other processes of the same user cannot see of flowrun.
#ifndef CLINUX_PRIVACY_H
#define CLINUX_PRIVACY_H

/// Hides this process, and what is forked from it, from all others without rights of root: its memory, its descriptors
/// and its environment in /proc, debuggers, core files. From root it hides at least the environment that the process was
/// started with, which goes on in private memory. A program that it becomes is not hidden.
void clinux_hide(void);

/// Lets processes of this user open this process' descriptors by /proc again, and with that read its memory. Its first
/// environment stays hidden.
void clinux_show(void);

#endif
