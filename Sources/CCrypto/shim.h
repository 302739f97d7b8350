// The plain SHA-256 calls: no allocation, nothing set up at the start. The newer EVP interface reaches the same code
// through loadable providers, which a static program cannot load.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>
