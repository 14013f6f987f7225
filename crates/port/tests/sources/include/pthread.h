// Stands in for the system's pthread.h, so that programs compile for any target without its headers.
#include "../threads.h"
#include <stddef.h>
