/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays of structures of 12, 16 and 24 bytes, of mixed fields, and a structure of arrays. */
#include "program.cuh"

struct point12 {
    float x, y, z;
};

struct __align__(16) point16
{
    float x, y, z;
    int tag;
};

struct mixed { /* 24 bytes with holes */
    char letter;
    short small;
    int whole;
    double real;
    unsigned char bits[5];
};

struct fields {
    float *x, *y, *z;
};

struct nested {
    point12 corner[2];
    union {
        unsigned word;
        unsigned char byte[4];
    } colour;
};

static __global__ void move12(point12 *points, int count, point12 by)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < count) {
        point12 p = points[i];

        points[i] = {p.x + by.x, p.y + by.y, p.z + by.z};
    }
}

static __global__ void move16(point16 *points, int count, point16 by)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < count) {
        point16 p = points[i];

        points[i] = {p.x + by.x, p.y + by.y, p.z + by.z, p.tag ^ by.tag};
    }
}

static __global__ void move_fields(fields f, int count, point12 by)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < count) {
        f.x[i] += by.x;
        f.y[i] += by.y;
        f.z[i] += by.z;
    }
}

static __host__ __device__ mixed changed(mixed m, int i)
{
    m.letter = (char)(m.letter + 1);
    m.small = (short)(m.small * 3);
    m.whole -= i;
    m.real *= 0.5;
    m.bits[i % 5] ^= 0x5a;
    return m;
}

static __global__ void change_mixed(mixed *all, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < count)
        all[i] = changed(all[i], i);
}

/* A structure by value as parameter, returned by value, an array in it indexed at run time. */
static __host__ __device__ nested turned(const nested &n, int i)
{
    nested t = n;

    t.corner[i % 2].y = n.corner[1 - i % 2].z + (float)n.colour.byte[i % 4];
    t.colour.byte[(i + 1) % 4] = (unsigned char)i;
    return t;
}

static __global__ void turn_nested(nested *all, nested extra, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < count) {
        all[i] = turned(all[i], i);
        all[i].corner[0].x += extra.corner[i % 2].z;
    }
}

static void points(sim_check &check, int count)
{
    sim_random random(20);
    point12 by = {1, -2, 3};
    sim_array<point12> p12(check, count);
    sim_array<point16> p16(check, count);
    sim_array<float> x(check, count), y(check, count), z(check, count);
    std::vector<float> wanted, got12, got16, fx, fy, fz;
    std::vector<int> tags, got_tags;

    for (int i = 0; i < count; i++) {
        p12.host[i] = {random.small(), random.small(), random.small()};
        p16.host[i] = {p12.host[i].x, p12.host[i].y, p12.host[i].z, i};
        x.host[i] = p12.host[i].x;
        y.host[i] = p12.host[i].y;
        z.host[i] = p12.host[i].z;
        fx.push_back(x.host[i] + by.x);
        fy.push_back(y.host[i] + by.y);
        fz.push_back(z.host[i] + by.z);
        wanted.insert(wanted.end(), {fx.back(), fy.back(), fz.back()});
        tags.push_back(i ^ 0x77);
    }
    p12.upload();
    p16.upload();
    x.upload();
    y.upload();
    z.upload();
    move12<<<(count + 63) / 64, 64>>>(p12.device, count, by);
    move16<<<(count + 63) / 64, 64>>>(p16.device, count, {by.x, by.y, by.z, 0x77});
    move_fields<<<(count + 63) / 64, 64>>>({x.device, y.device, z.device}, count, by);
    SIM_LAUNCHED(check);
    p12.download();
    p16.download();
    for (int i = 0; i < count; i++) {
        got12.insert(got12.end(), {p12.host[i].x, p12.host[i].y, p12.host[i].z});
        got16.insert(got16.end(), {p16.host[i].x, p16.host[i].y, p16.host[i].z});
        got_tags.push_back(p16.host[i].tag);
    }
    sim_equal(check, "12 bytes", got12, wanted);
    sim_equal(check, "16 bytes", got16, wanted);
    sim_equal(check, "tags", got_tags, tags);
    sim_equal(check, "x", x, fx);
    sim_equal(check, "y", y, fy);
    sim_equal(check, "z", z, fz);
}

static void structures(sim_check &check, int count)
{
    sim_random random(21);
    sim_array<mixed> all(check, count);
    sim_array<nested> boxes(check, count);
    nested extra = {{{1, 2, 3}, {4, 5, 6}}, {0}};
    std::vector<mixed> old;
    std::vector<nested> old_boxes;

    memset(all.host.data(), 0, all.bytes());
    for (int i = 0; i < count; i++) {
        mixed &m = all.host[i];
        nested &n = boxes.host[i];

        m.letter = (char)random.below(256);
        m.small = (short)random.below(65536);
        m.whole = (int)random.below(1u << 31);
        m.real = random.between(-1e9, 1e9);
        for (auto &bits : m.bits)
            bits = (unsigned char)random.below(256);
        n = {{{random.small(), random.small(), random.small()},
              {random.small(), random.small(), random.small()}},
             {random.below(1u << 31)}};
    }
    old = all.host;
    old_boxes = boxes.host;
    all.upload();
    boxes.upload();
    change_mixed<<<(count + 95) / 96, 96>>>(all.device, count);
    turn_nested<<<(count + 95) / 96, 96>>>(boxes.device, extra, count);
    SIM_LAUNCHED(check);
    all.download();
    boxes.download();
    for (int i = 0; i < count; i++) {
        const mixed &got = all.host[i], wanted = changed(old[i], i);
        nested box = turned(old_boxes[i], i);

        box.corner[0].x += extra.corner[i % 2].z;
        SIM_HOLDS(check, got.letter == wanted.letter && got.small == wanted.small);
        SIM_HOLDS(check, got.whole == wanted.whole && got.real == wanted.real);
        SIM_HOLDS(check, memcmp(got.bits, wanted.bits, sizeof(got.bits)) == 0);
        SIM_HOLDS(check, memcmp(&boxes.host[i], &box, sizeof(box)) == 0);
    }
}

void sim_program_layouts(sim_check &check)
{
    static_assert(sizeof(point12) == 12 && sizeof(point16) == 16 && sizeof(mixed) == 24 &&
                      sizeof(nested) == 28,
                  "the layouts that the name says");
    points(check, 1999);
    structures(check, 1003);
}
