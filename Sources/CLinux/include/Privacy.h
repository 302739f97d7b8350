// Hides flowrun from other processes of the same user.
#ifndef CLINUX_PRIVACY_H
#define CLINUX_PRIVACY_H

/// Hides this process, and what is forked from it, from all processes without root's rights: its memory, descriptors
/// and environment in /proc; no debugger attaches, and no core is written. From root it hides at least the environment
/// that the process was started with, which moves to private memory. A program that it executes is not hidden.
void clinux_hide(void);

/// Lets processes of this user open this process' descriptors in /proc again, and so read its memory. The environment
/// that it was started with stays hidden.
void clinux_show(void);

#endif
