/* wordcount [N]: the N (10) most frequent words of standard input. */
#include "table.h"
#include "words.h"

#include <stdlib.h>

int main(int argc, char **argv) {
    size_t limit = argc > 1 ? strtoul(argv[1], NULL, 10) : 10;
    struct table *table = table_create();
    if (!table) return perror("wordcount"), 1;

    char word[WORD_MAX];
    while (words_next(stdin, word) > 0) {
        if (table_add(table, word) == 0) return perror("wordcount"), 1;
    }

    const struct entry *entries = table_sorted(table);
    for (size_t i = 0; i < limit && i < table_size(table); i++) {
        printf("%7zu %s\n", entries[i].count, entries[i].word);
    }
    table_destroy(table);
    return 0;
}
