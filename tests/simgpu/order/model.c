/* SPDX-License-Identifier: Apache-2.0 */
/* The reference for the order of work (model.h). */
#include "model.h"

void model_after(struct model *model, int operation, int before)
{
    if (before < 0 || before == operation) {
        return;
    }
    model->before[before][operation] = true;
    for (int i = 0; i < model->count; i++) {
        model->before[i][operation] |= model->before[i][before];
    }
}

static int add(struct model *model, int stream, uint8_t reads, uint8_t writes, int log)
{
    int number = model->count++;
    model->operations[number] = (struct model_operation){stream, reads, writes, log};
    for (int i = 0; i < number; i++) {
        if (model->seen[i]) {
            model_after(model, number, i);
        }
    }
    return number;
}

int model_append(struct model *model, int stream, uint8_t reads, uint8_t writes, int log)
{
    int number = add(model, stream, reads, writes, log);
    enum model_stream kind = model->kinds[stream];
    for (int i = 0; i < number; i++) {
        int other = model->operations[i].stream;
        bool waits = other == stream ||
                     (other >= 0 && kind == MODEL_LEGACY &&
                      model->kinds[other] == MODEL_BLOCKING) ||
                     (other >= 0 && kind == MODEL_BLOCKING && model->kinds[other] == MODEL_LEGACY);
        if (waits) {
            model_after(model, number, i);
        }
    }
    return number;
}

int model_node(struct model *model, uint8_t reads, uint8_t writes, int log)
{
    return add(model, -1, reads, writes, log);
}

void model_see(struct model *model, int operation)
{
    for (int i = 0; operation >= 0 && i < model->count; i++) {
        model->seen[i] |= i == operation || model->before[i][operation];
    }
}

/* Asking for the legacy stream asks for all that it waits for. */
void model_see_stream(struct model *model, int stream)
{
    for (int i = 0; i < model->count; i++) {
        int other = model->operations[i].stream;
        if (other == stream || (other >= 0 && model->kinds[stream] == MODEL_LEGACY &&
                                model->kinds[other] == MODEL_BLOCKING)) {
            model_see(model, i);
        }
    }
}

void model_see_all(struct model *model)
{
    for (int i = 0; i < model->count; i++) {
        model->seen[i] = true;
    }
}

bool model_conflicts(const struct model *model)
{
    for (int a = 0; a < model->count; a++) {
        for (int b = a + 1; b < model->count; b++) {
            const struct model_operation *x = &model->operations[a], *y = &model->operations[b];
            bool conflict = (x->writes & (y->reads | y->writes)) != 0 ||
                            (y->writes & x->reads) != 0;
            if (conflict && !model->before[a][b] && !model->before[b][a]) {
                return true;
            }
        }
    }
    return false;
}
