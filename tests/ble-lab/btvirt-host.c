/* Preloaded into btvirt, so that BlueZ's controller emulator runs beside anything else on this machine.
 *
 * Its socket has a fixed name in /tmp; here it lands in $BLE_LAB_DIR, so that two labs do not meet.
 *
 * It refuses to serve where the kernel has no AF_ALG (containers, many CI machines), although the emulated controller
 * needs AES for LE encryption alone, which the game never asks for: its own Noise records protect it. Any other socket
 * that opens and binds will do.
 *
 * Controllers of Bluetooth 5 it makes only for the kernel, through /dev/vhci: each gets a datagram socket instead, the n-th one
 * connected to $BLE_LAB_DIR/vhci-n. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

int socket(int domain, int type, int protocol)
{
	int (*real)(int, int, int) = dlsym(RTLD_NEXT, "socket");
	if (domain == AF_ALG)
		return real(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	return real(domain, type, protocol);
}

int bind(int fd, const struct sockaddr *address, socklen_t length)
{
	int (*real)(int, const struct sockaddr *, socklen_t) = dlsym(RTLD_NEXT, "bind");
	if (address && address->sa_family == AF_ALG)
		return 0;
	const struct sockaddr_un *local = (const struct sockaddr_un *)address;
	const char *directory = getenv("BLE_LAB_DIR");
	if (address && address->sa_family == AF_UNIX && directory && !strncmp(local->sun_path, "/tmp/", 5)) {
		struct sockaddr_un moved = { .sun_family = AF_UNIX };
		snprintf(moved.sun_path, sizeof moved.sun_path, "%s/%s", directory, local->sun_path + 5);
		return real(fd, (struct sockaddr *)&moved, sizeof moved);
	}
	return real(fd, address, length);
}

static int controller(const char *directory)
{
	static int count;
	struct sockaddr_un own = { .sun_family = AF_UNIX }, lab = { .sun_family = AF_UNIX };
	int (*real)(int, const struct sockaddr *, socklen_t) = dlsym(RTLD_NEXT, "bind");
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	snprintf(own.sun_path, sizeof own.sun_path, "%s/vhci-%d-btvirt", directory, count);
	snprintf(lab.sun_path, sizeof lab.sun_path, "%s/vhci-%d", directory, count++);
	if (fd < 0 || real(fd, (struct sockaddr *)&own, sizeof own) || connect(fd, (struct sockaddr *)&lab, sizeof lab))
		return -1;
	return fd;
}

int open(const char *path, int flags, ...)
{
	int (*real)(const char *, int, ...) = dlsym(RTLD_NEXT, "open");
	const char *directory = getenv("BLE_LAB_DIR");
	va_list more;
	va_start(more, flags);
	int mode = flags & O_CREAT ? va_arg(more, int) : 0;
	va_end(more);
	if (directory && !strcmp(path, "/dev/vhci"))
		return controller(directory);
	return real(path, flags, mode);
}
