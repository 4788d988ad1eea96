/* The plain loop that a C programmer would write for a Gaussian kernel sum; D is given when compiling. */
#include <math.h>

void kernel_sum(const double *x, const double *w, long n, const double *q, long m, double rate, double *out) {
#pragma omp parallel for
    for (long i = 0; i < m; i++) {
        double total = 0;
        for (long j = 0; j < n; j++) {
            double s = 0;
            for (int t = 0; t < D; t++) {
                double z = x[LAYOUT] - q[i * D + t];
                s += z * z;
            }
            total += w[j] * exp(-rate * s);
        }
        out[i] = total;
    }
}
