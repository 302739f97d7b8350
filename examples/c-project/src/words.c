#include "words.h"

#include <ctype.h>

size_t words_next(FILE *input, char word[WORD_MAX]) {
    size_t length = 0;
    int c;
    while ((c = getc(input)) != EOF) {
        if (isalpha(c)) {
            if (length < WORD_MAX - 1) word[length++] = (char)tolower(c);
        } else if (length > 0) {
            break;
        }
    }
    word[length] = '\0';
    return length;
}
