// Removes a folder without allocating memory.
#ifndef CLINUX_FOLDER_H
#define CLINUX_FOLDER_H

/// Removes a folder with everything in it. Follows no link, copes with any depth, and first gives itself the
/// permissions that are missing. No other process may change the folder meanwhile. O(entries); needs a few pages of
/// stack and no other memory. Removes what it can; returns 0, or the negative error number of the first failure.
int clinux_remove_folder(const char *path);

/// Does the same if the path is a folder of this user and no link; otherwise only returns a negative error number.
int clinux_remove_own_folder(const char *path);

#endif
