// yaml_floor FILE: reads a file into memory and lets libyaml say all its events, which are thrown away: what reading
// YAML costs before anybody keeps a node. Prints the number of events; exit 1 if the file is not YAML.
#include <stdio.h>
#include <stdlib.h>
#include <yaml.h>

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: yaml_floor FILE\n");
        return 64;
    }
    FILE *file = fopen(argv[1], "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
        perror(argv[1]);
        return 2;
    }
    long size = ftell(file);
    rewind(file);
    unsigned char *text = malloc(size > 0 ? size : 1);
    if (text == NULL || fread(text, 1, size, file) != (size_t)size) {
        perror(argv[1]);
        return 2;
    }
    fclose(file);

    yaml_parser_t parser;
    if (!yaml_parser_initialize(&parser)) return 125;
    yaml_parser_set_input_string(&parser, text, size);
    long events = 0;
    for (yaml_event_type_t type = YAML_NO_EVENT; type != YAML_STREAM_END_EVENT;) {
        yaml_event_t event;
        if (!yaml_parser_parse(&parser, &event)) {
            fprintf(stderr, "%s:%zu: %s\n", argv[1], parser.problem_mark.line + 1, parser.problem);
            return 1;
        }
        type = event.type;
        yaml_event_delete(&event);
        events += 1;
    }
    yaml_parser_delete(&parser);
    free(text);
    printf("%ld events\n", events);
    return 0;
}
