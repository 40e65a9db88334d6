/* tests/cuda/standin/order.h - in which order a device may do what was asked of it, and when it would do it.
 *
 * Streams go on independently of each other; only events and the host order them. Each work has a number in its
 * stream, and each stream knows of every other up to which number its work is over (a vector clock). Two works that
 * touch the same memory, one of which writes it, must be ordered so: what is not ends the process, with a line that
 * says which works these are. This does not depend on the order in which the stand-in happens to do them.
 *
 * The same walk has a simulated time. Kernels take the device in turn, and so do copies each direction of the
 * bus: what is ready first goes first. */
#ifndef EIN_STANDIN_ORDER_H
#define EIN_STANDIN_ORDER_H

#include <stddef.h>
#include <stdint.h>

enum { ORDER_STREAMS = 64, ORDER_GRAIN = 32 }; /* memory is looked at by so many bytes */
typedef struct OrderClock { uint32_t of[ORDER_STREAMS]; double time; } OrderClock;

/* Who touched a grain of memory last. */
typedef struct OrderMark { uint32_t stored, stream, *read; } OrderMark;

/* Of a piece of the device's memory. */
typedef struct OrderMemory { OrderMark *mark; } OrderMemory;

typedef enum { ENGINE_NONE, ENGINE_KERNEL, ENGINE_UP, ENGINE_DOWN, ENGINES } OrderEngine;

/* The simulated time is measured in microseconds. kernel: of one; bus: bytes in each direction. */
void order_rates(double kernel, double bus);
/* A work of that stream begins: it knows what `after` does. */
void order_begin(int stream, const OrderClock *after, const char *what);
/* It takes the engine for some bytes, or for that many kernels. */
void order_takes(int stream, OrderEngine engine, double amount);
void order_touch_device(OrderMark *mark, const char *base, const char *at, size_t bytes, int store);
void order_touch_host(const char *at, size_t bytes, int store);
/* Whether all that touched the host's memory is known to be over. */
int order_host_idle(const char *at, size_t bytes);

void order_record(int stream, OrderClock *out);          /* what is over when the stream has come here */
void order_wait(int stream, const OrderClock *event);
void order_host_now(OrderClock *out);                    /* what the host knows */
void order_host_waits(int stream);
void order_host_learns(const OrderClock *event);        /* that what is before it is over */
void order_report(char *out, size_t room);               /* "clock: ..."; empty if there are no rates */

#endif
