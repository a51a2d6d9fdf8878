/* Solves the system that `qiyou-engine bench-rules --system FILE` writes, with libm4ri: what our solver is compared with.
   Not part of any build: scripts/bench-rules compiles it where libm4ri-dev is installed. */
#include <m4ri/m4ri.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

int main(int argc, char **argv) {
    FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    if (!file || (length = getline(&line, &room, file)) < 2) {
        fprintf(stderr, "usage: m4ri FILE\n");
        return 2;
    }
    int columns = (int)length - 1;
    mzd_t *system = mzd_init(columns - 1, columns);
    for (int row = 0; row < columns - 1 && length > 1; row++) {
        for (int column = 0; column < columns; column++)
            mzd_write_bit(system, row, column, line[column] == '1');
        length = getline(&line, &room, file);
    }
    double least = 1e9, least_pluq = 1e9;
    rci_t rank = 0;
    for (int n = 0; n < 20; n++) {
        mzd_t *copy = mzd_copy(NULL, system);
        double begin = now();
        rank = mzd_echelonize_m4ri(copy, 1, 0);
        double took = now() - begin;
        least = took < least ? took : least;
        mzd_free(copy);
        copy = mzd_copy(NULL, system);
        begin = now();
        rank = mzd_echelonize_pluq(copy, 1);
        took = now() - begin;
        least_pluq = took < least_pluq ? took : least_pluq;
        mzd_free(copy);
    }
    printf("libm4ri: rank %d in %.3f ms (m4ri), %.3f ms (pluq)\n", rank, least, least_pluq);
    return 0;
}
