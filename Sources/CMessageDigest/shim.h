// libmd, because it does nothing before it is called: libcrypto asks the processor about itself at every start of the
// program, which a virtual machine makes expensive.
#include <sys/types.h>
#include <sha2.h>
