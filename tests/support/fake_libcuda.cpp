// A CUDA driver whose device is this processor. Kernels are shared libraries: an image is the path of one.
//
// Environment: FAKE_DEVICES, number of devices; FAKE_FREE, bytes of memory; FAKE_LOG, a file that gets the number of
// allocations that were not freed, and the blocks and threads of each launch.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>

typedef unsigned long long Pointer;
static int devices = atoi(getenv("FAKE_DEVICES") ? getenv("FAKE_DEVICES") : "1");
static size_t left = atoll(getenv("FAKE_FREE") ? getenv("FAKE_FREE") : "1000000");
static int allocations = 0;
static FILE *log_file = getenv("FAKE_LOG") ? fopen(getenv("FAKE_LOG"), "w") : nullptr;
static struct Last { ~Last() { if (log_file) fprintf(log_file, "kept %d\n", allocations), fclose(log_file); } } last;

static double now()
{
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

extern "C" {
int cuInit(unsigned) { return devices ? 0 : 100; }
int cuDeviceGetCount(int *count) { *count = devices; return 0; }
int cuDeviceGet(int *device, int) { *device = 0; return 0; }
int cuDevicePrimaryCtxRetain(void **context, int) { *context = &devices; return 0; }
int cuCtxSetCurrent(void *context) { return context == &devices ? 0 : 201; }
int cuCtxSynchronize() { return 0; }
int cuDeviceGetName(char *name, int size, int) { snprintf(name, size, "fake"); return 0; }
int cuDriverGetVersion(int *version) { *version = 12040; return 0; }
int cuDeviceGetAttribute(int *value, int which, int) { *value = which == 75 ? 9 : which == 76 ? 0 : -1; return 0; }
int cuGetErrorName(int code, const char **name) { *name = code == 100 ? "NO_DEVICE" : "FAILED"; return 0; }

int cuModuleLoadDataEx(void **module, const char *image, unsigned count, const int *keys, void **values)
{
  char *log = nullptr, *error = nullptr;
  for (unsigned i = 0; i < count; i++) {
    if (keys[i] == 3) log = (char *)values[i];
    if (keys[i] == 5) error = (char *)values[i];
  }
  *module = dlopen(image, RTLD_NOW | RTLD_LOCAL);
  if (!*module) return strcpy(error, "not for this driver"), 209;
  if (strstr(image, ".ptx")) strcpy(log, "ptxas info : 8 bytes stack frame, 16 bytes spill stores, 24 bytes spill loads");
  return 0;
}
int cuModuleGetFunction(void **function, void *module, const char *)
{
  *function = dlsym(module, "run");
  return *function ? 0 : 500;
}
int cuFuncGetAttribute(int *value, int which, void *) { *value = which == 4 ? 77 : which == 3 ? 8 : -1; return 0; }

int cuMemGetInfo_v2(size_t *free, size_t *total) { *free = *total = left; return 0; }
int cuMemAlloc_v2(Pointer *pointer, size_t size)
{
  if (size > left) return 2;
  size_t *made = (size_t *)malloc(size + 64);
  left -= *made = size;
  allocations++;
  memset(made + 8, 0x5a, size);
  *pointer = (Pointer)(made + 8);
  return 0;
}
int cuMemFree_v2(Pointer pointer)
{
  size_t *made = (size_t *)pointer - 8;
  left += *made;
  allocations--;
  free(made);
  return 0;
}
int cuMemcpyHtoD_v2(Pointer to, const void *from, size_t size) { memcpy((void *)to, from, size); return 0; }
int cuMemcpyDtoH_v2(void *to, Pointer from, size_t size) { memcpy(to, (void *)from, size); return 0; }
int cuMemcpyDtoD_v2(Pointer to, Pointer from, size_t size) { memcpy((void *)to, (void *)from, size); return 0; }

int cuLaunchKernel(void (*run)(void **, long long), unsigned blocks, unsigned, unsigned, unsigned threads, unsigned,
                   unsigned, unsigned, void *, void **arguments, void **)
{
  if (log_file) fprintf(log_file, "launch %u %u\n", blocks, threads);
  run(arguments, (long long)blocks * threads);
  return 0;
}
int cuEventCreate(double **event, unsigned) { *event = new double; return 0; }
int cuEventRecord(double *event, void *) { *event = now(); return 0; }
int cuEventSynchronize(double *) { return 0; }
int cuEventElapsedTime(float *ms, double *start, double *stop) { *ms = 1e3 * (*stop - *start); return 0; }
int cuEventDestroy_v2(double *event) { delete event; return 0; }
}
