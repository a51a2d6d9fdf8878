/* A plugin of qemu: prints the number of instructions that a program ran, at its end. scripts/instructions builds it.
 * These are the declarations of qemu's plugin interface that it uses; the version is that of the qemu it is built for. */
#include <stdio.h>
#include <stdint.h>

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
enum { QEMU_PLUGIN_CB_NO_REGS };
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t, void (*)(qemu_plugin_id_t, struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *, void (*)(unsigned, void *), int, void *);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t, void (*)(qemu_plugin_id_t, void *), void *);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);

__attribute__((visibility("default"))) int qemu_plugin_version = INTERFACE;

static uint64_t instructions;

static void executed(unsigned cpu, void *block_length)
{
    (void)cpu;
    __atomic_fetch_add(&instructions, (uintptr_t)block_length, __ATOMIC_RELAXED);
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *block)
{
    (void)id;
    uintptr_t length = qemu_plugin_tb_n_insns(block);
    qemu_plugin_register_vcpu_tb_exec_cb(block, executed, QEMU_PLUGIN_CB_NO_REGS, (void *)length);
}

static void ended(qemu_plugin_id_t id, void *none)
{
    (void)id;
    (void)none;
    fprintf(stderr, "instructions: %llu\n", (unsigned long long)instructions);
}

__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int count, char **values)
{
    (void)info;
    (void)count;
    (void)values;
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, ended, NULL);
    return 0;
}
