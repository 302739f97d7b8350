// The removal of a folder, for whoever may not allocate.
#ifndef CLINUX_FOLDER_H
#define CLINUX_FOLDER_H

/// Removes a folder with all that is in it. No link is followed, no depth is too much, and permissions that are missing are
/// given first. Nobody else may change anything inside meanwhile. O(entries); needs a few pages of stack and no other
/// memory. Removes what it can; returns 0, or the negative error number of the first failure.
int clinux_remove_folder(const char *path);

/// The same, where it is a folder of this user and nobody's link; otherwise does nothing.
int clinux_remove_own_folder(const char *path);

#endif
