// What happens before main: the guard, and what keeps a start short.
#ifndef CLINUX_START_H
#define CLINUX_START_H

/// The words of the command line, the program's name first, and how many; NULL and 0 where constructors are not told.
char *const *clinux_arguments(int *count);

/// Whether a command line is probably one that runs a workflow, which only its own parser can tell. A wrong answer costs
/// time and nothing else: a run without a guard gets one in main, and the guard of another command ends as that ends.
int clinux_seems_to_run(int count, char *const *words);

#endif
