/* The unit tests: prints what fails, exits 1 if anything did. */
#include "table.h"
#include "words.h"

#include <string.h>

static int failures;

#define EXPECT(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%s:%d: expected %s\n", __FILE__, __LINE__, #condition); \
            failures++; \
        } \
    } while (0)

static void words_are_lower_case_letters(void) {
    char word[WORD_MAX], text[] = "One, TWO;three\n";
    FILE *input = fmemopen(text, strlen(text), "r");
    EXPECT(words_next(input, word) == 3 && strcmp(word, "one") == 0);
    EXPECT(words_next(input, word) == 3 && strcmp(word, "two") == 0);
    EXPECT(words_next(input, word) == 5 && strcmp(word, "three") == 0);
    EXPECT(words_next(input, word) == 0);
    fclose(input);
}

static void long_words_are_cut(void) {
    char word[WORD_MAX], text[200];
    memset(text, 'x', sizeof text);
    FILE *input = fmemopen(text, sizeof text, "r");
    EXPECT(words_next(input, word) == WORD_MAX - 1);
    EXPECT(words_next(input, word) == 0);
    fclose(input);
}

static void a_table_counts_and_sorts(void) {
    struct table *table = table_create();
    EXPECT(table_add(table, "b") == 1);
    EXPECT(table_add(table, "a") == 1);
    EXPECT(table_add(table, "b") == 2);
    EXPECT(table_size(table) == 2);
    const struct entry *entries = table_sorted(table);
    EXPECT(strcmp(entries[0].word, "b") == 0 && entries[0].count == 2);
    EXPECT(strcmp(entries[1].word, "a") == 0 && entries[1].count == 1);
    table_destroy(table);
}

static void a_table_grows(void) {
    struct table *table = table_create();
    char word[16];
    for (int i = 0; i < 10000; i++) {
        snprintf(word, sizeof word, "w%d", i % 5000);
        table_add(table, word);
    }
    EXPECT(table_size(table) == 5000);
    EXPECT(table_add(table, "w4999") == 3);
    table_destroy(table);
}

int main(void) {
    words_are_lower_case_letters();
    long_words_are_cut();
    a_table_counts_and_sorts();
    a_table_grows();
    if (failures == 0) puts("4 tests passed");
    return failures > 0;
}
