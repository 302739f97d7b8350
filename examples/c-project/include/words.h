#ifndef WORDS_H
#define WORDS_H

#include <stdio.h>

/* Longer words are cut. */
enum { WORD_MAX = 64 };

/* Reads the next word, letters only and in lower case, into `word`; returns its length, 0 at the end. */
size_t words_next(FILE *input, char word[WORD_MAX]);

#endif
