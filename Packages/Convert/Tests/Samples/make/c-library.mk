# A small C library with its program and tests.
CC ?= gcc
AR = ar
CFLAGS = -O2 -Wall -Wextra -std=c11
CFLAGS += -Iinclude
LDLIBS := -lm
PREFIX ?= /usr/local
BUILD = build

OBJS = $(BUILD)/lex.o $(BUILD)/parse.o $(BUILD)/eval.o
LIB = $(BUILD)/libcalc.a
TESTS := $(patsubst %,$(BUILD)/test_%,lex parse eval)

.PHONY: all check install uninstall clean distclean format lint docs dist bench help

all: $(LIB) $(BUILD)/calc

$(BUILD):
	mkdir -p $@

$(LIB): $(OBJS)
	$(AR) rcs $@ $^

$(BUILD)/calc: $(BUILD)/main.o $(LIB)
	$(CC) $(LDFLAGS) -o $@ $^ $(LDLIBS)

$(BUILD)/%.o: src/%.c include/calc.h | $(BUILD)
	$(CC) $(CPPFLAGS) $(CFLAGS) -c -o $@ $<

$(BUILD)/test_%: tests/test_%.c $(LIB)
	$(CC) $(CFLAGS) -o $@ $< $(LIB) $(LDLIBS)

## Run every test program.
check: $(TESTS)
	@for t in $(TESTS); do echo "== $$t"; ./$$t || exit 1; done

install: all
	install -d '$(DESTDIR)$(PREFIX)/bin' '$(DESTDIR)$(PREFIX)/lib'
	install -m 755 $(BUILD)/calc '$(DESTDIR)$(PREFIX)/bin/calc'
	install -m 644 $(LIB) "$(DESTDIR)$(PREFIX)/lib"

uninstall:
	-$(RM) $(DESTDIR)$(PREFIX)/bin/calc

clean:
	-rm -rf $(BUILD)

distclean: clean
	$(RM) compile_commands.json *.tar.gz

format:
	clang-format -i src/*.c include/*.h tests/*.c

lint:
	clang-tidy src/*.c -- $(CFLAGS)

docs: Doxyfile
	doxygen $<

dist: distclean
	cd .. && tar -czf calc.tar.gz --exclude=.git calc
	@echo "wrote ../calc.tar.gz"

bench: all
	./$(BUILD)/calc --bench < bench/input.txt | tee bench/output.txt

debug: CFLAGS += -g -O0
debug: all
	gdb ./$(BUILD)/calc

help:
	@echo "targets: all check install clean"
