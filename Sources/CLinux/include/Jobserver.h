// The client of a jobserver of make(1) ("POSIX Jobserver Interaction" in the manual of GNU make): each token that is
// read allows one process more than the one that the client may always have, and is written back once that has ended.
#ifndef CLINUX_JOBSERVER_H
#define CLINUX_JOBSERVER_H

enum clinux_jobserver {
    CLINUX_NO_JOBSERVER,
    CLINUX_JOBSERVER,
    CLINUX_CLOSED_JOBSERVER, // MAKEFLAGS names one that this process has not got
};

/// The most tokens that are held at once.
enum { CLINUX_MOST_TOKENS = 4096 };

/// Opens the jobserver that MAKEFLAGS names. Called before this process opens anything, whose number could be that of a
/// descriptor of the jobserver, and before the guard is made.
void clinux_find_jobserver(void);

enum clinux_jobserver clinux_jobserver(void);

/// Returns the descriptor that is readable while there may be a token.
int clinux_jobserver_reading(void);

/// Takes a token, without waiting. Returns 1, or 0 if there is none now.
int clinux_take_token(void);

/// Writes the last token back, without waiting. Returns 1, or 0 if there is no room for it now.
int clinux_give_token(void);

/// Returns the number of tokens that are held.
unsigned clinux_token_count(void);

/// Lets the guard and the sentinel know the tokens that are held, by a block of `clinux_tokens_size` bytes, all zero,
/// that they share; NULL: they are not to know. What is left when the run has ended, `clinux_return_tokens` writes
/// back.
unsigned clinux_tokens_size(void);
void clinux_share_tokens(void *memory);
void clinux_return_tokens(void);

/// Makes a copy of the writing descriptor under another number, which is then used; for a process that closes all
/// others.
void clinux_move_jobserver(int number);

#endif
