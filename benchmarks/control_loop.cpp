// A loop of fixed period that calls exported functions; times of each, beside an empty function.
// Compile with the header of an export: -include ROBOT.h -DROBOT=ROBOT. Arguments: ticks, period [ns], 1 to lock memory.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <sys/mman.h>
#include <vector>

#define JOIN_(a, b) a##_##b
#define JOIN(a, b) JOIN_(a, b)
#define OF(name) JOIN(ROBOT, name)

static double now()
{
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e6 + t.tv_nsec * 1e-3;
}

__attribute__((noinline)) static void empty(const double *, const double *, const double *, double *) { asm volatile(""); }

int main(int argc, char **argv)
{
  const int ticks = argc > 1 ? std::atoi(argv[1]) : 1000;
  const long period = argc > 2 ? std::atol(argv[2]) : 1000000;
  if (argc > 3) mlockall(MCL_CURRENT | MCL_FUTURE);  // without the right to it the loop goes on as it is
  const double dt = 1e-9 * period;
  double q[OF(nq)], q_next[OF(nq)], v[OF(nv)], tau[OF(nv)], ddq[OF(nv)];
  const char *names[] = {"empty", "rnea", "aba", "step"};
  std::vector<double> times[4];
  for (auto &t : times) t.reserve(ticks);
  double open = 0.0, apart = 0.0;
  OF(neutral)(q);
  timespec next;
  clock_gettime(CLOCK_MONOTONIC, &next);
  for (int k = 0; k < ticks; ++k) {
    next.tv_nsec += period;
    while (next.tv_nsec >= 1000000000) next.tv_nsec -= 1000000000, ++next.tv_sec;
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, nullptr);
    // there and back: joints of loops stay on their branch
    for (int i = 0; i < OF(nv); ++i) v[i] = (k / 50 % 2 ? -0.1 : 0.1) * (1 + i % 3), tau[i] = 0.1 * (i % 5) - 0.2;
    double t[5] = {now()};
    empty(q, v, tau, ddq);
    t[1] = now();
    OF(aba)(q, v, tau, ddq);
    t[2] = now();
    OF(rnea)(q, v, ddq, ddq);
    t[3] = now();
    open = std::max(open, OF(step)(q, v, dt, q_next));
    t[4] = now();
    for (int i = 0; i < OF(nv); ++i) apart = std::max(apart, std::abs(ddq[i] - tau[i]));
    std::copy(q_next, q_next + OF(nq), q);
    times[0].push_back(t[1] - t[0]), times[2].push_back(t[2] - t[1]);
    times[1].push_back(t[3] - t[2]), times[3].push_back(t[4] - t[3]);
  }
  std::printf("{\"ticks\": %d, \"open\": %.3e, \"apart\": %.3e, \"q\": [", ticks, open, apart);
  for (int i = 0; i < OF(nq); ++i) std::printf("%s%.17g", i ? ", " : "", q[i]);
  std::printf("]");
  for (int k = 0; k < 4; ++k) {
    auto &t = times[k];
    std::sort(t.begin(), t.end());
    const size_t n = t.size();
    std::printf(", \"%s\": {\"least\": %.3f, \"median\": %.3f, \"p99\": %.3f, \"worst\": %.3f}", names[k], t[0], t[n / 2],
                t[std::min(n - 1, n * 99 / 100)], t[n - 1]);
  }
  std::printf("}\n");
}
