/* SPDX-License-Identifier: Apache-2.0 */
/* The lock between work, which may go on at several places at once, and freeing what it may use. */
#include <pthread.h>

#include "simgpu/driver/driver.h"

/* Writers first: a program that keeps all its threads copying must still be able to free. */
static pthread_rwlock_t work_lock = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;

void sim_work_begin(void)
{
    pthread_rwlock_rdlock(&work_lock);
}

void sim_work_end(void)
{
    pthread_rwlock_unlock(&work_lock);
}

void sim_work_stop(void)
{
    pthread_rwlock_wrlock(&work_lock);
}

void sim_work_resume(void)
{
    pthread_rwlock_unlock(&work_lock);
}
