// Threads that tell each other by way of the kernel that data is ready: pipes, sockets, eventfds, epoll, signals.
// Nothing to report, exit code 0.
#define _GNU_SOURCE
#include "check.h"
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

enum { ROUNDS = 200 };

static int data, to[2], from[2];

static void *by_pipe(void *argument) {
    (void)argument;
    char byte;
    for (int i = 0; i < ROUNDS; i++) {
        CHECK(read(to[0], &byte, 1) == 1);
        CHECK(data == i);
        data = -i;
        CHECK(write(from[1], "b", 1) == 1);
    }
    CHECK(read(to[0], &byte, 1) == 0); // closed
    CHECK(data == 1000);
    return NULL;
}

static void pipes(void) {
    CHECK(pipe(to) == 0 && pipe(from) == 0);
    pthread_t thread;
    pthread_create(&thread, NULL, by_pipe, NULL);
    char byte;
    struct iovec part = {&byte, 1};
    for (int i = 0; i < ROUNDS; i++) {
        data = i;
        CHECK(writev(to[1], &part, 1) == 1);
        struct pollfd ready = {.fd = from[0], .events = POLLIN};
        if (i % 2) CHECK(poll(&ready, 1, -1) == 1);
        if (i % 2) CHECK(data == -i);
        CHECK(readv(from[0], &part, 1) == 1);
        CHECK(data == -i);
    }
    data = 1000;
    CHECK(close(to[1]) == 0);
    pthread_join(thread, NULL);
}

static int sockets[2], event, poller;

static void *by_socket(void *argument) {
    (void)argument;
    char byte;
    for (int i = 0; i < ROUNDS; i++) {
        CHECK(recv(sockets[1], &byte, 1, 0) == 1);
        CHECK(data == i);
        data = i + 1;
        CHECK(eventfd_write(event, 1) == 0);
    }
    return NULL;
}

static void sockets_and_events(void) {
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0);
    event = eventfd(0, 0);
    poller = epoll_create1(0);
    struct epoll_event interest = {.events = EPOLLIN}, got;
    CHECK(epoll_ctl(poller, EPOLL_CTL_ADD, event, &interest) == 0);
    data = 0;
    pthread_t thread;
    pthread_create(&thread, NULL, by_socket, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        CHECK(send(sockets[0], "s", 1, 0) == 1);
        CHECK(epoll_wait(poller, &got, 1, -1) == 1);
        CHECK(data == i + 1);
        eventfd_t count;
        CHECK(eventfd_read(event, &count) == 0 && count == 1);
    }
    pthread_join(thread, NULL);
}

static void *by_signal(void *argument) {
    sigset_t *set = argument;
    int signal;
    CHECK(sigwait(set, &signal) == 0 && signal == SIGUSR2);
    CHECK(data == 77);
    return NULL;
}

static void signals(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    pthread_t thread;
    pthread_create(&thread, NULL, by_signal, &set);
    data = 77;
    CHECK(pthread_kill(thread, SIGUSR2) == 0);
    pthread_join(thread, NULL);
}

static void *reads_forever(void *argument) {
    char byte;
    for (;;) {
        if (read(*(int *)argument, &byte, 1) != 1) return NULL;
    }
}

// A thread that is cancelled in the middle of a call unwinds through the function that stands in front of it.
static void cancelled(void) {
    int ends[2];
    CHECK(pipe(ends) == 0);
    pthread_t thread;
    void *result;
    pthread_create(&thread, NULL, reads_forever, &ends[0]);
    usleep(1000);
    CHECK(pthread_cancel(thread) == 0 && pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
}

static void errors(void) {
    char byte;
    errno = 0;
    CHECK(read(-1, &byte, 1) == -1 && errno == EBADF);
    errno = 0;
    CHECK(close(-1) == -1 && errno == EBADF);
    struct pollfd nothing = {.fd = -1};
    CHECK(poll(&nothing, 1, 0) == 0);
}

int main(void) {
    pipes();
    sockets_and_events();
    signals();
    cancelled();
    errors();
    puts("messages: ok");
    return 0;
}
