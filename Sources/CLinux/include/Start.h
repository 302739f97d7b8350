// Work before main: the guard, and settings that keep a start short.
#ifndef CLINUX_START_H
#define CLINUX_START_H

/// Returns the words of the command line, the program's name first, and their number; NULL and 0 if constructors do
/// not get them.
char *const *clinux_arguments(int *count);

/// Returns 1 if a command line probably runs a workflow, which only its own parser can tell for certain. A wrong
/// answer costs time and nothing else: a run without a guard gets one in main, and the guard of another command ends
/// as that ends.
int clinux_seems_to_run(int count, char *const *words);

#endif
