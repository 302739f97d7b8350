# Firmware with conditions, includes and functions of make.
include config.mk
-include $(wildcard deps/*.d)

TARGET  ?= stm32f4
OPT     := -Os
ifeq ($(DEBUG),1)
OPT     := -Og -g3
DEFS    += -DDEBUG
else
EXTRA   := -flto
endif

define flash_script
openocd -f board/$(1).cfg -c "program $(2) verify reset exit"
endef

SRC := $(wildcard src/*.c)
OBJ := $(SRC:.c=.o)

all: firmware.bin size

firmware.elf: $(OBJ)
	arm-none-eabi-gcc $(OPT) $(EXTRA) -o $@ $^

firmware.bin: firmware.elf
	arm-none-eabi-objcopy -O binary $< $@

size: firmware.elf
	arm-none-eabi-size $<

flash: firmware.bin
	$(call flash_script,$(TARGET),$<)

serial:
	picocom -b 115200 $(or $(PORT),/dev/ttyUSB0)

check-tools:
ifdef CI
	@echo "tools come with the image"
else
	@command -v arm-none-eabi-gcc
	@command -v openocd
endif

clean:
	rm -f firmware.elf firmware.bin \
	      $(OBJ)

.PHONY: all size flash serial check-tools clean
.NOTPARALLEL:
